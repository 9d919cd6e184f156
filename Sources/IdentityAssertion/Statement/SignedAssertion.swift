internal import Cryptography
package import FoundationEssentials

/// A signed statement.
package struct SignedAssertion: Sendable, Equatable {
  /// The JWT in compact form (RFC 7519).
  package let token: String
  /// The time of the signature; `iat` is its whole second.
  package let made: Date
  /// `exp`, in whole seconds.
  package let expires: Date
}

/// Signs assertions of one issuer for one audience.
package struct AssertionSigner: Sendable {
  private let keys: AssertionKeySet
  private let issuer: String
  private let audience: String

  /// - Parameter issuer: `iss`: the origin that browsers see.
  package init(keys: AssertionKeySet, issuer: String, audience: String) {
    self.keys = keys
    self.issuer = issuer
    self.audience = audience
  }

  /// The same issuer and keys with another audience.
  package func addressing(_ audience: String) -> AssertionSigner {
    AssertionSigner(keys: keys, issuer: issuer, audience: audience)
  }

  /// The JWK set, as `GET keys` answers it.
  package var publicDocument: [UInt8] { keys.publicDocument }

  /// Signs claims, with `iss`, `aud`, `iat` and `exp` added.
  package func sign(
    _ claims: [String: AssertionValue], now: Date, lifetime: Duration
  ) throws(AssertionSigningError) -> SignedAssertion {
    let issued = now.timeIntervalSince1970.rounded(.down)
    guard let issuedAt = Int64(exactly: issued), lifetime > .zero,
      let expiresAt = Int64(exactly: issued + Double(lifetime.components.seconds))
    else { throw .clockOutOfRange }
    var members = claims
    members["iss"] = .text(issuer)
    members["aud"] = .text(audience)
    members["iat"] = .integer(issuedAt)
    members["exp"] = .integer(expiresAt)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let payload = try? encoder.encode(members),
      let token = CompactJWS.sign(payload: payload, using: keys.signing.privateKey, keyID: keys.signing.identifier)
    else { throw .signingFailed }
    return SignedAssertion(token: token, made: now, expires: Date(timeIntervalSince1970: Double(expiresAt)))
  }
}

/// The reason why nothing was signed. An internal error.
package enum AssertionSigningError: Error, Sendable, Equatable {
  /// The time cannot be written as a whole number of seconds.
  case clockOutOfRange
  /// The payload could not be encoded or signed.
  case signingFailed

  /// The problem, for the log.
  package var message: String {
    switch self {
    case .clockOutOfRange: "the system's clock shows an impossible time"
    case .signingFailed: "the assertion could not be signed with the first of assertion.key_files"
    }
  }
}
