internal import Secrets

extension TokenClient {
  /// Asks Apple whether team, key, client ID and private key belong together, without any user: it sends a code that
  /// does not exist. Apple checks the credentials first, so `invalid_grant` means that they are valid. For `doctor`.
  package func checkCredentials(clientID: String) async -> CredentialCheckOutcome {
    let outcome = await exchange(
      code: AuthorizationCode("no-such-code"), redirectURI: nil, clientID: clientID, nonce: .none)
    switch outcome {
    case .refused: return .accepted
    case .misconfigured(let refusal): return .misconfigured(refusal)
    case .appleTrouble(let trouble): return .appleTrouble(trouble)
    case .notSent(let reason): return .notSent(reason: reason)
    case .noSecret(let problem): return .noSecret(problem)
    case .granted, .unverified, .mismatch:
      return .appleTrouble(.malformed(reason: "tokens for a code that nobody has"))
    }
  }
}

/// The outcome of a check of our credentials with Apple.
package enum CredentialCheckOutcome: Sendable, Equatable {
  /// Apple takes them.
  case accepted
  /// Our key, team or client ID is wrong.
  case misconfigured(OAuthError)
  /// Apple did not answer as it should: nothing is known.
  case appleTrouble(AppleServiceError)
  /// Cannot have reached Apple: nothing is known.
  case notSent(reason: String)
  /// The client secret could not be made. An internal error.
  case noSecret(ClientSecretMintError)
}
