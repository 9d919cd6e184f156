internal import NIOCore

/// The reason that a proxy made no tunnel.
struct ProxyTunnelError: Error, CustomStringConvertible {
  let description: String
}

/// Asks the proxy at the other end of a channel for a tunnel, and leaves the pipeline when there is one.
final class ProxyTunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private enum State {
    /// The channel is not active yet.
    case connecting(request: ByteBuffer)
    /// The request was sent; the reply so far.
    case asked(ProxyReply)
    /// There is a tunnel, or there will be none.
    case over
  }

  private var state: State
  private let promise: EventLoopPromise<Void>
  private var timer: Scheduled<Void>?

  private init(_ request: ByteBuffer, _ promise: EventLoopPromise<Void>) {
    state = .connecting(request: request)
    self.promise = promise
  }

  /// On the channel's event loop. If there is no tunnel within `timeout`, the channel is closed.
  static func open(
    _ proxy: ConnectProxy, to host: String, port: UInt16, on channel: any Channel, timeout: TimeAmount
  ) -> EventLoopFuture<any Channel> {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    let handler = ProxyTunnelHandler(proxy.request(host, port), promise)
    do {
      try channel.pipeline.syncOperations.addHandler(handler)
      let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
      handler.timer = channel.eventLoop.scheduleTask(in: timeout) {
        bound.value.fail(ProxyTunnelError(description: "the proxy did not reply in time"))
      }
    } catch {
      promise.fail(error)
    }
    return promise.futureResult.map { channel }.flatMapErrorThrowing { error in
      channel.close(promise: nil)
      throw error
    }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { ask(context) }
  }

  // Also after `handlerAdded` on an active channel: the future of a connection is kept before this event.
  func channelActive(context: ChannelHandlerContext) {
    ask(context)
    context.fireChannelActive()
  }

  private func ask(_ context: ChannelHandlerContext) {
    guard case .connecting(let request) = state else { return }
    state = .asked(ProxyReply())
    context.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .asked(var reply) = state else { return }
    switch reply.append(unwrapInboundIn(data).readableBytesView) {
    case .incomplete: state = .asked(reply)
    case .refused(let reason): fail(ProxyTunnelError(description: reason))
    case .connected:
      end()
      context.pipeline.syncOperations.removeHandler(self, promise: promise)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(ProxyTunnelError(description: "the proxy closed the connection"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

  private func fail(_ error: any Error) {
    if case .over = state { return }
    end()
    promise.fail(error)
  }

  private func end() {
    state = .over
    timer?.cancel()
  }
}
