internal import Sessions
internal import Synchronization

/// The latest answer of the change feed, by a clock that goes on while the machine is suspended.
///
/// An hour after a change is written, a store removes it, and has nothing left to compare with a cursor that names it.
/// If the change was lost to a failover and its number was given again, a process that was suspended for as long could
/// not tell. So well before that everything is read again, whatever the cursor says.
final class FeedContinuity: Sendable {
  /// The current time.
  let now: @Sendable () -> ContinuousClock.Instant
  private let latest = Mutex<ContinuousClock.Instant?>(nil)

  /// The longest time between two answers after which a cursor is relied on.
  static let longestGap = RemovalRule.changeRetention / 2

  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

  /// Whether the latest answer is too old for its cursor to be relied on. False before the first.
  var isBroken: Bool {
    guard let latest = latest.withLock({ $0 }) else { return false }
    return now() - latest >= Self.longestGap
  }

  /// Notes an answer whose changes were applied.
  /// - Parameter asked: the moment at which the feed was asked.
  func answered(asked: ContinuousClock.Instant) { latest.withLock { $0 = asked } }
}
