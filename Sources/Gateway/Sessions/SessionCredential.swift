internal import Sessions

/// A verified cookie or bearer token.
struct SessionCredential: Sendable {
  /// Its session.
  let handle: PublicSessionID
  /// The scope that it was verified in.
  let scope: CookieScope
  let fingerprint: CookieFingerprint
  let isSignedByCurrentKey: Bool
  /// The secret that signed it.
  let key: KeyIdentifier
  /// The configuration that verified it: `SessionConfiguration.generation`.
  let generation: Int
}
