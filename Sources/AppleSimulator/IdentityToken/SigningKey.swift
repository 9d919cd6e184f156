import Crypto
import CryptoExtras
import FoundationEssentials
import Synchronization

/// One of the RSA keys that identity tokens and notifications are signed with.
struct SigningKey: Sendable {
  /// Ten characters, as Apple's are.
  let keyID: String
  private let key: _RSA.Signing.PrivateKey

  init() throws {
    keyID = String(randomText(bytes: 12).filter { $0 != "-" && $0 != "_" }.prefix(10))
    key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
  }

  /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 section 3.3), which is what `RS256` says.
  func signature(of bytes: some DataProtocol) throws -> Data {
    try key.signature(for: SHA256.hash(data: bytes), padding: .insecurePKCS1v1_5).rawRepresentation
  }

  /// The public half as the key set shows it (RFC 7517).
  func publicJWK() throws -> JSONValue {
    let primitives = try key.publicKey.getKeyPrimitives()
    return .object([
      "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
      "n": .string(base64URL(primitives.modulus)), "e": .string(base64URL(primitives.publicExponent)),
    ])
  }

  /// The public half in PEM: what an attacker keys HS256 with.
  var publicPEM: String { key.publicKey.pemRepresentation }
}

/// The keys that the simulators of one process sign with, made once and in order: an RSA key takes a noticeable
/// fraction of a second, and a test run starts many simulators.
final class SigningKeySource: Sendable {
  /// The keys that can be published.
  static let shared = SigningKeySource()
  /// Keys that never are.
  static let stranger = SigningKeySource()

  private let made = Mutex<[SigningKey]>([])

  /// The key at a place, which is made when it does not exist yet.
  func key(at index: Int) throws -> SigningKey {
    try made.withLock { keys in
      while keys.count <= index { keys.append(try SigningKey()) }
      return keys[index]
    }
  }
}
