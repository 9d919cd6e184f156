import Cryptography
import FoundationEssentials

/// Differences of a token from a genuine one, as requested by tests (`POST /simulator/mint`, `/simulator/tamper`).
struct TokenOrder: Sendable, Codable {
  /// Overrides for the header; `null` removes a member.
  var header: [String: JSONValue]?
  /// Overrides for the claims; `null` removes a claim.
  var claims: [String: JSONValue]?
  /// The whole payload as text, instead of the claims: for payloads that are not objects, or not JSON.
  var payload: String?
  /// Default: `rs256`, as Apple signs.
  var signature: SignatureName?
  /// The secret of `hs256`.
  var secret: String?

  enum SignatureName: String, Sendable, Codable {
    case rs256, none, hs256, es256, corrupt
    /// RS256 by a key that is in no key set, under the published `kid`.
    case wrongKey = "wrong-key"
    /// RS256 by a key that is in no key set, under its own `kid`.
    case unknownKey = "unknown-key"
    /// HS256 with the PEM of the published public key as its secret.
    case hs256PublicKey = "hs256-public-key"
  }
}

extension SimulatorState {
  /// The key that signs now.
  func signingKey() -> SigningKey {
    SigningKeySource.shared.key(at: publishedKeys.last ?? 0)
  }

  /// An identity token as issued at a place, with the ordered tampering.
  mutating func identityToken(_ claims: [String: JSONValue], at place: OrderedTampering.Place) throws -> String {
    try token(claims, as: takeTampering(at: place)?.token ?? TokenOrder())
  }

  /// A token of claims, changed as ordered.
  func token(_ claims: [String: JSONValue], as order: TokenOrder) throws -> String {
    let published = signingKey()
    var header: [String: JSONValue] = ["alg": "RS256", "kid": .string(published.keyID), "typ": "JWT"]
    let signature: SimulatedJWS.Signature
    switch order.signature ?? .rs256 {
    case .rs256:
      signature = .rs256(published)
    case .corrupt:
      signature = .corrupt(published)
    case .none:
      header["alg"] = "none"
      signature = .none
    case .hs256:
      header["alg"] = "HS256"
      signature = .hs256(Array((order.secret ?? "").utf8))
    case .hs256PublicKey:
      header["alg"] = "HS256"
      signature = .hs256(Array(published.publicPEM.utf8))
    case .es256:
      header["alg"] = "ES256"
      signature = .es256(ES256PrivateKey())
    case .wrongKey:
      signature = .rs256(SigningKeySource.stranger.key(at: 0))
    case .unknownKey:
      let stranger = SigningKeySource.stranger.key(at: 0)
      header["kid"] = .string(stranger.keyID)
      signature = .rs256(stranger)
    }
    header = header.overlaid(with: order.header ?? [:])
    if let payload = order.payload {
      return try SimulatedJWS.token(header: header, payload: payload.utf8, signature: signature)
    }
    return try SimulatedJWS.token(
      header: header, claims: claims.overlaid(with: order.claims ?? [:]), signature: signature)
  }
}
