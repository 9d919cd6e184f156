internal import Cryptography
internal import WebFormats

/// One of Apple's public keys: an identifier, the one algorithm it is for, and the key.
///
/// Made of a member of the JWK set (RFC 7517, 4). A key that we cannot use is ignored.
struct AppleKey: Sendable {
  let identifier: String
  private let verification: Verification

  private enum Verification {
    case rs256(RS256PublicKey)
    case es256(ES256PublicKey)
  }

  init?(jwk: [String: StrictJSON]) {
    guard let identifier = jwk["kid"]?.text, TokenAlgorithm.isKeyIdentifier(identifier) else { return nil }
    if let use = jwk["use"], use.text != "sig" { return nil }
    switch jwk["kty"]?.text {
    case "RSA":
      guard Self.names(jwk["alg"], "RS256"), let key = Self.rsaKey(jwk) else { return nil }
      verification = .rs256(key)
    case "EC":
      guard Self.names(jwk["alg"], "ES256"), let key = Self.ellipticKey(jwk) else { return nil }
      verification = .es256(key)
    default:
      return nil
    }
    self.identifier = identifier
  }

  /// The one algorithm that it verifies.
  var algorithm: TokenAlgorithm {
    switch verification {
    case .rs256: .rs256
    case .es256: .es256
    }
  }

  /// Whether this key made the signature, with the key's own algorithm.
  func isValid(signature: [UInt8], of signed: some Collection<UInt8>) -> Bool {
    switch verification {
    case .rs256(let key): key.isValid(signature: signature, of: signed)
    case .es256(let key): key.isValid(signature: signature, of: signed)
    }
  }

  /// Whether a key's `alg` is the one given, or absent: the key type then leaves no other choice.
  private static func names(_ alg: StrictJSON?, _ expected: String) -> Bool {
    alg.map { $0.text == expected } ?? true
  }

  private static func rsaKey(_ jwk: [String: StrictJSON]) -> RS256PublicKey? {
    guard let modulus = jwk["n"]?.text.flatMap({ Base64URL.decode($0.utf8) }),
      let exponent = jwk["e"]?.text.flatMap({ Base64URL.decode($0.utf8) })
    else { return nil }
    return RS256PublicKey(modulus: modulus, exponent: exponent)
  }

  private static func ellipticKey(_ jwk: [String: StrictJSON]) -> ES256PublicKey? {
    guard jwk["crv"]?.text == "P-256",
      let x = jwk["x"]?.text.flatMap({ Base64URL.decode($0.utf8) }),
      let y = jwk["y"]?.text.flatMap({ Base64URL.decode($0.utf8) })
    else { return nil }
    return ES256PublicKey(x: x, y: y)
  }
}

/// The algorithms that an identity token may be signed with. Apple documents ES256; the published keys are RS256.
enum TokenAlgorithm: String, Sendable {
  case rs256 = "RS256"
  case es256 = "ES256"

  /// Key identifiers are short and printable. Apple's have ten characters.
  static func isKeyIdentifier(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
