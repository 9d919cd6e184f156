internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Pauses accepting while no descriptor is left for another connection; clients wait in the backlog of the socket.
/// Otherwise a failing accept would leave the listening socket readable, and the event loop would spin.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias OutboundIn = any Channel

  private let descriptors: DescriptorBudget
  private let use: DescriptorBudget.Use
  private var phase = Phase.open

  private enum Phase {
    case open
    /// Nothing is accepted until the pause is over. `isDue`: a read was asked for meanwhile.
    case paused(isDue: Bool)
  }

  private static let pause = TimeAmount.milliseconds(100)

  init(_ descriptors: DescriptorBudget, _ use: DescriptorBudget.Use) {
    self.descriptors = descriptors
    self.use = use
  }

  func read(context: ChannelHandlerContext) {
    if case .paused = phase {
      phase = .paused(isDue: true)
    } else if descriptors.room(for: use) > 0 {
      context.read()
    } else {
      descriptors.ranOut()
      pause(isDue: true, context)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) {
      descriptors.ranOut()
      // The limit has changed, or other code has opened more descriptors than the reserve.
      if error.errnoCode == EMFILE { descriptors.measure(sockets: 0) }
      if case .open = phase { pause(isDue: false, context) }
    }
    context.fireErrorCaught(error)
  }

  private func pause(isDue: Bool, _ context: ChannelHandlerContext) {
    phase = .paused(isDue: isDue)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: Self.pause) { bound.value.0.resume(bound.value.1) }
  }

  private func resume(_ context: ChannelHandlerContext) {
    guard case .paused(let isDue) = phase else { return }
    phase = .open
    if isDue, context.channel.isActive { read(context: context) }
  }
}
