package import FoundationEssentials
internal import Secrets

/// An identity token that Apple signed for one of our clients and that has not expired. Only ``IdentityTokenVerifier``
/// creates one.
package struct VerifiedIdentityToken: Sendable, Equatable {
  /// The user: stable, and the same across one team's apps. The only identifier.
  package let subject: String
  /// The client ID that the token is for: one of the accepted ones.
  package let audience: String
  /// The `nonce` claim; nil where the token has none.
  package let nonce: String?
  /// `c_hash`: the left half of the SHA-256 of the code that came with the token.
  package let codeHash: String?
  /// The `iat` claim.
  package let issuedAt: Date
  /// The expiry of the token, ten minutes to a day ahead; independent of the session's.
  package let expires: Date
  /// The claims about the user.
  package let claims: IdentityClaims

  fileprivate init(
    subject: String, audience: String, nonce: String?, codeHash: String?, issuedAt: Date, expires: Date,
    claims: IdentityClaims
  ) {
    self.subject = subject
    self.audience = audience
    self.nonce = nonce
    self.codeHash = codeHash
    self.issuedAt = issuedAt
    self.expires = expires
    self.claims = claims
  }
}

/// Verifies identity tokens in full: header, signature, issuer, audience, times, nonce.
///
/// Source: "Verifying a user", developer.apple.com; OpenID Connect Core 3.1.3.7.
package struct IdentityTokenVerifier: Sendable {
  /// The longest accepted token, in bytes. Apple's have about 1000.
  package static let maximumBytes = 16 * 1024
  /// The time by which `iat` may be in the future, for clock skew. Default: 60 s. `exp` gets no leeway: it is later
  /// than now or the token has expired.
  package static let leeway: TimeInterval = 60

  private let keySet: AppleKeySet
  private let clock: AppleClock

  /// Verifies by these keys, at the time of this clock.
  package init(keySet: AppleKeySet, clock: @escaping AppleClock) {
    self.keySet = keySet
    self.clock = clock
  }

  /// - Parameters:
  ///   - audiences: the client IDs that the token may be for. Each audience of the token must be one of them.
  ///   - nonce: the expected nonce.
  ///   - source: the source of the token.
  package func verify(
    _ token: UnverifiedIdentityToken, audiences: [String], nonce: NonceExpectation,
    from source: TokenSource = .anonymous
  ) async throws(IdentityTokenError) -> VerifiedIdentityToken {
    let signed = try await SignedClaims.verified(
      token.exposed, maximumBytes: Self.maximumBytes, from: source, keySet: keySet)
    let now = clock()
    try signed.requireAppleAsIssuer()
    let audience = try signed.audience(among: audiences)
    let expires = try signed.date("exp")
    guard expires > now else { throw .expired }
    let issuedAt = try signed.issuedAt(now: now)
    guard let subject = try signed.text("sub") else { throw .missingClaim("sub") }
    guard SignedClaims.isSubject(subject) else { throw .malformedClaim("sub") }
    let claims = IdentityClaims(payload: signed.values)
    let nonceClaim = try signed.text("nonce")
    try nonce.verify(claim: nonceClaim, supported: claims.flag("nonce_supported") ?? false)
    return VerifiedIdentityToken(
      subject: subject, audience: audience, nonce: nonceClaim, codeHash: try signed.text("c_hash"),
      issuedAt: issuedAt, expires: expires, claims: claims)
  }
}
