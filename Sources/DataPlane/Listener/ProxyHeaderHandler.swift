internal import HTTPWire
internal import NIOCore

/// Waits for the PROXY header that a listed peer has to send before anything else, then makes room for what follows.
///
/// A connection without one, or with a malformed one, is closed without a word, and so is one that takes longer than the
/// time for a handshake.
final class ProxyHeaderHandler: TimedHandler, ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let entrance: Entrance
  private var context: ChannelHandlerContext?
  private var received = ByteBuffer()
  private var isDone = false

  init(entrance: Entrance) { self.entrance = entrance }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    entrance.context.loop.wheel.arm(self, after: entrance.context.waits.handshake, now: .now())
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    entrance.context.loop.wheel.remove(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    guard !isDone else { return }
    received.writeBuffer(&buffer)
    let bytes = received
    switch ProxyHeader.read(bytes.readableBytesSpan) {
    case .incomplete: return
    case .malformed: end(context)
    case .complete(let header):
      received.moveReaderIndex(forwardBy: header.byteCount)
      guard !entrance.context.isDraining else { return end(context) }
      open(header, context)
    }
  }

  private func open(_ header: ProxyHeader, _ context: ChannelHandlerContext) {
    isDone = true
    do {
      try entrance.open(context.channel, for: entrance.peer(header.source, of: context.channel))
    } catch {
      return end(context)
    }
    if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
    received = ByteBuffer()
    context.pipeline.syncOperations.removeHandler(self, promise: nil)
  }

  private func end(_ context: ChannelHandlerContext) {
    isDone = true
    context.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context) }

  override func timedOut() { context?.close(promise: nil) }
}
