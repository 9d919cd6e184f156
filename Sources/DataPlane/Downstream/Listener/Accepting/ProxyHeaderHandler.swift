internal import HTTPWire
internal import NIOCore

/// Reads the PROXY header that a listed peer must send first, then installs TLS and HTTP and removes itself.
///
/// A connection whose header is missing, malformed, or slower than the time-out for a handshake is closed without a
/// response, and reported: a load balancer that sends no header would otherwise be an outage without a trace.
final class ProxyHeaderHandler: TimedHandler, ChannelInboundHandler, RemovableChannelHandler, PreliminaryConnection {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let acceptor: ConnectionAcceptor
  /// The sender of the header.
  var peer: ClientPeer
  private(set) var context: ChannelHandlerContext?
  private var received = ByteBuffer()
  private var isDone = false
  /// The memory that an incomplete header holds.
  var holding: IncompleteRequestBudget.Holding?

  init(acceptor: ConnectionAcceptor, peer: ClientPeer) {
    self.acceptor = acceptor
    self.peer = peer
  }

  var server: ServerContext { acceptor.server }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    server.opened(self)
    server.loop.wheel.arm(self, after: server.configuration.waits.handshake, now: .now())
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    connectionEnded()
  }

  func channelInactive(context: ChannelHandlerContext) {
    connectionEnded()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    // The header can no longer be completed. Load balancers test a port by connections on which they send nothing.
    if case .inputClosed? = event as? ChannelEvent, !isDone {
      if received.readableBytes > 0 { acceptor.proxyHeaderMissing(peer.address) }
      return end(context)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func connectionEnded() {
    releaseHolding()
    server.loop.wheel.remove(self)
    server.ended(self)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    guard !isDone else { return }
    received.writeBuffer(&buffer)
    let bytes = received
    switch ProxyHeader.read(bytes.readableBytesSpan) {
    case .incomplete: hold(received.storageCapacity)
    case .malformed:
      acceptor.proxyHeaderMissing(peer.address)
      end(context)
    case .complete(let header):
      received.moveReaderIndex(forwardBy: header.byteCount)
      open(header, context)
    }
  }

  private func open(_ header: ProxyHeader, _ context: ChannelHandlerContext) {
    isDone = true
    do {
      try acceptor.open(context.channel, for: acceptor.peer(header.source, of: context.channel))
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

  override func timedOut() {
    // A shutdown ends the connections that have not begun as well.
    if !isDone, !server.isDraining { acceptor.proxyHeaderMissing(peer.address) }
    isDone = true
    context?.close(promise: nil)
  }

  // MARK: Shutdown

  func drain() { server.loop.wheel.arm(self, after: ServerContext.idleGrace, now: .now()) }
}
