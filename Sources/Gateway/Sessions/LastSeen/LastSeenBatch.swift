internal import FoundationEssentials
internal import Logging
internal import Sessions
internal import Synchronization

/// Writes the last-seen updates of all event loops to the store in batches, a large one in portions with pauses.
final class LastSeenBatch: Sendable {
  private let loops: ProcessSessions
  private let store: any SessionRecordStore
  private let storeHealth: StoreHealth
  private let logger: Logger
  private let limits: LastSeenPace.Limits
  private let state = Mutex(State())

  private struct State {
    /// Updates that could not be written, for the next batch.
    var unwritten: [PublicSessionID: Date] = [:]
    /// Those of earlier attempts that the present batch writes again.
    var retried: [PublicSessionID: Date] = [:]
    /// Updates that wait neither for the next batch nor for the rest of one.
    var urgent: [LastSeenUpdate] = []
    /// The updates of the present batch that wait for their portion.
    var waiting: [LastSeenUpdate] = []
    /// The updates of a write that the store has not answered yet.
    var underWay: [LastSeenUpdate] = []
    /// The error of the last attempt; nil if it succeeded.
    var failure: StoreError?
    /// The last write that has begun.
    var latest: Task<Void, Never>?
    /// The write that begins after it.
    var next: Task<Void, Never>?
    /// Whether that is a batch; otherwise only urgent updates are written.
    var nextIsBatch = false
    /// The interval between two batches.
    var interval = LastSeenBatch.longestInterval
    /// The pause before the next portion.
    var pause: Task<Void, Never>?
    /// The number of callers that wait for everything to be written: there are no pauses meanwhile.
    var flushes = 0
    /// Whether no further write begins.
    var hasEnded = false

    /// Takes the updates to write next: urgent ones, and some of the batch.
    mutating func takePortion(_ count: Int) -> [LastSeenUpdate] {
      let count = flushes > 0 ? waiting.count : min(count, waiting.count)
      underWay = urgent
      underWay += waiting.suffix(count)
      urgent = []
      waiting.removeLast(count)
      return underWay
    }
  }

  private static let longestInterval = Duration.seconds(60)
  private let maximumUnwritten: Int

  /// - Parameters:
  ///   - maximumUnwritten: the number of updates that are kept while the store cannot be written. Beyond it those of
  ///     the sessions that were used last are kept.
  ///   - limits: of the pace of a batch.
  init(
    loops: ProcessSessions, store: any SessionRecordStore, storeHealth: StoreHealth, logger: Logger,
    maximumUnwritten: Int = 100_000, limits: LastSeenPace.Limits = LastSeenPace.Limits()
  ) {
    self.loops = loops
    self.store = store
    self.storeHealth = storeHealth
    self.logger = logger
    self.maximumUnwritten = maximumUnwritten
    self.limits = limits
  }

  /// The interval between two batches: short enough that another replica never takes an active session for idle, though
  /// a large batch takes half of it.
  static func interval(idleTimeout: Duration) -> Duration {
    min(longestInterval, max(idleTimeout / 4, .milliseconds(100)))
  }

  /// Collects the updates of all loops and writes them to the store, after the writes that are under way: what those
  /// cannot write is written now. Neither makes pauses.
  func write() async {
    await beginFlush().value
    endFlush()
  }

  /// Writes one of the regular batches: a large one in portions, with pauses.
  /// - Parameter interval: the interval between two batches.
  func write(every interval: Duration) async {
    state.withLock { $0.interval = interval }
    await nextWrite(isBatch: true).value
  }

  /// Begins no further write, because the store is about to be closed. One that is under way ends.
  func end() {
    state.withLock { state in
      state.hasEnded = true
      state.pause?.cancel()
    }
  }

  private var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Whether updates of an attempt that failed wait for the next one.
  var hasUnwritten: Bool { state.withLock { !$0.unwritten.isEmpty } }

  /// The last use of a session that an attempt failed to write, and that is still to be written; nil if all are
  /// written. The caches may have dropped the session meanwhile, and to the store it looks idle.
  func unwrittenUse(of handle: PublicSessionID) -> Date? {
    state.withLock { state in
      guard let retried = state.retried[handle] else { return state.unwritten[handle] }
      return max(retried, state.unwritten[handle] ?? retried)
    }
  }

  /// Requests a write as by ``write()``, without waiting for it.
  func writeSoon() {
    let write = beginFlush()
    Task {
      await write.value
      endFlush()
    }
  }

  /// Writes the last use of one session without waiting for a batch, nor for the rest of one.
  func writeSoon(_ update: LastSeenUpdate) {
    state.withLock { state in
      state.urgent.append(update)
      state.pause?.cancel()
    }
    // If a batch under way writes the update, this write finds nothing to do.
    _ = nextWrite(isBatch: false)
  }

