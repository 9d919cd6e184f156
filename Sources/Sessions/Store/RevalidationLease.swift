package import FoundationEssentials

/// The right to ask Apple about one account once, taken by a compare-and-set before the request leaves. Only a store
/// makes one.
package struct RevalidationLease: Sendable {
  /// Whose check it is.
  package let subject: Subject
  /// The client whose token to ask with.
  package let clientID: String
  /// The refresh token to ask with.
  package let token: EncryptedToken
  /// When the right was taken.
  package let claimedAt: Date
  /// Tells this claim from every other of the account.
  package let number: Int64
  /// Tells this token from the client's earlier and later ones: an answer about one that was replaced since ends
  /// nothing.
  package let tokenVersion: Int64
  /// When the account was asked about before, to go back to if the claim is given back.
  package let previouslyAsked: Date?

  /// Made by stores alone, when the right was theirs to give.
  package init(
    subject: Subject, clientID: String, token: EncryptedToken, claimedAt: Date, number: Int64, tokenVersion: Int64,
    previouslyAsked: Date?
  ) {
    self.subject = subject
    self.clientID = clientID
    self.token = token
    self.claimedAt = claimedAt
    self.number = number
    self.tokenVersion = tokenVersion
    self.previouslyAsked = previouslyAsked
  }
}

/// What came of claiming the right to ask.
package enum RevalidationLeaseOutcome: Sendable {
  /// Ask now, once.
  case granted(RevalidationLease)
  /// Somebody asked within the interval (another loop, another replica, a sign-in): this is the account as it is now.
  case notYet(Account)
  /// There is no such account, or no token to ask with.
  case nothingToAskWith
}

/// What a check came to, as the store writes it down.
package enum CheckAnswer: Sendable {
  /// In good standing. Claims if an identity token came, a token if a new one came (RFC 6749, 6: it replaces the old
  /// one).
  case good(claims: AccountClaims?, token: EncryptedToken?)
  /// The token was revoked: the sessions that rest on it end, and it is deleted.
  case revoked
  /// No good answer: trouble at Apple, our own mistake, or a revocation that is held because no check succeeds.
  case noGoodAnswer

  /// An answer without what came with it.
  package enum Kind: String, Sendable, Equatable, CaseIterable {
    /// In good standing.
    case good
    /// Not any more: the user has gone.
    case revoked
    /// Nothing that says so either way.
    case noGoodAnswer = "no good answer"
  }

  /// What the verdict says, without its details.
  package var kind: Kind {
    switch self {
    case .good: .good
    case .revoked: .revoked
    case .noGoodAnswer: .noGoodAnswer
    }
  }
}

/// What writing an answer down came to.
package struct RecordedAnswer: Sendable {
  /// The account as it is now; nil if it was forgotten meanwhile.
  package let account: Account?
  /// The sessions that ended.
  package let ended: [PublicSessionID]

  /// What a store did with an answer.
  package init(account: Account?, ended: [PublicSessionID]) {
    self.account = account
    self.ended = ended
  }
}
