/// The latest identity of a user who has moved to another team, as far as a store knows it by an earlier subject.
package struct MovedUser: Sendable {
  /// `StoreKey.banHash` of the latest subject.
  package let hash: [UInt8]
  /// The latest subject; nil without an account.
  package let subject: Subject?

  /// The largest number of moves that are followed: more than can come within `RemovalRule.transferRetention`.
  package static let mostMoves = 16
  /// The number of accounts that are read at a time in search of a subject.
  package static let searchSize = 10_000

  /// A user as a store has found it.
  package init(hash: [UInt8], subject: Subject?) {
    self.hash = hash
    self.subject = subject
  }
}

/// The outcome of writing a ban in a transaction, of which `BanStore.ban` may need several.
package enum BanOutcome: Sendable {
  /// The ban is written, and these sessions of each subject have ended; nil if a manager may not replace the earlier
  /// ban.
  case done(ended: [Subject: [PublicSessionID]]?)
  /// The user has moved since the latest subject was searched for: nothing was changed.
  case hasMoved
}
