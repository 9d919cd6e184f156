internal import HTTPWire
internal import NIOCore

/// Passes the bytes of a tunnel, and closes a WebSocket that the gateway ends (RFC 6455, 7): the client gets a Close
/// frame after the application's current frame. A tunnel that is not a WebSocket, or that does not answer the Close
/// frame, lasts until the deadline.
final class Tunnel {
  /// The progress of the tunnel's end.
  private enum Phase {
    case open
    /// The Close frame is sent as soon as the current frame of the application ends.
    case ending(CloseStatus)
    /// The Close frame was sent: no bytes of the application may follow.
    case closeSent
  }

  /// The frames of application and client; nil if the tunnel is not a WebSocket.
  private var frames: (application: FrameFollower, client: FrameFollower)?
  private var phase = Phase.open
  /// Whether the client has ended its side of an HTTP/1.1 connection; an HTTP/2 stream keeps that itself.
  var inputHasEnded = false

  /// The time the application has after the client has ended its side: enough for its Close frame.
  static let halfClosedWait = TimeAmount.seconds(5)

  init(isWebSocket: Bool) { frames = isWebSocket ? (FrameFollower(), FrameFollower()) : nil }

  /// Whether the gateway has sent its Close frame, or the application's was the last to pass.
  var hasSentClose: Bool { if case .closeSent = phase { true } else { false } }

  /// When its session ended: nothing passes from the client to the application from then on.
  private(set) var forbidden: NIODeadline?

  /// Whether the client has closed the WebSocket: what it still waits for is the application's Close frame.
  var clientHasClosed: Bool { frames?.client.hasClosed ?? false }

  /// Follows the client's frames.
  func follow(_ content: ByteBuffer) { frames?.client.follow(content.readableBytesSpan) }

  /// Whether data frames have come from the client since this was last asked.
  func takeActivity() -> Bool { frames?.client.takeDataFrames() ?? false }

  /// Returns the part of the application's bytes that is sent to the client; nil if none is.
  func carry(_ content: ByteBuffer) -> ByteBuffer? {
    switch phase {
    case .open:
      frames?.application.follow(content.readableBytesSpan)
      return content
    case .ending(let status):
      guard let count = frames?.application.followToBoundary(content.readableBytesSpan) else { return content }
      var content = content
      return close(status, after: content.readSlice(length: count) ?? ByteBuffer())
    case .closeSent: return nil
    }
  }

  /// Ends the tunnel.
  /// - Returns: the bytes to send now; nil if the Close frame has to wait, or has been sent.
  func end(_ status: CloseStatus) -> ByteBuffer? {
    guard !hasSentClose else { return nil }
    phase = .ending(status)
    guard frames?.application.isAtBoundary == true else { return nil }
    return close(status, after: ByteBuffer())
  }

  /// Ends the tunnel because its session has ended.
  func forbid(at now: NIODeadline) -> ByteBuffer? {
    forbidden = now
    return end(.policyViolation)
  }

  private func close(_ status: CloseStatus, after frame: ByteBuffer) -> ByteBuffer {
    phase = .closeSent
    var bytes = frame
    // One Close frame is enough: the application's may have passed already.
    if frames?.application.hasClosed == false { bytes.writeBytes(status.frame) }
    return bytes
  }
}
