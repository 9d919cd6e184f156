/// Spaces out the starts of background revalidations, however many accounts are due at once. Each takes about a
/// millisecond of a core, so a burst would delay requests; and Apple is asked steadily.
struct RevalidationPace {
  /// The time from one start to the next: at most 200 accounts a second.
  static let gap = Duration.milliseconds(5)

  private var next: ContinuousClock.Instant?

  /// The start of the next revalidation: now, or a gap after the one before.
  mutating func start(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    let start = max(now, next ?? now)
    next = start + Self.gap
    return start
  }
}
