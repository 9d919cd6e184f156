internal import FoundationEssentials

/// A user's new identity at the receiving team, to be stored in one transaction (`TeamTransferStore.move`).
package struct AccountMove: Sendable {
  /// The previous subject.
  package let old: Subject
  /// The new subject.
  package let new: Subject
  /// The address that Apple sent with it: an address of Apple's relay differs for each team.
  package let email: String?
  /// Whether the address is one of Apple's relay; nil where Apple does not say.
  package let isPrivateEmail: Bool?
  /// The old subject's refresh tokens, each with its re-encrypted form for the new subject.
  package let tokens: [(old: StoredToken, resealed: EncryptedToken)]

  /// Creates a move.
  package init(
    old: Subject, new: Subject, email: String?, isPrivateEmail: Bool?,
    tokens: [(old: StoredToken, resealed: EncryptedToken)]
  ) {
    self.old = old
    self.new = new
    self.email = email
    self.isPrivateEmail = isPrivateEmail
    self.tokens = tokens
  }
}

/// The outcome of a move.
package enum MoveOutcome: Sendable, Equatable {
  /// Account, tokens and sessions are under the new subject.
  case moved
  /// No account has the old subject: it was moved already, or removed.
  case unknownSubject
  /// The old subject's tokens have changed meanwhile: read them again.
  case tokensChanged
}

extension Account {
  /// The account under its new subject. Of `access` it has what is part of the account's own row; groups and ban are
  /// moved by the store.
  ///
  /// - Parameter present: the account that signed in under the new subject already; its data is newer.
  package func moved(by move: AccountMove, onto present: Account?) -> Account {
    var claims = present?.claims ?? claims.withAddress(move.email, isPrivate: move.isPrivateEmail)
    claims.preparedTransfer = nil
    claims.formerSubject = move.old
    var access = AccountAccess()
    access.isTokenDiscarded =
      present.map { $0.access.isTokenDiscarded && move.tokens.isEmpty } ?? self.access.isTokenDiscarded
    let verified = max(lastVerified, present?.lastVerified ?? .distantPast)
    return Account(
      subject: move.new, name: present?.name ?? name, claims: claims,
      latestAuthorization: max(latestAuthorization, present?.latestAuthorization ?? .distantPast),
      lastVerified: verified,
      lastAsked: [lastAsked, present?.lastAsked].compactMap(\.self).max(),
      lastAnswer: present?.lastAnswer ?? lastAnswer,
      checkFailingSince: [checkFailingSince, present?.checkFailingSince].compactMap(\.self).filter { $0 >= verified }
        .min(),
      appleAuthorized: [appleAuthorized, present?.appleAuthorized].compactMap(\.self).max(), access: access)
  }
}
