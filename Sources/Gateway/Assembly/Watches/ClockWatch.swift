internal import FoundationEssentials
internal import Logging
internal import Sessions
internal import Synchronization

/// Watches the system's clock: decides whether what has expired by it may be removed from the store, and logs why not.
///
/// A jump is recorded in the store, for a gateway that is started while the clock is still wrong: it cannot see the
/// jump in the sessions, because a request after it counts as a use at the wrong time.
final class ClockWatch: Sendable {
  private let store: any StoreMaintenance & ReplayGuardStore
  private let logger: Logger
  private let wall: @Sendable () -> Date
  private let steady: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  private struct State {
    var jumps = ClockJumps()
    /// Whether the clock was compared with what the store knows, which is done once.
    var hasComparedStart = false
    /// The time that the clock showed when it was found to be ahead, until that is recorded.
    var unrecorded: Date?
  }

  private static let millisecondsOfDay: Int64 = 86_400_000
  /// The time for which a record stays, in seconds: longer than a start asks for it.
  private static let recordLifetime: TimeInterval = 3 * 86_400

  init(
    store: any StoreMaintenance & ReplayGuardStore, logger: Logger, wall: @escaping @Sendable () -> Date = { .now },
    steady: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.store = store
    self.logger = logger
    self.wall = wall
    self.steady = steady
  }

  /// Whether the system's clock is believed when it says that something has expired.
  var isTrusted: Bool {
    let now = steady()
    return state.withLock { $0.jumps.isTrusted(at: now) }
  }

  /// The time by which rows may be removed as expired; nil while the clock is not trusted. It is that of the clock if,
  /// by it, a session was used within the hour, or none within a day. Otherwise it is the latest use: the clock may be
  /// hours ahead of that of another gateway, whose sessions look idle here, so that nobody uses any at this one.
  func removalTime() async throws(StoreError) -> Date? {
    guard isTrusted else { return nil }
    let latestUse = try await store.latestUse()
    let (time, instant) = (wall(), steady())
    return state.withLock { $0.jumps.removalTime(wall: time, steady: instant, latestUse: latestUse) }
  }

  /// Compares the system's clock with the steady one; logs a jump.
  func watch() {
    let (time, instant) = (wall(), steady())
    let jump = state.withLock { state -> Int? in
      let jump = state.jumps.compare(wall: time, steady: instant)
      if jump != nil { state.unrecorded = time }
      if state.jumps.isTrusted(at: instant) { state.unrecorded = nil }
      return jump
    }
    guard let jump else { return }
    logger.warning(
      "the system's clock has jumped ahead, expired sessions are kept for a day; see that it is right",
      metadata: ["seconds": "\(jump)"])
  }

  /// Whether ``record()`` has anything to record.
  var hasUnrecorded: Bool { state.withLock { $0.unrecorded != nil } }

  /// Records in the store that the clock was found to be ahead; if that fails, the next call tries again.
  func record() async {
    guard let found = state.withLock({ $0.unrecorded }) else { return }
    do throws(StoreError) {
      _ = try await store.consume(
        .clockJump(day: Self.day(of: found)), until: found.addingTimeInterval(Self.recordLifetime))
    } catch {
      return
    }
    state.withLock { state in
      // It may have jumped again meanwhile.
      guard state.unrecorded == found else { return }
      state.unrecorded = nil
    }
  }

  /// Compares the system's clock with the latest use of a session, and looks whether it was found to be ahead before
  /// this start; once.
  func compareStart() async throws(StoreError) {
    guard !state.withLock({ $0.hasComparedStart }) else { return }
    let latestUse = try await store.latestUse()
    let isKnown = try await wasAhead(at: wall())
    let (time, instant) = (wall(), steady())
    let (isFirst, seconds) = state.withLock { state -> (Bool, Int?) in
      guard !state.hasComparedStart else { return (false, nil) }
      state.hasComparedStart = true
      if isKnown { state.jumps.distrust(from: instant) }
      let seconds = state.jumps.compareStart(wall: time, steady: instant, latestUse: latestUse)
      if seconds != nil, !isKnown { state.unrecorded = time }
      return (true, seconds)
    }
    if let seconds {
      logger.warning(
        "no recent session use, keeping expired sessions for a day",
        metadata: ["seconds": "\(seconds)", "remedy": "see that the system's clock is right"])
    } else if isFirst, isKnown {
      logger.warning(
        "the system's clock may have been ahead before this start, keeping expired sessions for a day",
        metadata: ["remedy": "see that the system's clock is right"])
    }
  }

  /// Whether the clock was found to be ahead on the day that it shows, or on the day before. When it is set right, it
  /// shows another one.
  private func wasAhead(at time: Date) async throws(StoreError) -> Bool {
    let today = Self.day(of: time)
    if try await store.isConsumed(.clockJump(day: today)) { return true }
    return try await store.isConsumed(.clockJump(day: today - 1))
  }

  /// The day that the clock shows, in days since 1970.
  private static func day(of time: Date) -> Int { Int(time.millisecondsSince1970 / millisecondsOfDay) }
}
