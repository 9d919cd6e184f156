package import FoundationEssentials

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

/// The rule for rows that a store may remove.
package struct RemovalRule: Sendable {
  /// The current time, for rows that have expired.
  package let now: Date
  /// Sessions not seen for this long (and `lastSeenDelay` more) have expired.
  package let idleTimeout: Duration
  /// The time for which changes are kept for replicas that were down. Must be well over their polling interval.
  package let rememberChanges: Duration
  /// The most rows to remove of each kind in one call, which keeps transactions short.
  package let limit: Int

  /// The rule at this time.
  package init(now: Date, idleTimeout: Duration, rememberChanges: Duration = changeRetention, limit: Int = 500) {
    self.now = now
    self.idleTimeout = idleTimeout
    self.rememberChanges = rememberChanges
    self.limit = limit
  }

  /// The time for which changes are kept, unless a rule says otherwise.
  package static let changeRetention = Duration.seconds(3_600)

  /// The largest delay of the stored `lastSeen`: updates are written in batches.
  package static let lastSeenDelay = Duration.seconds(3_600)

  /// The time for which bans, invitations and machine tokens that have ended are still listed, and for which the
  /// account of a stranger stays, and a submitted name whose sign-in was not completed.
  package static let retention = Duration.seconds(30 * 86_400)

  /// The time for which a transfer identifier is kept. Apple's tokens contain it for 60 days after a transfer, which
  /// comes within 60 days of the preparation.
  package static let transferRetention = Duration.seconds(180 * 86_400)

  /// Sessions last seen before this have expired.
  package var idleSince: Date { now.advanced(by: .zero - idleTimeout - Self.lastSeenDelay) }
  /// Changes from before this may be forgotten.
  package var changesUntil: Date { now.advanced(by: .zero - rememberChanges) }
  /// Requests for access from before this have expired.
  package var requestsUntil: Date { AccessRequest.expiredUntil(now) }
  /// Bans, invitations and machine tokens that ended before this are removed, and names that were submitted before.
  package var endedUntil: Date { now.advanced(by: .zero - Self.retention) }
  /// Transfer identifiers that were stored before this are removed.
  package var transfersUntil: Date { now.advanced(by: .zero - Self.transferRetention) }
}

/// The rows that a store has removed.
package struct Removal: Sendable, Equatable {
  /// The number of rows, of every kind.
  package let rows: Int
  /// The sessions among them, whose open connections the caller has to end.
  package let sessions: [PublicSessionID]

  /// So many rows, with these sessions.
  package init(rows: Int, sessions: [PublicSessionID]) {
    self.rows = rows
    self.sessions = sessions
  }
}

/// The number of rows of each kind.
package struct StoreCounts: Sendable, Equatable {
  /// Users that are known.
  package var accounts: Int
  /// Sessions that have not ended, including expired ones that are not removed yet.
  package var sessions: Int
  /// Encrypted tokens, one for each user and client.
  package var refreshTokens: Int
  /// Messages for the application (`OutgoingMessage`).
  package var messages: Int
  /// Bans, also those that have expired.
  package var bans: Int
  /// Users in groups, one for each user and group; those of the configuration are not among them.
  package var groupMembers: Int
  /// Requests for access, also those that have expired.
  package var accessRequests: Int
  /// Invitations, also those that no longer admit anybody.
  package var invitations: Int
  /// Tokens of machines, also those that have expired.
  package var machineTokens: Int

  /// The number of each.
  package init(
    accounts: Int, sessions: Int, refreshTokens: Int, messages: Int = 0, bans: Int = 0, groupMembers: Int = 0,
    accessRequests: Int = 0, invitations: Int = 0, machineTokens: Int = 0
  ) {
    self.accounts = accounts
    self.sessions = sessions
    self.refreshTokens = refreshTokens
    self.messages = messages
    self.bans = bans
    self.groupMembers = groupMembers
    self.accessRequests = accessRequests
    self.invitations = invitations
    self.machineTokens = machineTokens
  }
}
