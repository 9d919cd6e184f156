package import FoundationEssentials

/// A sign-in that Apple has confirmed, to be written in one transaction. Subject, client and time are the session's.
package struct SignIn: Sendable {
  /// The new session; its `began` is the moment of the sign-in.
  package let session: Session
  /// The name, if Apple sent one this time.
  package let name: PersonName?
  /// The claims of the identity token.
  package let claims: AccountClaims
  /// The refresh token that came, for the session's subject and client. Without one an earlier one stays.
  package let token: EncryptedToken?
  /// Whether the refresh token that came was discarded, because nothing but public routes admits the user: then `token`
  /// is nil, and `AccountAccess.isTokenDiscarded` is set unless a token of this client is stored.
  package let discardsToken: Bool
  /// The session that this browser had before, of any user; it ends.
  package let replacing: PublicSessionID?
  /// The time when Apple issued the identity token of the exchange, by Apple's clock (`iat`). Not `auth_time`: that may
  /// be long before a withdrawal of consent that came before this sign-in.
  package let appleAuthorized: Date?

  /// A sign-in that was verified.
  package init(
    session: Session, name: PersonName?, claims: AccountClaims, token: EncryptedToken?,
    replacing: PublicSessionID? = nil, appleAuthorized: Date? = nil, discardsToken: Bool = false
  ) {
    self.session = session
    self.name = name
    self.claims = claims
    self.token = token
    self.replacing = replacing
    self.appleAuthorized = appleAuthorized
    self.discardsToken = discardsToken
  }
}

extension SignIn {
  /// The account after this sign-in.
  ///
  /// - Parameters:
  ///   - before: the stored account; nil for a new user.
  ///   - submitted: the name that was kept before the exchange (`SignInStore.savePendingName`).
  ///   - hasToken: whether a refresh token of the client is stored already.
  package func account(after before: Account?, submitted: PersonName?, hasToken: Bool) -> Account {
    var access = before?.access ?? AccountAccess()
    // If Apple sent no token, an admitted user must not have to sign in over and over.
    access.isTokenDiscarded = discardsToken && token == nil && !hasToken
    return Account(
      subject: session.subject,
      name: name ?? submitted ?? before?.name,
      claims: (before?.claims ?? AccountClaims()).afterSignIn(claims),
      latestAuthorization: session.began.orLater(before?.latestAuthorization),
      lastVerified: session.began.orLater(before?.lastVerified),
      lastAsked: session.began.orLater(before?.lastAsked),
      lastAnswer: before?.lastAnswer,
      appleAuthorized: appleAuthorized.map { $0.orLater(before?.appleAuthorized) }, access: access)
  }

  /// The change to note for this sign-in: whether other sessions of the user have to read the account again.
  package func change(from before: Account?, to after: Account) -> StoreChange {
    guard let before else { return .signedIn(after.subject) }
    let isSame = before.name == after.name && before.claims == after.claims && before.access == after.access
    return isSame ? .signedIn(after.subject) : .accountChanged(after.subject)
  }
}

/// The result of a sign-in.
package struct CompletedSignIn: Sendable {
  /// The new session with its account: the known name kept, the claims merged.
  package let snapshot: SessionSnapshot
  /// The replaced session, if it was still there.
  package let ended: [PublicSessionID]
  /// Whether the user was here for the first time.
  package let isNewAccount: Bool

  /// The result that a store reports.
  package init(snapshot: SessionSnapshot, ended: [PublicSessionID], isNewAccount: Bool) {
    self.snapshot = snapshot
    self.ended = ended
    self.isNewAccount = isNewAccount
  }
}
