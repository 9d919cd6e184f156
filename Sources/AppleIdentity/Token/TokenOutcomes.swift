package import Secrets

/// The outcome of exchanging a code.
package enum ExchangeOutcome: Sendable, Equatable {
  /// Apple gave tokens, and the identity token among them is verified.
  case granted(TokenGrant)
  /// `invalid_grant`: the code was used before, is too old, or is of another client or redirect URI. Sign in again.
  case refused(OAuthError)
  /// Any other error code: our key, team, client ID or redirect URI is wrong. An operator error.
  case misconfigured(OAuthError)
  /// Tokens were returned, but the identity token is invalid, or Apple's keys are unavailable.
  case unverified(IdentityTokenError)
  /// The token from the browser or the app and the one from the exchange belong to different sign-ins.
  case mismatch(IdentityTokenMismatchError)
  /// Apple did not answer as it should: the code may be used up.
  case appleTrouble(AppleServiceError)
  /// Cannot have reached Apple: the code is unused.
  case notSent(reason: String)
  /// The client secret could not be made. An internal error.
  case noSecret(ClientSecretMintError)
}

/// The tokens that Apple returns for a code.
package struct TokenGrant: Sendable, Equatable {
  /// The identity token of the answer, verified.
  package let identityToken: VerifiedIdentityToken
  /// For revalidations; belongs to the client ID that the code was exchanged for.
  package let refreshToken: RefreshToken?
}

/// The outcome of a refresh.
package enum RefreshOutcome: Sendable, Equatable {
  /// 200, with its content.
  case goodStanding(GoodStanding)
  /// 400 `invalid_grant`: revoked, or the password was changed. The sessions that depend on this token end.
  case revoked(OAuthError)
  /// Another error code: our key, team or client ID is wrong. Alarm the operator; users keep their sessions for the
  /// grace period.
  case misconfigured(OAuthError)
  /// 429, 5xx, a time-out, an answer that is not JSON. Sessions stay valid for the grace period.
  case appleTrouble(AppleServiceError)
  /// Cannot have reached Apple. The only case in which the revalidation may be retried.
  case notSent(reason: String)
  /// The client secret could not be made, and nothing was sent. An internal error.
  case noSecret(ClientSecretMintError)
}

/// The content of a successful response to a refresh.
package struct GoodStanding: Sendable, Equatable {
  /// The user's identity token, verified, to update the claims from.
  package var identityToken: VerifiedIdentityToken?
  /// The replacement of the token that was sent (RFC 6749, 6). Apple sends none today.
  package var refreshToken: RefreshToken?
  /// The reason why a returned identity token was ignored, for the log.
  package var rejection: IdentityTokenError?

  /// Creates the content, which may be empty.
  package init(
    identityToken: VerifiedIdentityToken? = nil, refreshToken: RefreshToken? = nil,
    rejection: IdentityTokenError? = nil
  ) {
    self.identityToken = identityToken
    self.refreshToken = refreshToken
    self.rejection = rejection
  }
}
