import Cryptography
import Synchronization

/// One of the RSA keys that identity tokens and notifications are signed with.
struct SigningKey: Sendable {
  /// Ten characters, as Apple's are.
  let keyID: String
  private let key = RS256PrivateKey()

  init() {
    keyID = String(randomText(bytes: 12).filter { $0 != "-" && $0 != "_" }.prefix(10))
  }

  /// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, 3.3), which is what `RS256` says.
  /// Nil if OpenSSL fails.
  func signature(of bytes: [UInt8]) -> [UInt8]? { key.signature(of: bytes) }

  /// The public half as the key set shows it (RFC 7517).
  func publicJWK() -> JSONValue {
    let numbers = key.publicKey.numbers
    return .object([
      "kty": "RSA", "kid": .string(keyID), "use": "sig", "alg": "RS256",
      "n": .string(base64URL(numbers.modulus)), "e": .string(base64URL(numbers.exponent)),
    ])
  }

  /// The public half in PEM, which an attacker could use as an HS256 key.
  var publicPEM: String { key.publicKey.pem }
}

/// The keys that the simulators of one process sign with, made once and in order: an RSA key takes a noticeable
/// fraction of a second, and a test run starts many simulators.
final class SigningKeySource: Sendable {
  /// The keys that can be published.
  static let shared = SigningKeySource()
  /// Keys that are never published.
  static let stranger = SigningKeySource()

  private let made = Mutex<[SigningKey]>([])

  /// The key at an index, created on first use.
  func key(at index: Int) -> SigningKey {
    made.withLock { keys in
      while keys.count <= index { keys.append(SigningKey()) }
      return keys[index]
    }
  }
}
