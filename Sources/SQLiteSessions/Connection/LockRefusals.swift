/// The refusal of writes that were queued behind one that did not get the lock of another process in time. Otherwise
/// each of them would wait for the lock as well, one after the other.
struct LockRefusals {
  /// The longest time that a write waits for its turn behind such a write.
  let lockTimeout: Duration
  /// When a write last did not get the lock; nil if one has got it since.
  private var latest: SuspendingClock.Instant?

  init(lockTimeout: Duration) { self.lockTimeout = lockTimeout }

  /// Whether a write is refused at its turn: it was queued when one was refused, and has waited for long enough.
  /// - Parameter accepted: when it was queued.
  func refuses(accepted: SuspendingClock.Instant, at now: SuspendingClock.Instant) -> Bool {
    guard let latest else { return false }
    return accepted < latest && now - accepted >= lockTimeout
  }

  /// Records the end of an attempt to write.
  mutating func note(wasLocked: Bool, at now: SuspendingClock.Instant) { latest = wasLocked ? now : nil }
}
