internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Sets up accepted connections, and pauses accepting while no descriptor is left for another one; clients wait in the
/// backlog of the socket. Otherwise a failing accept would leave the listening socket readable, and the event loop
/// would spin.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  private let acceptor: ConnectionAcceptor
  private let descriptors: DescriptorBudget
  private let use: DescriptorBudget.Use
  private var phase = Phase.open
  /// SwiftNIO's own handler of accepted connections.
  private var bootstrap: ChannelHandlerContext?

  private enum Phase {
    case open
    /// Nothing is accepted until the pause is over. `isDue`: a read was asked for meanwhile.
    case paused(isDue: Bool)
    /// An accept failed: the channel does not read until the pause is over.
    case failed
    case stopped
  }

  private static let pause = TimeAmount.milliseconds(100)

  init(_ acceptor: ConnectionAcceptor) {
    self.acceptor = acceptor
    descriptors = acceptor.context.loop.descriptors
    use = acceptor.use
  }

  /// Stops accepting for good.
  static func stop(_ channel: any Channel) -> EventLoopFuture<Void> {
    channel.pipeline.handler(type: AcceptGate.self).map { $0.phase = .stopped }
      .flatMap { channel.setOption(.autoRead, value: false) }
  }

  /// Sets up a connection of this loop at once. The bootstrap's handler would make a chain of futures for it; it only
  /// gets connections of other loops.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let accepted = unwrapInboundIn(data)
    if bootstrap == nil { bootstrap = try? context.pipeline.syncOperations.context(name: "AcceptHandler") }
    guard let bootstrap, accepted.eventLoop === context.eventLoop else { return context.fireChannelRead(data) }
    do {
      try acceptor.receive(accepted)
      // The channel registers the connection with the loop.
      bootstrap.fireChannelRead(data)
    } catch {
      accepted.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { bootstrap = nil }

  func read(context: ChannelHandlerContext) {
    switch phase {
    case .paused: phase = .paused(isDue: true)
    case .failed, .stopped: break
    case .open:
      if descriptors.room(for: use) > 0 {
        context.read()
      } else {
        descriptors.ranOut()
        phase = .paused(isDue: true)
        resumeLater(context)
      }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) {
      descriptors.ranOut()
      // The limit has changed, or other code has opened more descriptors than the reserve.
      if error.errnoCode == EMFILE { descriptors.measure(sockets: 0) }
      switch phase {
      case .open, .paused:
        phase = .failed
        // The read that failed is still pending, and SwiftNIO would repeat it at once, again and again.
        context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
        resumeLater(context)
      case .failed, .stopped: break
      }
    }
    context.fireErrorCaught(error)
  }

  private func resumeLater(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pause) { bound.value.0.resume(bound.value.1) }
  }

  private func resume(_ context: ChannelHandlerContext) {
    switch phase {
    case .open, .stopped: break
    case .paused(let isDue):
      phase = .open
      if isDue, context.channel.isActive { read(context: context) }
    case .failed:
      // What others had open then, they may have closed.
      descriptors.measure(sockets: 0)
      guard descriptors.room(for: use) > 0 else { return resumeLater(context) }
      phase = .open
      // Reads at once.
      if context.channel.isActive { context.channel.setOption(.autoRead, value: true).whenComplete { _ in } }
    }
  }
}
