package import FoundationEssentials

/// A last-seen update: the last use of a session, written in batches.
package struct LastSeenUpdate: Sendable, Equatable {
  /// The session.
  package let handle: PublicSessionID
  /// The time of its last request.
  package let seen: Date

  /// The last use of a session.
  package init(handle: PublicSessionID, seen: Date) {
    self.handle = handle
    self.seen = seen
  }
}
