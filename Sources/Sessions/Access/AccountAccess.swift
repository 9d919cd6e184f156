package import FoundationEssentials

/// The part of an account that operators and managers decide at run time. It is read with every session.
package struct AccountAccess: Sendable, Equatable {
  /// The groups that the user was added to at run time, sorted by name; those of the configuration are not among them.
  package var groups: [GroupName] = []
  /// The ban, also one that has expired; see ``Ban/isInForce(at:)``.
  package var ban: Ban?
  /// Whether the latest sign-in left no refresh token, because nothing but public routes could admit the user then.
  /// Such an account is never revalidated; once the user is admitted, the next sign-in brings a token.
  package var isTokenDiscarded = false

  /// No decisions by default.
  package init(groups: [GroupName] = [], ban: Ban? = nil, isTokenDiscarded: Bool = false) {
    self.groups = groups
    self.ban = ban
    self.isTokenDiscarded = isTokenDiscarded
  }
}

/// A ban of a user. The store keeps it under a keyed hash of the subject, so that it outlives the account.
package struct Ban: Sendable, Equatable {
  /// The moment at which it ends by itself; nil: never.
  package let until: Date?
  /// The operator's note.
  package let reason: String?
  /// The time at which it was made.
  package let since: Date
  /// The operator or manager who made it.
  package let by: AccessAuthor

  /// A ban as a store keeps it.
  package init(until: Date?, reason: String?, since: Date, by: AccessAuthor) {
    self.until = until
    self.reason = reason
    self.since = since
    self.by = by
  }

  /// Whether it still holds. The moment of its end is too late.
  package func isInForce(at now: Date) -> Bool { until.map { now < $0 } ?? true }

  /// Whether managers may neither lift nor replace it: it is in force, and an operator made it.
  package func isProtected(at now: Date) -> Bool { isInForce(at: now) && !by.isManager }
}

/// The result of lifting a ban.
package enum UnbanOutcome: Sendable, Equatable {
  /// There was one, and it is gone.
  case lifted
  /// There was none.
  case notBanned
  /// A manager may not lift it: an operator made it, and it is in force.
  case protected
}

/// An account as lists show it.
package struct AccountSummary: Sendable, Equatable {
  /// The account.
  package let account: Account
  /// The number of sessions that have not ended.
  package let sessions: Int
  /// The latest use of any of them, or the latest sign-in.
  package let lastSeen: Date

  /// An account with what was found of its sessions.
  package init(account: Account, sessions: Int, lastSeen: Date) {
    self.account = account
    self.sessions = sessions
    self.lastSeen = lastSeen
  }
}
