internal import NIOCore
internal import Synchronization

/// The gate and the observer of each event loop, looked up on that loop.
final class LoopGates: Sendable {
  private let parts = Mutex<[ObjectIdentifier: NIOLoopBound<Parts>]>([:])

  /// The parts of one loop. Used on that loop only.
  struct Parts {
    let gate: LoopGate
    let observer: LoopObserver
  }

  func add(_ added: Parts, on eventLoop: any EventLoop) {
    parts.withLock { $0[ObjectIdentifier(eventLoop)] = NIOLoopBound(added, eventLoop: eventLoop) }
  }

  /// Runs `work` with the parts of every loop, on that loop. Finished when this returns.
  func apply(_ work: @escaping @Sendable (Parts) -> Void) async {
    for bound in parts.withLock({ Array($0.values) }) {
      try? await bound.eventLoop.submit { work(bound.value) }.get()
    }
  }

  /// To be called on the loop.
  func find(on eventLoop: any EventLoop) -> Parts? { parts.withLock { $0[ObjectIdentifier(eventLoop)] }?.value }
}
