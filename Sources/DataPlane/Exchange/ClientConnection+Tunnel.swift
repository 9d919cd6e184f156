internal import HTTPWire
internal import NIOCore

/// What a connection knows of the tunnel that it has become.
struct Tunnel {
  /// The application's frames; nil where it is no WebSocket that is spoken.
  var frames: FrameFollower?
  /// Whether it is to end as soon as a frame of the application ends.
  var isToEnd = false
  /// Whether the client has been told that it ends: nothing of the application may follow.
  var hasTold = false
}

/// Bytes both ways, and how that ends when the gateway does.
extension ClientConnection {
  /// To be called before the head of the response is written.
  func beginTunnel(isWebSocket: Bool) {
    request = .tunnel
    tunnel = Tunnel(frames: isWebSocket ? FrameFollower() : nil)
    server.observer.tunnelOpened()
    server.loop.wheel.disarm(self)
  }

  /// Carries what the application says.
  func tunnelContent(_ content: ByteBuffer) {
    guard !tunnel.hasTold else { return }
    var content = content
    if tunnel.isToEnd, let count = tunnel.frames?.followToBoundary(content.readableBytesSpan) {
      if let frame = content.readSlice(length: count) { carry(frame) }
      return tellEnd()
    } else if !tunnel.isToEnd {
      tunnel.frames?.follow(content.readableBytesSpan)
    }
    carry(content)
  }

  /// Ends a WebSocket in order (RFC 6455 7): the client is told with a Close frame, where the application's frame under
  /// way ends; the client's answer goes on to the application, which sees a client that leaves, and closes. What is no
  /// WebSocket, or does not answer, lasts until the deadline.
  func endTunnel() {
    tunnel.isToEnd = true
    guard let frames = tunnel.frames, !tunnel.hasTold, frames.isAtBoundary else { return }
    tellEnd()
  }

  private func tellEnd() {
    guard let frames = tunnel.frames else { return }
    tunnel.hasTold = true
    // Whoever has been told by the application need not be told again.
    if !frames.hasClosed { carry(ByteBuffer(bytes: FrameFollower.goingAway)) }
    flushResponse()
  }

  private func carry(_ content: ByteBuffer) {
    exchange.sentBytes += content.readableBytes
    passOn(content)
  }
}
