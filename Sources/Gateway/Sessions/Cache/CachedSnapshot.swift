internal import FoundationEssentials
internal import Sessions

/// The snapshot of a session as the event loops have cached it, each in a ``SessionCacheEntry``.
struct CachedSnapshot: Sendable {
  let snapshot: SessionSnapshot
  /// Whether no change since is known.
  let isCurrent: Bool
  /// `CachedRevalidation.isOnSchedule` of a current entry.
  let isOnSchedule: Bool

  /// The data of two loops merged: the account of the current entry, and the later of the two last uses.
  func merged(with other: CachedSnapshot) -> CachedSnapshot {
    let (kept, left) = isCurrent ? (self, other) : (other, self)
    return CachedSnapshot(
      snapshot: kept.snapshot.seen(at: left.snapshot.session.lastSeen), isCurrent: kept.isCurrent,
      isOnSchedule: isOnSchedule || other.isOnSchedule)
  }
}

extension SessionSnapshot {
  /// The same session with the later of this and the stored last use.
  func seen(at moment: Date) -> SessionSnapshot {
    var session = session
    session.lastSeen = max(session.lastSeen, moment)
    return SessionSnapshot(session: session, account: account)
  }
}
