internal import HTTPWire
internal import NIOCore

/// Bytes both ways over HTTP/1.1.
extension HTTP1ServerConnection {
  /// To be called before the head of the response is written.
  func beginTunnel(isWebSocket: Bool) {
    request = .tunnel
    tunnel = Tunnel(isWebSocket: isWebSocket)
    server.observer.tunnelOpened()
    server.loop.wheel.disarm(self)
  }

  /// The client has ended its side. A WebSocket that it has closed gets the application's Close frame; otherwise the
  /// application is told in turn.
  func endTunnelInput() {
    guard let tunnel, let upstream else { return closeNow() }
    tunnel.inputHasEnded = true
    upstream.flushRequest()
    if !tunnel.clientHasClosed { upstream.endInput() }
    awaitTunnelEnd()
  }

  /// Bounds how long a tunnel stays of which the client has ended its side.
  func awaitTunnelEnd() {
    guard tunnel?.inputHasEnded == true else { return }
    server.loop.wheel.arm(self, after: Tunnel.halfClosedWait, now: .now())
  }

  /// Carries what the client says.
  func tunnelInput(_ content: ByteBuffer) {
    guard let tunnel, tunnel.forbidden == nil else { return }
    tunnel.follow(content)
    upstream?.send(content)
  }

  /// Carries what the application says.
  func tunnelContent(_ content: ByteBuffer) {
    guard let tunnel, let passing = tunnel.carry(content) else { return }
    tell(passing)
    if tunnel.hasTold, tunnel.forbidden != nil { closeForbiddenTunnel() }
  }

  /// The gateway ends.
  func leaveTunnel() {
    if let told = tunnel?.end(.goingAway) { tell(told) }
  }

  /// The session has ended, or may not have this tunnel any more. Where the client cannot be told yet, the next review
  /// is the limit.
  func forbidTunnel(at now: NIODeadline) {
    guard let tunnel, tunnel.forbidden == nil else { return }
    if exchange.failure == nil { exchange.failure = .cutOff }
    if let told = tunnel.forbid(at: now) { tell(told) }
    if tunnel.hasTold { closeForbiddenTunnel() }
  }

  /// The client has been told: the application's connection ends, and the client has a moment to answer.
  private func closeForbiddenTunnel() {
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    closeBehindResponse(clientMaySend: true)
  }

  private func tell(_ content: ByteBuffer) {
    if content.readableBytes > 0 {
      exchange.sentBytes += content.readableBytes
      passOn(content)
    }
    if tunnel?.hasTold == true { flushResponse() }
  }
}
