internal import WebFormats

/// The header of a JWS (RFC 7515, 4.1), validated before any key is looked up.
struct TokenHeader: Equatable {
  let algorithm: TokenAlgorithm
  let keyIdentifier: String

  /// - Parameter encoded: the first part of the token, still in base64url.
  init(encoded: some Collection<UInt8>) throws(IdentityTokenError) {
    guard let bytes = Base64URL.decode(encoded),
      let header = try? StrictJSON.object(bytes, maximumBytes: 4096, maximumDepth: 4)
    else { throw .malformed("header") }
    guard let name = header["alg"]?.text else { throw .algorithmRefused("(none given)") }
    guard let algorithm = TokenAlgorithm(rawValue: name) else {
      throw .algorithmRefused(LogText.sanitized(name, maximumBytes: 16))
    }
    guard header["crit"] == nil else { throw .criticalExtension }
    // An unencoded payload (RFC 7797) would change what is signed.
    guard header["b64"] == nil else { throw .criticalExtension }
    for name in ["jwk", "jku", "x5u", "x5c"] where header[name] != nil {
      throw .foreignKeyOffered(name)
    }
    guard let keyIdentifier = header["kid"]?.text, TokenAlgorithm.isKeyIdentifier(keyIdentifier) else {
      throw .malformed("header")
    }
    self.algorithm = algorithm
    self.keyIdentifier = keyIdentifier
  }
}
