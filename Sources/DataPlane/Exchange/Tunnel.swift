internal import HTTPWire
internal import NIOCore

/// The bytes of a tunnel, and how a WebSocket ends in order when the gateway ends it (RFC 6455 7): the client is told
/// with a Close frame, where the application's frame under way ends. What is no WebSocket, or does not answer, lasts
/// until the deadline.
final class Tunnel {
  /// The progress of the tunnel's end.
  private enum Phase {
    case open
    /// The client is told as soon as a frame of the application ends.
    case ending(CloseStatus)
    /// The client has been told: nothing of the application may follow.
    case told
  }

  /// The frames of application and client; nil where it is no WebSocket that is spoken.
  private var frames: (application: FrameFollower, client: FrameFollower)?
  private var phase = Phase.open
  /// Whether the client has ended its side of an HTTP/1.1 connection; a stream of HTTP/2 knows that of itself.
  var inputHasEnded = false

  /// The time the application has after the client has ended its side: enough for its Close frame.
  static let halfClosedWait = TimeAmount.seconds(5)

  init(isWebSocket: Bool) { frames = isWebSocket ? (FrameFollower(), FrameFollower()) : nil }

  /// Whether the client has been told that it ends.
  var hasTold: Bool { if case .told = phase { true } else { false } }

  /// When its session ended: nothing passes from the client to the application from then on.
  private(set) var forbidden: NIODeadline?

  /// Whether the client has closed the WebSocket: what it still waits for is the application's Close frame.
  var clientHasClosed: Bool { frames?.client.hasClosed ?? false }

  /// Follows what the client says.
  func follow(_ content: ByteBuffer) { frames?.client.follow(content.readableBytesSpan) }

  /// Whether data frames have come from the client since this was last asked.
  func takeActivity() -> Bool { frames?.client.takeDataFrames() ?? false }

  /// Returns the part of the application's bytes that goes on to the client; nil if none does.
  func carry(_ content: ByteBuffer) -> ByteBuffer? {
    switch phase {
    case .open:
      frames?.application.follow(content.readableBytesSpan)
      return content
    case .ending(let status):
      guard let count = frames?.application.followToBoundary(content.readableBytesSpan) else { return content }
      var content = content
      return tell(status, behind: content.readSlice(length: count) ?? ByteBuffer())
    case .told: return nil
    }
  }

  /// The gateway ends it.
  /// - Returns: what the client is told now; nil where that has to wait, or there is nothing to be told.
  func end(_ status: CloseStatus) -> ByteBuffer? {
    guard !hasTold else { return nil }
    phase = .ending(status)
    guard frames?.application.isAtBoundary == true else { return nil }
    return tell(status, behind: ByteBuffer())
  }

  /// The gateway ends it because its session has ended.
  func forbid(at now: NIODeadline) -> ByteBuffer? {
    forbidden = now
    return end(.policyViolation)
  }

  private func tell(_ status: CloseStatus, behind frame: ByteBuffer) -> ByteBuffer {
    phase = .told
    var told = frame
    // A client that the application has told need not be told again.
    if frames?.application.hasClosed == false { told.writeBytes(status.frame) }
    return told
  }
}
