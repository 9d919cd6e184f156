import Cryptography
import FoundationEssentials

/// A signed token in compact serialization (RFC 7515, 7.1), also one that no honest issuer would make.
///
/// Written by hand on purpose: a JWT library refuses to create most of the tokens that a gateway must refuse.
enum SimulatedJWS {
  /// The signature of a token.
  enum Signature: Sendable {
    /// As Apple does.
    case rs256(SigningKey)
    /// An EC key that is in no key set.
    case es256(ES256PrivateKey)
    /// With a shared secret.
    case hs256([UInt8])
    /// Nothing after the last dot.
    case none
    /// A valid signature with one byte changed.
    case corrupt(SigningKey)
  }

  /// A token of a header and claims. Members are in alphabetical order.
  static func token(
    header: [String: JSONValue], claims: [String: JSONValue], signature: Signature
  ) throws -> String {
    try token(header: header, payload: encodeJSON(.object(claims)), signature: signature)
  }

  /// A token whose payload is any bytes.
  static func token(
    header: [String: JSONValue], payload: some Sequence<UInt8>, signature: Signature
  ) throws -> String {
    let signed = base64URL(try encodeJSON(.object(header))) + "." + base64URL(payload)
    return signed + "." + base64URL(try sign(Array(signed.utf8), with: signature))
  }

  private static func sign(_ bytes: [UInt8], with signature: Signature) throws -> [UInt8] {
    switch signature {
    case .rs256(let key):
      return try made(key.signature(of: bytes))
    case .es256(let key):
      return try made(key.signature(of: bytes))
    case .hs256(let secret):
      return HMACSHA256.code(for: bytes, using: SymmetricKey(secret))
    case .none:
      return []
    case .corrupt(let key):
      var bytes = try made(key.signature(of: bytes))
      bytes[7] ^= 0x10
      return bytes
    }
  }

  private static func made(_ signature: [UInt8]?) throws -> [UInt8] {
    guard let signature else { throw SigningFailed() }
    return signature
  }

  private struct SigningFailed: Error {}
}

/// JSON with the members of objects in alphabetical order and slashes as they are.
func encodeJSON(_ value: JSONValue) throws -> Data {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return try encoder.encode(value)
}
