/// The reason why an identity token is rejected.
package enum IdentityTokenError: Error, Sendable, Equatable {
  /// The response contains no token, but should.
  case absent
  /// Longer than ``IdentityTokenVerifier/maximumBytes``.
  case tooLong
  /// Not three parts of base64url with JSON objects in the first two.
  case malformed(String)
  /// `alg` is not RS256 or ES256, or not the algorithm of the key that `kid` names.
  case algorithmRefused(String)
  /// The header names critical extensions (`crit`); none is known here.
  case criticalExtension
  /// The header contains a key or a reference to one (`jwk`, `jku`, `x5u`, `x5c`). Apple's never does.
  case foreignKeyOffered(String)
  /// Apple publishes no key with this `kid`.
  case unknownKey
  /// Apple's keys are unavailable. Not the token's fault.
  case keysUnavailable(AppleKeySetError)
  /// The signature is not that of the key it names.
  case signatureInvalid
  /// `iss` is not Apple.
  case wrongIssuer
  /// `aud` is not our client.
  case wrongAudience
  /// `exp` has passed.
  case expired
  /// `iat` is in the future: this machine's clock is slow.
  case issuedInFuture
  /// A required claim is missing.
  case missingClaim(String)
  /// A claim of the wrong type, or out of all bounds.
  case malformedClaim(String)
  /// The token has no nonce, and must have one.
  case nonceMissing
  /// The nonce is that of another sign-in.
  case nonceMismatch
  /// The authorization code beside the token is not the one that `c_hash` names.
  case codeMismatch

  /// The problem, without any text of the token.
  package var message: String {
    switch self {
    case .absent: "the identity token that was asked for did not come"
    case .tooLong: "the identity token is too long"
    case .malformed(let part): "the identity token's \(part) cannot be read"
    case .algorithmRefused(let name): "the identity token's algorithm \(name) is refused"
    case .criticalExtension: "the identity token demands an extension that is not known"
    case .foreignKeyOffered(let name): "the identity token brings its own key (\(name))"
    case .unknownKey: "the identity token is signed with a key that Apple does not publish"
    case .keysUnavailable(let problem): problem.message
    case .signatureInvalid: "the identity token's signature is wrong"
    case .wrongIssuer: "the identity token was not issued by Apple"
    case .wrongAudience: "the identity token is for another application"
    case .expired: "the identity token has expired"
    case .issuedInFuture: "the identity token was issued in the future: compare the system's clock"
    case .missingClaim(let name): "the identity token has no claim \(name)"
    case .malformedClaim(let name): "the identity token's claim \(name) makes no sense"
    case .nonceMissing: "the identity token has no nonce"
    case .nonceMismatch: "the identity token was made for another attempt to sign in"
    case .codeMismatch: "the identity token belongs to another authorization code"
    }
  }

  /// Whether a retry may help, because Apple cannot be reached.
  package var isAppleTrouble: Bool {
    if case .keysUnavailable = self { true } else { false }
  }
}
