internal import Sessions
internal import Synchronization

/// The periodic check whether the store can be written.
final class StoreCheck: Sendable {
  private let store: any StoreMaintenance
  private let storeHealth: StoreHealth
  private let lastSeen: LastSeenBatch
  private let clock: @Sendable () -> Int64
  /// The end of the interval since the last check that succeeded.
  private let next = Atomic<Int64>(.min)

  /// The interval of checks that succeed; otherwise the next one follows at once. In milliseconds.
  private static let interval: Int64 = 4_500

  /// - Parameter clock: in milliseconds since 1970.
  init(
    store: any StoreMaintenance, storeHealth: StoreHealth, lastSeen: LastSeenBatch,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.storeHealth = storeHealth
    self.lastSeen = lastSeen
    self.clock = clock
  }

  /// Whether the store is to be checked: it is not healthy, or was not checked recently.
  var isDue: Bool {
    let (now, next) = (clock(), next.load(ordering: .relaxed))
    // A time that is further ahead than the interval was kept while the clock was ahead.
    return !storeHealth.isHealthy || now >= next || next &- now > Self.interval
  }

  /// Checks the store. If it can be written again, the last-seen updates are written at once: to other replicas, and to
  /// the next start of this one, the sessions that were used meanwhile look idle.
  func run() async {
    let (wasHealthy, asked) = (storeHealth.isHealthy, clock())
    do throws(StoreError) {
      try await store.ping()
      storeHealth.wrote(at: clock(), asked: asked)
      next.store(clock() + Self.interval, ordering: .relaxed)
      if !wasHealthy { lastSeen.writeSoon() }
    } catch {
      storeHealth.didNotWrite(error)
    }
  }
}
