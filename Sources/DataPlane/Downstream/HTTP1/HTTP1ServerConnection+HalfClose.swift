internal import HTTPWire
internal import NIOCore

/// The end of what the client sends (see ``ClientInput``).
extension HTTP1ServerConnection {
  /// Whether the client has sent nothing behind the request under way, and cannot any more.
  var isLastRequest: Bool { input.hasEnded && pending?.readableBytes ?? 0 == 0 }

  /// Handles FIN, or close_notify over TLS.
  func inputClosed() {
    guard !input.hasEnded else { return }
    let isHalfClose = input.end(at: .now(), headRead: exchange.began)
    switch request {
    case .idle where isLastRequest: closeBehindResponse(clientMaySend: false)
    // Requests that wait for room in the channel are read when there is some.
    case .idle: if canTakeResponse { readRequests() }
    case .content: refuseTruncatedBody()
    case .deciding, .complete: if isHalfClose { awaitHalfClosedClient() } else { closeNow() }
    case .tunnel: endTunnelInput()
    // What is still unsent closes the connection when it is out.
    case .lingering: if hasSentAll { closeNow() }
    case .closed: break
    }
  }

  /// Goes on where requests were read and no more bytes can come.
  func readToEnd() {
    switch request {
    case .idle: if isLastRequest { closeBehindResponse(clientMaySend: false) }
    case .content: refuseTruncatedBody()
    case .deciding, .complete: awaitHalfClosedClient()
    case .tunnel, .lingering, .closed: break
    }
  }

  /// An incomplete body is never taken for a whole one: the upstream connection is closed within it.
  private func refuseTruncatedBody() {
    if exchange.responseBegan, exchange.failure == nil { exchange.failure = .clientLeft }
    refuse(400, "the connection ended within the request body")
  }

  /// Bounds the wait for the response to a client that may have left.
  private func awaitHalfClosedClient() {
    guard exchange.keepAlive, !exchange.responseBegan else { return }
    server.loop.wheel.arm(self, after: ClientInput.patience, now: .now())
  }
}
