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
  func forbid(_ tunnel: Tunnel, at now: NIODeadline) {
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
}
