internal import FoundationEssentials
internal import Sessions
internal import Synchronization

/// Writes the last-seen updates of all event loops to the store in batches.
final class LastSeenBatch: Sendable {
  private let loops: ProcessSessions
  private let store: any SessionRecordStore
  private let storeHealth: StoreHealth
  /// Updates that could not be written, for the next attempt.
  private let unwritten = Mutex<[PublicSessionID: Date]>([:])
  private let isWritingSoon = Atomic<Bool>(false)

  private static let longestInterval = Duration.seconds(60)
  private static let maximumUnwritten = 100_000

  init(loops: ProcessSessions, store: any SessionRecordStore, storeHealth: StoreHealth) {
    self.loops = loops
    self.store = store
    self.storeHealth = storeHealth
  }

  /// The interval between two batches: short enough that another replica never takes an active session for idle.
  static func interval(idleTimeout: Duration) -> Duration {
    min(longestInterval, max(idleTimeout / 4, .milliseconds(100)))
  }

  /// Collects the updates of all loops and writes them to the store.
  func write() async {
    var latest = unwritten.withLock { unwritten in
      defer { unwritten = [:] }
      return unwritten
    }
    for update in await loops.takeLastSeenUpdates() {
      latest[update.handle] = max(latest[update.handle] ?? .distantPast, update.seen)
    }
    guard !latest.isEmpty else { return }
    do throws(StoreError) {
      try await store.updateLastSeen(latest.map { LastSeenUpdate(handle: $0.key, seen: $0.value) })
    } catch {
      storeHealth.failed("touch", error)
      unwritten.withLock { unwritten in
        guard unwritten.count + latest.count <= Self.maximumUnwritten else { return }
        unwritten.merge(latest, uniquingKeysWith: max)
      }
    }
  }

  /// Writes a batch without waiting for the interval.
  func writeSoon() {
    guard !isWritingSoon.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Task {
      // Updates from here on need another write.
      isWritingSoon.store(false, ordering: .releasing)
      await write()
    }
  }
}
