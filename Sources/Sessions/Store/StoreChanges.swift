public import FoundationEssentials

/// A place in the sequence of a store's changes. Opaque: each store has its own form.
public struct ChangeCursor: Sendable, Hashable {
  /// As the store writes it.
  public let text: String

  /// A cursor that a store wrote.
  public init(text: String) { self.text = text }
}

/// Something that other loops and replicas must know of.
public enum StoreChange: Sendable, Equatable {
  /// Refuse it from now on, close its streams.
  case ended(SessionHandle, SessionEnding)
  /// Name or claims changed, or the account is gone: read it again before it is used again.
  case accountChanged(Subject)
}

/// What changed since a cursor.
public struct StoreChanges: Sendable, Equatable {
  /// In order. Ask again at once if there were as many as the limit.
  public let changes: [StoreChange]
  /// To ask with the next time.
  public let cursor: ChangeCursor
  /// Whether changes may be missing because the cursor is older than what the store remembers (or belongs to another
  /// database): everything in memory must be read again.
  public let isIncomplete: Bool

  /// What a store has seen since a cursor.
  public init(changes: [StoreChange], cursor: ChangeCursor, isIncomplete: Bool) {
    self.changes = changes
    self.cursor = cursor
    self.isIncomplete = isIncomplete
  }
}

/// What a store may forget.
public struct RemovalRule: Sendable {
  /// The time, for what has ended by itself.
  public let now: Date
  /// Sessions not seen for this long (and `sightingsDelay` more) are gone.
  public let idleTimeout: Duration
  /// How long a change is remembered for replicas that were away. Must be well over their polling interval.
  public let rememberChanges: Duration
  /// The most rows to remove of each kind in one call, so that nobody waits for a long transaction.
  public let limit: Int

  /// What is over by now.
  public init(now: Date, idleTimeout: Duration, rememberChanges: Duration = .seconds(3_600), limit: Int = 500) {
    self.now = now
    self.idleTimeout = idleTimeout
    self.rememberChanges = rememberChanges
    self.limit = limit
  }

  /// How far what is written of `lastSeen` may be behind: sightings are written in batches.
  public static let sightingsDelay = Duration.seconds(3_600)

  /// Sessions last seen before this are gone.
  public var idleSince: Date { now.advanced(by: .zero - idleTimeout - Self.sightingsDelay) }
  /// Changes from before this may be forgotten.
  public var changesUntil: Date { now.advanced(by: .zero - rememberChanges) }
}

/// What a store has removed.
public struct Removal: Sendable, Equatable {
  /// How many rows, of whatever kind.
  public let rows: Int
  /// The sessions among them: whoever still has connections of one ends those.
  public let sessions: [SessionHandle]

  /// So many rows, with these sessions.
  public init(rows: Int, sessions: [SessionHandle]) {
    self.rows = rows
    self.sessions = sessions
  }
}

/// How much a store holds.
public struct StoreCounts: Sendable, Equatable {
  /// Users that are known.
  public var accounts: Int
  /// Not ended; those whose time is over but which were not removed yet are among them.
  public var sessions: Int
  /// Sealed tokens, one for each user and client.
  public var refreshTokens: Int
  /// Kept for the application (`OutgoingMessage`).
  public var messages: Int

  /// How much there is of each.
  public init(accounts: Int, sessions: Int, refreshTokens: Int, messages: Int = 0) {
    self.accounts = accounts
    self.sessions = sessions
    self.refreshTokens = refreshTokens
    self.messages = messages
  }
}
