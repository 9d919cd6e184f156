package import FoundationEssentials
internal import JWTKit

/// A statement that was signed, as it travels.
package struct SignedAssertion: Sendable, Equatable {
  /// The JWT in compact form (RFC 7519).
  package let token: String
  package let made: Date
  package let expires: Date
}

/// Signs assertions for the application, as one issuer to one audience.
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

  /// The same issuer, to another audience.
  package func addressing(_ audience: String) -> AssertionSigner {
    AssertionSigner(keys: keys, issuer: issuer, audience: audience)
  }

  /// The JWK set, as `GET keys` answers it.
  package var publicDocument: [UInt8] { keys.publicDocument }

  /// Signs claims, with `iss`, `aud`, `iat` and `exp` added.
  package func sign(
    _ claims: [String: AssertionValue], now: Date, lifetime: Duration
  ) async throws(AssertionSigningError) -> SignedAssertion {
    let issued = now.timeIntervalSince1970.rounded(.down)
    guard let issuedAt = Int64(exactly: issued), lifetime > .zero,
      let expiresAt = Int64(exactly: issued + Double(lifetime.components.seconds))
    else { throw .clockOutOfRange }
    var members = claims
    members["iss"] = .text(issuer)
    members["aud"] = .text(audience)
    members["iat"] = .integer(issuedAt)
    members["exp"] = .integer(expiresAt)
    do {
      let identifier = JWKIdentifier(string: keys.signing.identifier)
      let collection = await JWTKeyCollection().add(ecdsa: keys.signing.privateKey, kid: identifier)
      let token = try await collection.sign(Payload(members: members), kid: identifier)
      return SignedAssertion(token: token, made: now, expires: Date(timeIntervalSince1970: Double(expiresAt)))
    } catch {
      throw .signingFailed
    }
  }

  private struct Payload: JWTPayload {
    let members: [String: AssertionValue]

    init(members: [String: AssertionValue]) { self.members = members }

    init(from decoder: any Decoder) throws {
      members = try decoder.singleValueContainer().decode([String: AssertionValue].self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(members)
    }

    /// Never called: assertions are not verified here.
    func verify(using algorithm: some JWTAlgorithm) {}
  }
}

/// The reason why nothing was signed. An internal error.
package enum AssertionSigningError: Error, Sendable, Equatable {
  case clockOutOfRange
  case signingFailed

  package var message: String {
    switch self {
    case .clockOutOfRange: "the system's clock shows an impossible time"
    case .signingFailed: "the assertion could not be signed with the first of assertion.key_files"
    }
  }
}
