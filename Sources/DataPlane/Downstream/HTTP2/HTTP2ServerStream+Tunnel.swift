internal import HTTPWire
internal import NIOCore

/// Bytes both ways over one stream (RFC 8441). END_STREAM is what FIN is to TCP (RFC 9113 8.5): it ends one direction.
extension HTTP2ServerStream {
  /// How long the client may keep its side when ours has ended.
  private static let lingering = TimeAmount.seconds(2)

  /// The application has switched: the client is told 200 (RFC 8441 5), and what it sent ahead goes on.
  func beginTunnel() {
    phase = .tunnel
    server.observer.tunnelOpened()
    server.loop.wheel.disarm(self)
    // Nothing else may be asked for in this way (RFC 8441).
    tunnel = Tunnel(isWebSocket: true)
    connection.session.respond(&server.loop.fields, on: stream, isWhole: false)
    connection.session.becameTunnel(stream)
    // One that was under way when the end began.
    if server.isDraining { leave() }
    if let waiting = exchange.waitingContent {
      exchange.waitingContent = nil
      tunnel?.follow(waiting)
      upstream?.send(waiting)
      upstream?.flushRequest()
      takeAll()
    }
  }

  /// Carries what the client says.
  func tunnelInput(_ content: ByteBuffer) {
    guard let upstream, let tunnel, tunnel.forbidden == nil else {
      return connection.session.take(content.readableBytes, on: stream)
    }
    tunnel.follow(content)
    upstream.send(content)
    connection.proceedBehindReading(self)
    if upstream.isWritable { connection.session.take(content.readableBytes, on: stream) }
  }

  /// Carries what the application says.
  func tunnelContent(_ content: ByteBuffer) {
    guard let tunnel, let passing = tunnel.carry(content) else { return }
    send(passing)
    if tunnel.hasTold, tunnel.forbidden != nil { closeTunnel() }
  }

  /// The connection is to end: a WebSocket is told. What else is under way ends by itself.
  func leave() {
    guard phase == .tunnel, let told = tunnel?.end(.goingAway) else { return }
    send(told)
    connection.flushSoon()
  }

  /// The client has ended its side. A WebSocket that it has closed gets the application's Close frame; otherwise the
  /// application is told in turn.
  func endTunnelInput() {
    guard let upstream, let tunnel else { return }
    upstream.flushRequest()
    if !tunnel.clientHasClosed { upstream.endInput() }
    awaitTunnelEnd(connection.now)
  }

  /// The session has ended, or may not have this tunnel any more.
  func forbidTunnel(at now: NIODeadline) {
    guard let tunnel, tunnel.forbidden == nil else { return }
    if exchange.failure == nil { exchange.failure = .cutOff }
    if let told = tunnel.forbid(at: now) { send(told) }
    if tunnel.hasTold { closeTunnel() }
  }

  /// Ends our side of the tunnel, and the application's connection with it.
  func closeTunnel() {
    let upstream = upstream
    self.upstream = nil
    upstream?.abandon()
    connection.session.end(stream, trailers: [])
    connection.flushSoon()
    awaitTunnelEnd(.now())
  }

  /// Bounds how long a tunnel stays of which one side has ended, once the client has taken what waits for it.
  func awaitTunnelEnd(_ now: NIODeadline) {
    guard phase == .tunnel, stream.queuedBytes == 0 else { return }
    if upstream == nil {
      server.loop.wheel.arm(self, after: Self.lingering, now: now)
    } else if stream.isEndReceived {
      server.loop.wheel.arm(self, after: Tunnel.halfClosedWait, now: now)
    }
  }
}
