package import FoundationEssentials

/// A place in the sequence of a store's changes. Opaque: each store has its own form.
package struct ChangeCursor: Sendable, Hashable {
  /// As the store writes it.
  package let text: String

  /// A cursor that a store wrote.
  package init(text: String) { self.text = text }
}

/// Something that other loops and replicas must know of.
package enum StoreChange: Sendable, Equatable {
  /// Refuse it from now on, close its streams.
  case ended(PublicSessionID, SessionEnding)
  /// Name or claims changed, or the account is gone: read it again before it is used again.
  case accountChanged(Subject)
}

/// What changed since a cursor.
package struct StoreChanges: Sendable, Equatable {
  /// In order. Ask again at once if there were as many as the limit.
  package let changes: [StoreChange]
  /// To ask with the next time.
  package let cursor: ChangeCursor
  /// Whether changes may be missing because the cursor is older than what the store remembers (or belongs to another
  /// database): everything in memory must be read again.
  package let isIncomplete: Bool

  /// What a store has seen since a cursor.
  package init(changes: [StoreChange], cursor: ChangeCursor, isIncomplete: Bool) {
    self.changes = changes
    self.cursor = cursor
    self.isIncomplete = isIncomplete
  }
}

/// What a store may forget.
package struct RemovalRule: Sendable {
  /// The time, for what has ended by itself.
  package let now: Date
  /// Sessions not seen for this long (and `lastSeenDelay` more) are gone.
  package let idleTimeout: Duration
  /// How long a change is remembered for replicas that were away. Must be well over their polling interval.
  package let rememberChanges: Duration
  /// The most rows to remove of each kind in one call, so that nobody waits for a long transaction.
  package let limit: Int

  /// What is over by now.
  package init(now: Date, idleTimeout: Duration, rememberChanges: Duration = .seconds(3_600), limit: Int = 500) {
    self.now = now
    self.idleTimeout = idleTimeout
    self.rememberChanges = rememberChanges
    self.limit = limit
  }

  /// How far what is written of `lastSeen` may be behind: updates are written in batches.
  package static let lastSeenDelay = Duration.seconds(3_600)

  /// Sessions last seen before this are gone.
  package var idleSince: Date { now.advanced(by: .zero - idleTimeout - Self.lastSeenDelay) }
  /// Changes from before this may be forgotten.
  package var changesUntil: Date { now.advanced(by: .zero - rememberChanges) }
}

/// What a store has removed.
package struct Removal: Sendable, Equatable {
  /// How many rows, of whatever kind.
  package let rows: Int
  /// The sessions among them: whoever still has connections of one ends those.
  package let sessions: [PublicSessionID]

  /// So many rows, with these sessions.
  package init(rows: Int, sessions: [PublicSessionID]) {
    self.rows = rows
    self.sessions = sessions
  }
}

/// How much a store holds.
package struct StoreCounts: Sendable, Equatable {
  /// Users that are known.
  package var accounts: Int
  /// Not ended; those whose time is over but which were not removed yet are among them.
  package var sessions: Int
  /// Sealed tokens, one for each user and client.
  package var refreshTokens: Int
  /// Kept for the application (`OutgoingMessage`).
  package var messages: Int

  /// How much there is of each.
  package init(accounts: Int, sessions: Int, refreshTokens: Int, messages: Int = 0) {
    self.accounts = accounts
    self.sessions = sessions
    self.refreshTokens = refreshTokens
    self.messages = messages
  }
}