  /// The batch that begins next. It is written without pauses, as are those before it, until `endFlush()`.
  private func beginFlush() -> Task<Void, Never> {
    let write = nextWrite(isBatch: true)
    state.withLock { state in
      state.flushes += 1
      state.pause?.cancel()
    }
    return write
  }

  private func endFlush() { state.withLock { $0.flushes -= 1 } }

  /// The write that begins next: a batch takes all updates up to then.
  private func nextWrite(isBatch: Bool) -> Task<Void, Never> {
    state.withLock { state in
      if isBatch { state.nextIsBatch = true }
      if let next = state.next { return next }
      let before = state.latest
      let next = Task {
        await before?.value
        await writeNext()
      }
      state.next = next
      return next
    }
  }

  private func writeNext() async {
    if hasEnded { return }
    var pace = await begin()
    let start = ContinuousClock.now
    repeat {
      if hasEnded { return }
      let count = pace.take(at: ContinuousClock.now - start)
      let portion = state.withLock { $0.takePortion(count) }
      if !portion.isEmpty {
        guard await write(portion) else { return }
      }
    } while await pause(until: start + pace.due)
  }

  /// Begins the next write. For a batch, collects the updates of all loops.
  private func begin() async -> LastSeenPace {
    let unwritten = state.withLock { state -> [PublicSessionID: Date]? in
      // Updates from here on need another write.
      state.latest = state.next.take()
      guard state.nextIsBatch else { return nil }
      state.nextIsBatch = false
      state.retried = state.unwritten
      state.unwritten = [:]
      return state.retried
    }
    guard let unwritten else { return LastSeenPace(updates: 0, interval: .zero) }
    let latest = Self.latest(of: await loops.takeLastSeenUpdates(), and: unwritten)
    var batch = latest.map { LastSeenUpdate(handle: $0.key, seen: $0.value) }
    // In the order of the stores' keys: the rows of a portion are on few pages of the table.
    batch.sort { $0.handle < $1.handle }
    return state.withLock { [batch] state in
      state.waiting = batch
      return LastSeenPace(updates: batch.count, interval: state.interval, limits: limits)
    }
  }

  /// The latest update of each session.
  private static func latest(
    of updates: [LastSeenUpdate], and others: [PublicSessionID: Date]
  ) -> [PublicSessionID: Date] {
    var latest = others
    for update in updates { latest[update.handle] = max(latest[update.handle] ?? .distantPast, update.seen) }
    return latest
  }

  /// Writes a portion.
  /// - Returns: false if it failed; then the whole batch waits for the next attempt.
  private func write(_ portion: [LastSeenUpdate]) async -> Bool {
    do throws(StoreError) {
      try await store.updateLastSeen(portion)
    } catch {
      // A store that was closed meanwhile has not failed.
      if !hasEnded { storeHealth.failed("touch", error) }
      keepUnwritten(after: error)
      return false
    }
    state.withLock { state in
      state.underWay = []
      state.failure = nil
    }
    return true
  }

  /// Keeps the rest of a batch, after a portion that failed, for the next attempt.
  private func keepUnwritten(after error: StoreError) {
    let (rest, unwritten) = state.withLock { ($0.underWay + $0.waiting, $0.unwritten) }
    var kept = Self.latest(of: rest, and: unwritten)
    if kept.count > maximumUnwritten {
      let latest = kept.sorted { $0.value > $1.value }.prefix(maximumUnwritten)
      kept = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
    }
    state.withLock { [kept] state in
      state.unwritten = kept
      state.retried = [:]
      state.waiting = []
      state.underWay = []
      state.failure = error
    }
  }

  /// Waits until the next portion is due, an urgent update comes, or a caller waits for everything to be written.
  /// - Returns: false if nothing is left to write.
  private func pause(until due: ContinuousClock.Instant) async -> Bool {
    let (isOver, pause) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      if state.waiting.isEmpty, state.urgent.isEmpty {
        state.waiting = []
        state.retried = [:]
        return (true, nil)
      }
      guard state.urgent.isEmpty, state.flushes == 0, due > ContinuousClock.now else { return (false, nil) }
      let pause = Task<Void, Never> { try? await Task.sleep(until: due, clock: .continuous) }
      state.pause = pause
      return (false, pause)
    }
    await pause?.value
    return !isOver
  }

  /// Waits for the writes that were requested, without requesting another; for tests.
  func settle() async { await state.withLock { $0.next ?? $0.latest }?.value }

  /// Logs at shutdown how many sessions have updates that could not be written, or not yet.
  func reportUnwritten() async {
    let inLoops = await loops.takeLastSeenUpdates().map(\.handle)
    let (count, failure) = state.withLock { state in
      let unfinished = (state.underWay + state.waiting + state.urgent).map(\.handle) + inLoops
      let isWriting = !unfinished.isEmpty
      let handles = Set(state.unwritten.keys).union(unfinished)
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
