package import FoundationEssentials

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
