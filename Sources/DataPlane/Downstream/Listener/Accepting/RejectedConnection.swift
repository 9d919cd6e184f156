internal import NIOCore

/// A connection that is not served: one beyond the limit, or one with plain HTTP on a TLS port. Sends the response at
/// once, and closes when the client has closed, or after two seconds. Received bytes are discarded: closing with unread
/// bytes would reset the connection, and lose the response (RFC 9112, 9.6).
final class RejectedConnection: TimedHandler, ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let response: ByteBuffer
  private let wheel: TimerWheel
  private let onEnd: () -> Void
  private var context: ChannelHandlerContext?
  private var hasAnswered = false

  /// - Parameter onEnd: called when the connection has ended.
  init(response: ByteBuffer, wheel: TimerWheel, onEnd: @escaping () -> Void = {}) {
    self.response = response
    self.wheel = wheel
    self.onEnd = onEnd
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if context.channel.isActive { answer(context) }
  }

  func channelActive(context: ChannelHandlerContext) { answer(context) }

  private func answer(_ context: ChannelHandlerContext) {
    guard !hasAnswered else { return }
    hasAnswered = true
    context.writeAndFlush(wrapOutboundOut(response), promise: nil)
    LingeringClose.endOutput(context, of: self, wheel)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  override func timedOut() { context?.close(promise: nil) }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    wheel.remove(self)
    onEnd()
  }
}

extension ServerContext {
  /// Counts and logs a connection that is not served as a request with this status.
  func recordRejection(status: Int, sentBytes: Int, client: String, _ requestID: RequestIDSource.Identifier) {
    observer.exchangeBegan()
    observer.exchangeEnded(
      ExchangeRecord(
        status: status, label: .undecided, duration: .zero, upstreamDuration: .zero, receivedBytes: 0,
        sentBytes: sentBytes, session: nil, request: nil, client: client, requestID: requestID))
  }

  /// The bytes of the only response on a connection that is not served.
  func rejection(_ response: ControlResponse, _ requestID: RequestIDSource.Identifier) -> ByteBuffer {
    var response = response
    configuration.rules.responseHeaders.add(to: &response)
    var bytes = ByteBuffer()
    ControlResponseForwarding.write(
      response, withoutBody: false, connection: .close, requestID: requestID, date: loop.date.bytes(), to: &bytes)
    return bytes
  }
}
