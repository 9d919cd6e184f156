internal import HTTPWire
internal import NIOCore

/// The end of the client's input (see ``ClientInput``).
extension HTTP1ServerConnection {
  /// Whether the client has sent nothing after the request under way, and cannot any longer.
  var isLastRequest: Bool { input.hasEnded && pending?.readableBytes ?? 0 == 0 }

  /// Handles FIN, or close_notify over TLS.
  func inputClosed() {
    guard !input.hasEnded else { return }
    let isHalfClose = input.end(at: .now(), headRead: exchange.info.began)
    switch phase {
    case .open: endInput(isHalfClose: isHalfClose)
    // Unsent bytes close the connection when they are out.
    case .finishing, .lingering: if hasSentAll { close() }
    case .closed: break
    }
  }

  private func endInput(isHalfClose: Bool) {
    switch exchange.request {
    case .idle where isLastRequest: closeAfterResponse(clientMaySend: false)
    // Requests that wait for room in the channel are read when there is some.
    case .idle: if canTakeResponse { readRequests() }
    case .collecting, .body, .unread: refuseTruncatedBody()
    case .deciding, .handling, .complete, .switching: if isHalfClose { awaitHalfClosedClient() } else { close() }
    case .tunnel: receiveEnd(trailers: [])
    }
  }

  /// Continues after requests were read, when no more bytes can come.
  func readToEnd() {
    guard isOpen else { return }
    switch exchange.request {
    case .idle: if isLastRequest { closeAfterResponse(clientMaySend: false) }
    case .collecting, .body, .unread: refuseTruncatedBody()
    case .deciding, .handling, .complete, .switching: awaitHalfClosedClient()
    case .tunnel: break
    }
  }

  /// An incomplete body is never taken for a whole one: the upstream connection is closed within it.
  private func refuseTruncatedBody() {
    exchange.bodyTruncated()
    refuse(.bodyTruncated)
  }

  /// Bounds the wait for the response to a client that may have left.
  private func awaitHalfClosedClient() {
    guard framing.keepsAlive, !exchange.hasResponse else { return }
    loop.wheel.arm(self, after: ClientInput.responseWait, now: .now())
  }

  /// Whether a response is awaited for a client that has ended its side.
  var isAwaitingHalfClosedClient: Bool { input.hasEnded && (exchange.request.isWhole || exchange.request.isDeciding) }

  /// The response had to begin by now.
  func giveUpHalfClosedClient() { if !exchange.hasResponse { close() } }
}
