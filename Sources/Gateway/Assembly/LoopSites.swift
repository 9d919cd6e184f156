internal import NIOCore
internal import Synchronization

/// The gate and the observer of each event loop, looked up on that loop.
final class LoopSites: Sendable {
  private let sites = Mutex<[ObjectIdentifier: NIOLoopBound<Site>]>([:])

  /// The parts of one loop. Used on that loop only.
  struct Site {
    let gate: LoopGate
    let observer: LoopObserver
  }

  func add(_ site: Site, on eventLoop: any EventLoop) {
    sites.withLock { $0[ObjectIdentifier(eventLoop)] = NIOLoopBound(site, eventLoop: eventLoop) }
  }

  /// Has every loop do something with its parts: done when this returns.
  func apply(_ work: @escaping @Sendable (Site) -> Void) async {
    for site in sites.withLock({ Array($0.values) }) {
      try? await site.eventLoop.submit { work(site.value) }.get()
    }
  }

  /// To be called on the loop.
  func site(on eventLoop: any EventLoop) -> Site? { sites.withLock { $0[ObjectIdentifier(eventLoop)] }?.value }
}
