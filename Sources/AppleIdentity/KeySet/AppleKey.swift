internal import JWTKit
internal import WebFormats

/// One of Apple's public keys: an identifier, the one algorithm it is for, and the key.
///
/// Made of a member of the JWK set (RFC 7517 4). A key that we cannot use is no key, and does not spoil the others.
struct AppleKey: Sendable {
  let identifier: String
  let algorithm: TokenAlgorithm
  private let verification: any JWTAlgorithm

  init?(jwk: [String: StrictJSON]) async {
    guard let identifier = jwk["kid"]?.text, TokenAlgorithm.isKeyIdentifier(identifier) else { return nil }
    if let use = jwk["use"], use.text != "sig" { return nil }
    // A collection of one key: of several, jwt-kit takes the first when it does not know an identifier, and would
    // verify with a key that the token did not name.
    let collection = JWTKeyCollection()
    switch jwk["kty"]?.text {
    case "RSA":
      guard Self.names(jwk["alg"], "RS256"), let key = Self.rsaKey(jwk) else { return nil }
      await collection.add(rsa: key, digestAlgorithm: .sha256)
      algorithm = .rs256
    case "EC":
      guard Self.names(jwk["alg"], "ES256"), let key = Self.ellipticKey(jwk) else { return nil }
      await collection.add(ecdsa: key)
      algorithm = .es256
    default:
      return nil
    }
    guard let verification = try? await collection.getKey() else { return nil }
    self.identifier = identifier
    self.verification = verification
  }

  /// Whether this key made the signature, with the key's own algorithm.
  func isValid(signature: [UInt8], of signed: some Collection<UInt8>) -> Bool {
    // Errors are thrown only for bytes that are no signature.
    (try? verification.verify(signature, signs: Array(signed))) ?? false
  }

  /// Whether a key's `alg` is the one given, or absent: the key type then leaves no other choice.
  private static func names(_ alg: StrictJSON?, _ expected: String) -> Bool {
    alg.map { $0.text == expected } ?? true
  }

  /// At least 2048 bits, and at most 8192: a longer one only costs time.
  private static func rsaKey(_ jwk: [String: StrictJSON]) -> Insecure.RSA.PublicKey? {
    guard let modulus = jwk["n"]?.text, let exponent = jwk["e"]?.text,
      let modulusBytes = Base64URL.decode(modulus.utf8), let exponentBytes = Base64URL.decode(exponent.utf8),
      (256...1024).contains(modulusBytes.drop(while: { $0 == 0 }).count), (1...8).contains(exponentBytes.count)
    else { return nil }
    // jwt-kit refuses what is under 2048 bits.
    return try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
  }

  private static func ellipticKey(_ jwk: [String: StrictJSON]) -> ES256PublicKey? {
    guard jwk["crv"]?.text == "P-256", let x = jwk["x"]?.text, let y = jwk["y"]?.text,
      Base64URL.decode(x.utf8)?.count == 32, Base64URL.decode(y.utf8)?.count == 32
    else { return nil }
    return try? ES256PublicKey(parameters: (x, y))
  }
}

/// The algorithms that an identity token may be signed with. The pages say ES256, the published keys are RS256.
enum TokenAlgorithm: String, Sendable {
  case rs256 = "RS256"
  case es256 = "ES256"

  /// Key identifiers are short and printable. Apple's have ten characters.
  static func isKeyIdentifier(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
