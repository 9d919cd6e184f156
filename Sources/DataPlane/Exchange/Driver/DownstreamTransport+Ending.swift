internal import HTTPWire
internal import NIOCore

/// The end of an exchange: the review that may end it, the client that leaves, and the record for the observer.
extension DownstreamTransport {
  // MARK: Sessions that end

  /// Ends an exchange that may not continue: a WebSocket is informed, a request without a response is refused, and a
  /// response that has begun is aborted.
  func end(for ending: ExchangeEnding, at now: NIODeadline) {
    if let tunnel = exchange.request.tunnel { return forbid(tunnel, at: now) }
    // Its session may be found to have ended more than once while the rest of its body is read.
    guard exchange.info.ending == nil else { return }
    exchange.info.ending = ending
    refuse(for: ending)
  }

  /// Ends the exchange if the gate no longer permits it. The caller has checked that it is reviewable.
  func reviewExchange(at now: NIODeadline) {
    if let forbidden = exchange.request.tunnel?.forbidden {
      if now - forbidden >= Exchange.reviewAge { abortExchange(.byGateway) }
    } else if now - exchange.info.began >= Exchange.reviewAge, let ending = review() {
      end(for: ending, at: now)
    }
  }

  private func review() -> ExchangeEnding? {
    let (sent, balancer, addsSlash) = (exchange.upstream.head, exchange.upstream.balancer, exchange.upstream.addsSlash)
    let destination = exchange.upstream.destination
    let review = exchange.prepareReview(
      from: peer,
      sent.flatMap {
        SentHead.reviewedHead(
          $0, balancer.map { server.rewriting(for: $0) }, addsSlash: addsSlash, destination: destination,
          &loop.requestHead)
      })
    // Nothing is known to authorize it by.
    guard let review else { return .unverifiable }
    if exchange.hasResponse { exchange.upstream.returnHead(to: loop) }
    return server.gate.review(&review.exchange)
  }

  // MARK: The end

  /// The client has gone.
  /// - Parameter isSent: whether all of the response was sent.
  func clientLeft(isSent: Bool, at now: NIODeadline) {
    leaveUpstream()
    exchange.upstream.content = .none
    if exchange.isUnderWay {
      exchange.clientLeft(isSent: isSent)
      endExchange(at: now)
    } else {
      exchange.upstream.returnHead(to: loop)
    }
  }

  /// The exchange is over: the observer gets its record.
  func endExchange(at now: NIODeadline) {
    exchange.end()
    server.exchangeEnded(exchange.record(of: peer, at: now))
    exchange.upstream.returnHead(to: loop)
  }
}

extension Exchange {
  /// The progress of the body of a forwarded request; nil without a body.
  var bodyProgress: ClientPreferences.BodyProgress? {
    switch request {
    case .body: .partial
    case .complete: info.receivedBytes > 0 ? .whole : nil
    case .idle, .deciding, .collecting, .handling, .switching, .tunnel, .unread: nil
    }
  }

  /// The record of the exchange. Mutating, so that its transport need not copy it to ask.
  mutating func record(of peer: ClientPeer, at now: NIODeadline) -> ExchangeRecord {
    ExchangeRecord(
      status: status, label: info.label, duration: now - info.began,
      upstreamDuration: info.upstreamDuration, receivedBytes: info.receivedBytes, sentBytes: info.sentBytes,
      session: info.session, user: info.user, failure: info.failure, version: info.version,
      request: info.requestLine, client: (info.client ?? peer).address, requestID: info.requestID,
      upstreamAddress: info.wantsUpstreamAddress
        ? upstream.balancer?.pools[upstream.attempts.address].endpoint.text : nil)
  }
}
