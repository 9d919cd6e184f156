internal import HTTPWire
internal import NIOCore
internal import TLSTransport

/// Chooses between HTTP/1.1 and HTTP/2, then installs that connection and removes itself: over TLS by the negotiated
/// protocol (ALPN, RFC 7301), in cleartext by the first bytes (RFC 9113, 3.3 and 3.4).
///
/// Not used by listeners that offer HTTP/1.1 alone.
final class ALPNHandler: TimedHandler, ChannelInboundHandler, RemovableChannelHandler, PreliminaryConnection {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  let server: ServerContext
  var peer: ClientPeer
  private let protocols: [HTTPProtocol]
  private(set) var context: ChannelHandlerContext?
  private var received = ByteBuffer()
  private var isDone = false
  /// The memory counted for a handshake.
  var holding: IncompleteRequestBudget.Holding?

  init(server: ServerContext, peer: ClientPeer, protocols: [HTTPProtocol]) {
    self.server = server
    self.peer = peer
    self.protocols = protocols
  }

  // MARK: Channel events

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    server.opened(self)
    server.loop.wheel.arm(self, after: server.firstWait, now: .now())
    if server.isTLS { hold(IncompleteRequestBudget.handshake) }
    if server.isDraining { drain() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    connectionEnded()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    connectionEnded()
    context.fireChannelInactive()
  }

  private func connectionEnded() {
    isDone = true
    releaseHolding()
    server.loop.wheel.remove(self)
    server.ended(self)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard let negotiated = event as? TLSHandshakeCompleted, !isDone else {
      if case .inputClosed? = event as? ChannelEvent, !isDone { context.close(promise: nil) }
      return context.fireUserInboundEventTriggered(event)
    }
    // A client without ALPN speaks HTTP/1.1.
    choose(negotiated.negotiatedProtocol == HTTPProtocol.http2.rawValue ? .http2 : .http1, context, event: event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isDone else { return context.fireChannelRead(data) }
    var buffer = unwrapInboundIn(data)
    received.writeBuffer(&buffer)
    // No HTTP/1.1 request shares the beginning of the preface: there is no method of that name.
    let preface = Self.preface.prefix(received.readableBytes)
    guard received.readableBytesView.prefix(Self.preface.count).elementsEqual(preface) else {
      return choose(.http1, context)
    }
    if preface.count == Self.preface.count { choose(.http2, context) }
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n".utf8)

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? TLSError, error != .uncleanShutdown, !isDone {
      server.observer.handshakeFailed(HandshakeFailure(error), of: peer.address)
    }
    context.close(promise: nil)
  }

  override func timedOut() {
    if server.isTLS { server.observer.handshakeFailed(.timedOut, of: peer.address) }
    context?.close(promise: nil)
  }

  // MARK: Protocol selection

  private func choose(_ choice: HTTPProtocol, _ context: ChannelHandlerContext, event: Any? = nil) {
    isDone = true
    guard protocols.contains(choice) else { return context.close(promise: nil) }
    let handler: any ChannelHandler =
      switch choice {
      case .http1: HTTP1ServerConnection(server: server, peer: peer)
      case .http2: HTTP2ServerConnection(server: server, peer: peer)
      }
    let pipeline = context.pipeline.syncOperations
    do {
      try pipeline.addHandler(handler, position: .after(self))
    } catch {
      return context.close(promise: nil)
    }
    if let event { context.fireUserInboundEventTriggered(event) }
    if received.readableBytes > 0 {
      context.fireChannelRead(wrapInboundOut(received))
      received = ByteBuffer()
    }
    pipeline.removeHandler(self, promise: nil)
  }

  // MARK: Shutdown

  func drain() {
    let grace = server.isTLS ? ServerContext.handshakeGrace : ServerContext.idleGrace
    server.loop.wheel.arm(self, after: grace, now: .now())
  }
}
