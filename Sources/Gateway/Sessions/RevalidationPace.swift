/// The moments at which background revalidations start: one after another with a gap, however many accounts are due at
/// once. Each takes about a millisecond of a core, which requests would otherwise wait for all together; and Apple is
/// asked steadily.
struct RevalidationPace {
  /// The time from one start to the next: at most 200 accounts a second.
  static let gap = Duration.milliseconds(5)

  private var next: ContinuousClock.Instant?

  /// The moment at which a revalidation that is to start now starts: now, or after the one before.
  mutating func start(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    let start = max(now, next ?? now)
    next = start + Self.gap
    return start
  }
}
