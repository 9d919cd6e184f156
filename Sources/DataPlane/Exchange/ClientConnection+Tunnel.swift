internal import HTTPWire
internal import NIOCore

/// What goes to the client through a tunnel, and how a WebSocket ends in order when the gateway does (RFC 6455 7): the
/// client is told with a Close frame, where the application's frame under way ends; the client's answer goes on to the
/// application, which sees a client that leaves, and closes. What is no WebSocket, or does not answer, lasts until the
/// deadline.
struct Tunnel {
  /// The application's frames; nil where it is no WebSocket that is spoken.
  private var frames: FrameFollower?
  /// Whether it is to end as soon as a frame of the application ends.
  private var isToEnd = false
  /// Whether the client has been told that it ends: nothing of the application may follow.
  private(set) var hasTold = false

  init(isWebSocket: Bool = false) { frames = isWebSocket ? FrameFollower() : nil }

  /// What goes on to the client of what the application says; nil: nothing.
  mutating func carry(_ content: ByteBuffer) -> ByteBuffer? {
    guard !hasTold else { return nil }
    guard isToEnd else {
      frames?.follow(content.readableBytesSpan)
      return content
    }
    guard let count = frames?.followToBoundary(content.readableBytesSpan) else { return content }
    var content = content
    return tellEnd(behind: content.readSlice(length: count) ?? ByteBuffer())
  }

  /// The gateway ends.
  /// - Returns: what the client is told now; nil where that has to wait, or there is nothing to be told.
  mutating func end() -> ByteBuffer? {
    isToEnd = true
    guard frames?.isAtBoundary == true, !hasTold else { return nil }
    return tellEnd(behind: ByteBuffer())
  }

  private mutating func tellEnd(behind frame: ByteBuffer) -> ByteBuffer {
    hasTold = true
    var told = frame
    // Whoever has been told by the application need not be told again.
    if frames?.hasClosed == false { told.writeBytes(FrameFollower.goingAway) }
    return told
  }
}

/// Bytes both ways over HTTP/1.1.
extension ClientConnection {
  /// To be called before the head of the response is written.
  func beginTunnel(isWebSocket: Bool) {
    request = .tunnel
    tunnel = Tunnel(isWebSocket: isWebSocket)
    server.observer.tunnelOpened()
    server.loop.wheel.disarm(self)
  }

  /// Carries what the application says.
  func tunnelContent(_ content: ByteBuffer) {
    guard let passing = tunnel.carry(content) else { return }
    tell(passing)
  }

  /// The gateway ends.
  func endTunnel() {
    guard let told = tunnel.end() else { return }
    tell(told)
  }

  private func tell(_ content: ByteBuffer) {
    if content.readableBytes > 0 {
      exchange.sentBytes += content.readableBytes
      passOn(content)
    }
    if tunnel.hasTold { flushResponse() }
  }
}
