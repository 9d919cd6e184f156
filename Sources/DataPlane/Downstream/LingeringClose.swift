internal import NIOCore

/// Closes a connection without losing its last response (RFC 9112, 9.6): waits until everything is sent, ends the
/// output (over TLS with close_notify), and discards what the client still sends. Closing with unread bytes would reset
/// the connection, and the response with it. A stream of HTTP/2 that was answered before its request was whole waits
/// for the client's end in the same way.
struct LingeringClose {
  /// When the connection is closed although the client goes on sending.
  private var deadline: NIODeadline

  /// Time that the client has to close, or to send more, after our end and after each read.
  static let quietTime = TimeAmount.seconds(2)
  /// Longest time for which a client may go on sending: some read the response only after the whole of a large upload.
  static let longestTime = TimeAmount.seconds(30)

  /// - Parameter now: the time of our end.
  init(endedAt now: NIODeadline) { deadline = now + Self.longestTime }

  /// Calls `body` once everything that was written has left, unless the channel fails before.
  static func whenSent(_ context: ChannelHandlerContext, _ body: @escaping () -> Void) {
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(body, eventLoop: context.eventLoop)
    sent.futureResult.whenSuccess { bound.value() }
    context.writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
  }

  /// Ends the output, and bounds the wait for the client's end by the timer of `connection`.
  @discardableResult
  static func endOutput(
    _ context: ChannelHandlerContext, of connection: TimedHandler, _ wheel: TimerWheel
  ) -> LingeringClose {
    let now = NIODeadline.now()
    wheel.arm(connection, after: quietTime, now: now)
    context.close(mode: .output, promise: nil)
    return LingeringClose(endedAt: now)
  }

  /// Has the connection closed soon, whatever the client sends: the process is to end.
  mutating func hasten(_ connection: TimedHandler, _ wheel: TimerWheel, now: NIODeadline) {
    deadline = min(deadline, now + Self.quietTime)
    received(by: connection, wheel, now: now)
  }

  /// Waits for more after bytes were received, which are discarded.
  func received(by connection: TimedHandler, _ wheel: TimerWheel, now: NIODeadline) {
    // After the deadline the timer must not be armed again: each read would postpone it by one tick.
    guard now < deadline else { return }
    wheel.arm(connection, after: min(Self.quietTime, deadline - now), now: now)
  }
}
