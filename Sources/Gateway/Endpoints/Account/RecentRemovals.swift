internal import Pages
internal import Sessions
internal import Synchronization

/// The sessions in which users have deleted their accounts within the last minute. Of two clicks on a button browsers
/// show the response to the second one only, whose session is gone by then: it gets the same confirmation.
final class RecentRemovals: Sendable {
  private struct Removal {
    let deletion: AccountDeletion
    let time: ContinuousClock.Instant
  }

  private static let interval = Duration.seconds(60)
  /// Beyond it all are forgotten: at worst a second click is answered as without a session.
  private static let maximumCount = 1_024

  private let removals = Mutex<[PublicSessionID: Removal]>([:])

  /// Inserts the session in which an account was deleted.
  func insert(_ session: PublicSessionID, _ deletion: AccountDeletion, at now: ContinuousClock.Instant = .now) {
    removals.withLock { removals in
      if removals.count >= Self.maximumCount {
        removals = removals.filter { $0.value.time.duration(to: now) < Self.interval }
        if removals.count >= Self.maximumCount { removals = [:] }
      }
      removals[session] = Removal(deletion: deletion, time: now)
    }
  }

  /// The deletion of an account in a session; nil if there was none within the last minute.
  func deletion(in session: PublicSessionID, at now: ContinuousClock.Instant = .now) -> AccountDeletion? {
    let removal = removals.withLock { $0[session] }
    guard let removal, removal.time.duration(to: now) < Self.interval else { return nil }
    return removal.deletion
  }
}
