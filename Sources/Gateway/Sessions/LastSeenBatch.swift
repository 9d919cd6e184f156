internal import FoundationEssentials
internal import Logging
internal import Sessions
internal import Synchronization

/// Writes the last-seen updates of all event loops to the store in batches.
final class LastSeenBatch: Sendable {
  private let loops: ProcessSessions
  private let store: any SessionRecordStore
  private let storeHealth: StoreHealth
  private let logger: Logger
  private let state = Mutex(State())

  private struct State {
    /// Updates that could not be written, for the next attempt.
    var unwritten: [PublicSessionID: Date] = [:]
    /// The updates of a write that the store has not answered yet.
    var underWay: [PublicSessionID: Date] = [:]
    /// The error of the last attempt; nil if it succeeded.
    var failure: StoreError?
    /// The last write that has begun.
    var latest: Task<Void, Never>?
    /// The write that begins after it.
    var next: Task<Void, Never>?
  }

  private static let longestInterval = Duration.seconds(60)
  private let maximumUnwritten: Int

  /// - Parameter maximumUnwritten: the number of updates that are kept while the store cannot be written. Beyond it
  ///   those of the sessions that were used last are kept.
  init(
    loops: ProcessSessions, store: any SessionRecordStore, storeHealth: StoreHealth, logger: Logger,
    maximumUnwritten: Int = 100_000
  ) {
    self.loops = loops
    self.store = store
    self.storeHealth = storeHealth
    self.logger = logger
    self.maximumUnwritten = maximumUnwritten
  }

  /// The interval between two batches: short enough that another replica never takes an active session for idle.
  static func interval(idleTimeout: Duration) -> Duration {
    min(longestInterval, max(idleTimeout / 4, .milliseconds(100)))
  }

  /// Collects the updates of all loops and writes them to the store, after the writes that are under way: what those
  /// cannot write is written now.
  func write() async { await nextWrite().value }

  /// Whether updates of an attempt that failed wait for the next one.
  var hasUnwritten: Bool { state.withLock { !$0.unwritten.isEmpty } }

  /// Writes a batch without waiting for the interval.
  func writeSoon() { _ = nextWrite() }

  /// The write that begins next: it takes all updates up to then.
  private func nextWrite() -> Task<Void, Never> {
    state.withLock { state in
      if let next = state.next { return next }
      let before = state.latest
      let next = Task {
        await before?.value
        await writeOnce()
      }
      state.next = next
      return next
    }
  }

  private func writeOnce() async {
    var latest = state.withLock { state in
      // Updates from here on need another write.
      state.latest = state.next.take()
      defer { state.unwritten = [:] }
      return state.unwritten
    }
    for update in await loops.takeLastSeenUpdates() {
      latest[update.handle] = max(latest[update.handle] ?? .distantPast, update.seen)
    }
    guard !latest.isEmpty else { return }
    state.withLock { [latest] in $0.underWay = latest }
    defer { state.withLock { $0.underWay = [:] } }
    do throws(StoreError) {
      try await store.updateLastSeen(latest.map { LastSeenUpdate(handle: $0.key, seen: $0.value) })
      state.withLock { $0.failure = nil }
    } catch {
      storeHealth.failed("touch", error)
      if latest.count > maximumUnwritten {
        let kept = latest.sorted { $0.value > $1.value }.prefix(maximumUnwritten)
        latest = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
      }
      state.withLock { [latest] state in
        state.unwritten = latest
        state.failure = error
      }
    }
  }

  /// Waits for the writes that were requested, without requesting another; for tests.
  func settle() async { await state.withLock { $0.next ?? $0.latest }?.value }

  /// Logs at shutdown how many sessions have updates that could not be written, or not yet.
  func reportUnwritten() async {
    let inLoops = await loops.takeLastSeenUpdates().map(\.handle)
    let (count, failure) = state.withLock { state in
      let isWriting = !state.underWay.isEmpty || !inLoops.isEmpty
      let handles = Set(state.unwritten.keys).union(state.underWay.keys).union(inLoops)
      return (handles.count, isWriting ? "the session store did not answer in time" : state.failure?.description)
    }
    guard count > 0 else { return }
    logger.warning(
      "last-seen times not stored at shutdown, sessions in use may be over at the next start",
      metadata: [
        "sessions": "\(count)", "error": "\(failure ?? "unknown")",
        "remedy": "see that the session store can be written before a gateway is stopped",
      ])
  }
}
