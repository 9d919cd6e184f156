/// What came of exchanging a code.
public enum ExchangeOutcome: Sendable, Equatable {
  case granted(TokenGrant)
  /// `invalid_grant`: the code was used before, is too old, or is of another client or redirect URI. Sign in again.
  case refused(AppleRefusal)
  /// Any other error code: our key, team, client ID or redirect URI is wrong. The operator's to mend.
  case misconfigured(AppleRefusal)
  /// Tokens came, and the identity token is not to be believed, or Apple's keys cannot be had to tell.
  case unverified(IdentityTokenRejection)
  /// The token that came by the browser or the app and the one from the exchange are of different sign-ins.
  case disagreement(IdentityTokenDisagreement)
  case appleTrouble(AppleTrouble)
  /// Cannot have reached Apple: the code is unused.
  case notSent(reason: String)
  /// The client secret could not be made. Ours to mend.
  case noSecret(ClientSecretMintProblem)
}

/// What Apple gives for a code.
public struct TokenGrant: Sendable, Equatable {
  public let identityToken: VerifiedIdentityToken
  /// For the daily check; belongs to the client ID that the code was exchanged for.
  public let refreshToken: RefreshToken?
}

/// What the answer to a refresh means for the user.
public enum RefreshVerdict: Sendable, Equatable {
  /// 200. Note the time, and update the claims if there is a token. `rejection` tells the log why one that came was
  /// passed over.
  case goodStanding(identityToken: VerifiedIdentityToken?, rejection: IdentityTokenRejection?)
  /// 400 `invalid_grant`: revoked, or the password was changed. The sessions that rest on this token end.
  case revoked(AppleRefusal)
  /// Another error code: our key, team or client ID is wrong. Alarm the operator; users keep their sessions for the
  /// grace period.
  case misconfigured(AppleRefusal)
  /// 429, 5xx, a time-out, an answer that is not JSON. Sessions go on for the grace period.
  case appleTrouble(AppleTrouble)
  /// Cannot have reached Apple. The only case in which the check may be tried again.
  case notSent(reason: String)
  /// The client secret could not be made, and nothing was sent. Ours to mend.
  case noSecret(ClientSecretMintProblem)
}
