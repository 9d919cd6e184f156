internal import HTTPWire
internal import NIOCore

/// Tunnels: bytes that pass both ways as they come.
extension DownstreamTransport {
  /// The exchange has become a tunnel, and its client knows.
  func openTunnel() {
    // One that was under way when the listener began to drain.
    if server.isDraining { endTunnel() }
    guard let tunnel = exchange.request.tunnel, let waiting = exchange.upstream.takeWaiting() else { return }
    tunnel.follow(waiting)
    exchange.upstream.connection?.send(waiting)
    exchange.upstream.connection?.flushRequest()
    consumeAll()
  }

  /// Carries bytes of the client.
  func receive(_ content: ByteBuffer, in tunnel: Tunnel) {
    let count = content.readableBytes
    guard tunnel.forbidden == nil, let connection = exchange.upstream.connection else { return consume(count) }
    tunnel.follow(content)
    connection.send(content)
    flushUpstreamAfterRead()
    if connection.isWritable { consume(count) }
  }

  /// Carries bytes of the upstream.
  func carry(_ content: ByteBuffer, in tunnel: Tunnel) {
    guard let passing = tunnel.carry(content) else { return }
    deliver(passing, in: tunnel)
    if tunnel.hasSentClose, tunnel.forbidden != nil { closeForbidden() }
  }

  private func deliver(_ content: ByteBuffer, in tunnel: Tunnel) {
    if content.readableBytes > 0 {
      exchange.info.sentBytes += content.readableBytes
      sendContent(content)
    }
    if tunnel.hasSentClose { flushResponse() }
  }

  /// The gateway ends: a WebSocket gets a Close frame, anything else ends by itself.
  func endTunnel() {
    guard let tunnel = exchange.request.tunnel, let frame = tunnel.end(.goingAway) else { return }
    deliver(frame, in: tunnel)
  }

  /// The client has ended its side. A WebSocket that it has closed gets the upstream's Close frame; otherwise the
  /// upstream's side is ended in turn.
  func endInput(of tunnel: Tunnel) {
    guard let connection = exchange.upstream.connection else { return }
    connection.flushRequest()
    if !tunnel.clientHasClosed { connection.endInput() }
    awaitTunnelEnd(at: .now())
  }

  /// Bounds the time of a tunnel whose client has ended its side and has taken what waits for it.
  func awaitTunnelEnd(at now: NIODeadline) {
    guard let tunnel = exchange.request.tunnel, tunnel.inputHasEnded, exchange.upstream.connection != nil, pace == nil
    else { return }
    loop.wheel.arm(self, after: Tunnel.halfClosedWait, now: now)
  }

  /// The session has ended, or may not have this tunnel any longer. If the client cannot be informed yet, the next
  /// review is the limit.
  private func forbid(_ tunnel: Tunnel, at now: NIODeadline) {
    guard tunnel.forbidden == nil else { return }
    exchange.aborted()
    if let frame = tunnel.forbid(at: now) { deliver(frame, in: tunnel) }
    if tunnel.hasSentClose { closeForbidden() }
  }

  /// The client is informed: the upstream's connection ends, and the client has a moment to answer.
  private func closeForbidden() {
    leaveUpstream()
    closeTunnel(clientMaySend: true)
  }

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
    // Nothing is known to judge it by.
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
  /// The record of the exchange. Mutating, so that its transport need not copy it to ask.
  mutating func record(of peer: ClientPeer, at now: NIODeadline) -> ExchangeRecord {
    ExchangeRecord(
      status: status, routeClass: info.routeClass, duration: now - info.began,
      upstreamDuration: info.upstreamDuration, receivedBytes: info.receivedBytes, sentBytes: info.sentBytes,
      session: info.session, user: info.user, failure: info.failure, version: info.version,
      request: info.requestLine, client: (info.client ?? peer).address, requestID: info.requestID,
      upstreamAddress: info.wantsUpstreamAddress
        ? upstream.balancer?.pools[upstream.attempts.address].endpoint.text : nil)
  }
}
