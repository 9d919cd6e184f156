public import FoundationEssentials

/// A sign-in that Apple has confirmed, to be written in one transaction. Subject, client and time are the session's.
public struct SignIn: Sendable {
  /// The new session; its `began` is the moment of the sign-in.
  public let session: Session
  /// The name, if Apple sent one this time.
  public let name: PersonName?
  /// What the identity token said.
  public let claims: AccountClaims
  /// The refresh token that came, for the session's subject and client. Without one an earlier one stays.
  public let token: SealedToken?
  /// The session that this browser had before, whoever's; it ends.
  public let replacing: SessionHandle?
  /// When Apple issued the identity token of the exchange, by Apple's clock (`iat`). Not `auth_time`: that may be long
  /// before a withdrawal of consent that came before this sign-in.
  public let appleAuthorized: Date?

  /// A sign-in that was verified.
  public init(
    session: Session, name: PersonName?, claims: AccountClaims, token: SealedToken?, replacing: SessionHandle? = nil,
    appleAuthorized: Date? = nil
  ) {
    self.session = session
    self.name = name
    self.claims = claims
    self.token = token
    self.replacing = replacing
    self.appleAuthorized = appleAuthorized
  }
}

/// What a sign-in came to.
public struct CompletedSignIn: Sendable {
  /// The new session with its account: the known name kept, the claims merged.
  public let snapshot: SessionSnapshot
  /// The replaced session, if it was still there.
  public let ended: [SessionHandle]
  /// Whether the user was here for the first time.
  public let isNewAccount: Bool

  /// What a store did with a sign-in.
  public init(snapshot: SessionSnapshot, ended: [SessionHandle], isNewAccount: Bool) {
    self.snapshot = snapshot
    self.ended = ended
    self.isNewAccount = isNewAccount
  }
}
