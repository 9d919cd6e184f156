/// The result of a revalidation, for the store to record.
package enum RevalidationRecord: Sendable {
  /// In good standing. Claims if an identity token came, a token if a new one came (RFC 6749, 6: it replaces the old
  /// one).
  case good(claims: AccountClaims?, token: EncryptedToken?)
  /// The token was revoked: the sessions that depend on it end, and it is deleted.
  case revoked
  /// No usable result: an error at Apple, a mistake in our configuration, or a revocation that the circuit breaker
  /// holds back.
  case noGoodAnswer

  /// A result without its details.
  package enum Kind: String, Sendable, Equatable, CaseIterable {
    /// In good standing.
    case good
    /// Revoked.
    case revoked
    /// Neither.
    case noGoodAnswer = "no good answer"
  }

  /// The result without its details.
  package var kind: Kind {
    switch self {
    case .good: .good
    case .revoked: .revoked
    case .noGoodAnswer: .noGoodAnswer
    }
  }
}

/// The effect of recording a result.
package struct RecordedRevalidation: Sendable {
  /// The account as it is now; nil if it was forgotten meanwhile.
  package let account: Account?
  /// The sessions that ended.
  package let ended: [PublicSessionID]

  /// The effect that a store reports.
  package init(account: Account?, ended: [PublicSessionID]) {
    self.account = account
    self.ended = ended
  }
}
