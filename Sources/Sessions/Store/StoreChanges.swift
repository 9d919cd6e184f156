/// A place in the sequence of a store's changes. Opaque: each store has its own form.
package struct ChangeCursor: Sendable, Hashable {
  /// As the store writes it.
  package let text: String

  /// A cursor that a store wrote.
  package init(text: String) { self.text = text }
}

/// A change that other loops and replicas must learn of.
package enum StoreChange: Sendable, Equatable {
  /// The session ended: refuse it from now on, and close its streams.
  case ended(PublicSessionID, SessionEnding)
  /// The account changed or was removed: read it again before it is used again.
  case accountChanged(Subject)
  /// The user signed in, which changed nothing that others have in memory. It only moves the feed: if the store loses
  /// the sign-in, followers notice that a change is missing.
  case signedIn(Subject)

  /// The reason that a ``signedIn(_:)`` is stored with, beside the subject. A version that does not know it takes it
  /// for an account that changed.
  package static let signInReason = "signed_in"
}

/// The changes since a cursor.
package struct StoreChanges: Sendable, Equatable {
  /// The changes, in order. If there are as many as the limit, there may be more.
  package let changes: [StoreChange]
  /// The cursor for the next call.
  package let cursor: ChangeCursor
  /// The reason why changes may be missing.
  package let gap: Gap

  /// The reason why changes after a cursor may be missing.
  package enum Gap: Sendable, Equatable {
    /// All are there.
    case none
    /// The cursor is older than what the store remembers.
    case forgotten
    /// A change is damaged, or was removed before its time.
    case damaged
    /// The cursor names a change that this state of the store does not have: a failover, or a backup that was restored,
    /// has lost changes that were confirmed.
    case otherHistory
    /// The cursor is of another store.
    case otherStore

    /// Whether the store has lost changes that it had confirmed, or is another one.
    package var isRollback: Bool {
      switch self {
      case .none, .forgotten, .damaged: false
      case .otherHistory, .otherStore: true
      }
    }
  }

  /// The changes that a store reports.
  package init(changes: [StoreChange], cursor: ChangeCursor, gap: Gap) {
    self.changes = changes
    self.cursor = cursor
    self.gap = gap
  }

  /// Whether changes may be missing: everything in memory must be read again.
  package var isIncomplete: Bool { gap != .none }
}
