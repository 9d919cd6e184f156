internal import NIOCore

/// Closes a connection without losing its last response (RFC 9112, 9.6): waits until everything is sent, ends the
/// output (over TLS with close_notify), and discards what the client still sends. Closing with unread bytes would reset
/// the connection, and the response with it.
struct LingeringClose {
  private var remaining: Int

  /// Time that the client has to close after our end.
  static let time = TimeAmount.seconds(2)

  /// - Parameter byteLimit: bytes that are discarded before the connection is closed all the same.
  init(byteLimit: Int) { remaining = byteLimit }

  /// Calls `body` once everything that was written has left, unless the channel fails before.
  static func whenSent(_ context: ChannelHandlerContext, _ body: @escaping () -> Void) {
    let sent = context.eventLoop.makePromise(of: Void.self)
    let bound = NIOLoopBound(body, eventLoop: context.eventLoop)
    sent.futureResult.whenSuccess { bound.value() }
    context.writeAndFlush(NIOAny(ByteBuffer()), promise: sent)
  }

  /// Ends the output, and bounds the wait for the client's end by the timer of `connection`.
  static func endOutput(_ context: ChannelHandlerContext, of connection: TimedHandler, _ wheel: TimerWheel) {
    wheel.arm(connection, after: time, now: .now())
    context.close(mode: .output, promise: nil)
  }

  /// Counts received bytes.
  /// - Returns: whether the client has sent too many: the connection is to be closed.
  mutating func discard(_ count: Int) -> Bool {
    remaining -= count
    return remaining < 0
  }
}
