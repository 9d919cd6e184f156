internal import Sessions
internal import Synchronization

/// The periodic check whether the store can be written.
final class StoreCheck: Sendable {
  private let store: any StoreMaintenance
  private let storeHealth: StoreHealth
  private let lastSeen: LastSeenBatch
  private let revalidations: RequestRevalidations
  private let clock: @Sendable () -> Int64
  private let state = Mutex(State())

  private struct State {
    var last = LastCheck.none
    var retry = Retry.none
  }

  private enum LastCheck {
    case none, failed
    /// The next one is due at the end of the period.
    case succeeded(Period)
  }

  /// When last-seen updates and results of revalidations that could not be written are written again, though no check
  /// has failed.
  private enum Retry {
    case none
    /// Not within the pause, which is so long, in milliseconds.
    case after(Period, length: Int64)

    /// Whether to write now: a failure that no check has met may be over. While checks succeed and those writes fail,
    /// the pause doubles.
    mutating func isDue(at now: Int64) -> Bool {
      var length = interval
      if case .after(let pause, let before) = self {
        if pause.contains(now) { return false }
        length = min(before * 2, longestPause)
      }
      self = .after(Period(from: now, for: length), length: length)
      return true
    }
  }

  /// The interval of checks that succeed; otherwise the next one follows at once. In milliseconds.
  private static let interval: Int64 = 4_500
  /// The longest pause between two such writes that fail while checks succeed. In milliseconds.
  private static let longestPause: Int64 = 60_000

  /// - Parameter clock: in milliseconds since 1970.
  init(
    store: any StoreMaintenance, storeHealth: StoreHealth, lastSeen: LastSeenBatch,
    revalidations: RequestRevalidations, clock: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.storeHealth = storeHealth
    self.lastSeen = lastSeen
    self.revalidations = revalidations
    self.clock = clock
  }

  /// Whether the store is to be checked: only a check can show that it is available, or it was not checked recently.
  var isDue: Bool {
    if storeHealth.needsCheck { return true }
    guard case .succeeded(let period) = state.withLock({ $0.last }) else { return true }
    return !period.contains(clock())
  }

  /// Checks the store. If it can be written again, the last-seen updates are written at once: to other replicas, and to
  /// the next start of this one, the sessions that were used meanwhile look idle. So are the results of revalidations
  /// that it did not take.
  func run() async {
    let asked = clock()
    do throws(StoreError) {
      try await store.ping()
    } catch {
      state.withLock { $0.last = .failed }
      return storeHealth.didNotWrite(error)
    }
    let now = clock()
    storeHealth.wrote(at: now, asked: asked)
    let hasUnwritten = lastSeen.hasUnwritten || revalidations.hasUnrecorded
    let writes = state.withLock { state in
      defer { state.last = .succeeded(Period(from: now, for: Self.interval)) }
      if case .failed = state.last { return true }
      guard hasUnwritten else {
        state.retry = .none
        return false
      }
      return state.retry.isDue(at: now)
    }
    guard writes else { return }
    lastSeen.writeSoon()
    revalidations.recordSoon()
  }
}
