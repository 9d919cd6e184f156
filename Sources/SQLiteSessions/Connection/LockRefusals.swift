/// The refusal of writes that were in line behind one that waited in vain for the lock of another process. Otherwise
/// each of them would wait for the lock as well, one after the other.
struct LockRefusals {
  /// The longest time that a write waits for its turn behind such a one.
  let lockTimeout: Duration
  /// When the lock was last waited for in vain; nil if it has been had since.
  private var latest: SuspendingClock.Instant?

  init(lockTimeout: Duration) { self.lockTimeout = lockTimeout }

  /// Whether a write is refused at its turn: it was in line when one was refused, and has waited for long enough.
  /// - Parameter accepted: when it got in line.
  func refuses(accepted: SuspendingClock.Instant, at now: SuspendingClock.Instant) -> Bool {
    guard let latest else { return false }
    return accepted < latest && now - accepted >= lockTimeout
  }

  /// Records the end of an attempt to write.
  mutating func note(wasLocked: Bool, at now: SuspendingClock.Instant) { latest = wasLocked ? now : nil }
}
