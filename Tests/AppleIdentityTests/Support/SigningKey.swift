import Crypto
import CryptoExtras
import FoundationEssentials

/// A key that signs tokens as Apple would, without any of the code under test.
struct SigningKey: Sendable {
  let identifier: String
  private let key: Kind

  private enum Kind: Sendable {
    case rsa(_RSA.Signing.PrivateKey)
    case elliptic(P256.Signing.PrivateKey)
  }

  static func rsa(_ identifier: String, _ key: _RSA.Signing.PrivateKey) -> SigningKey {
    SigningKey(identifier: identifier, key: .rsa(key))
  }

  static func elliptic(_ identifier: String) -> SigningKey {
    SigningKey(identifier: identifier, key: .elliptic(P256.Signing.PrivateKey()))
  }

  /// Making an RSA key takes its time, so there is one for all tests.
  static let sharedRSA = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  var algorithm: String {
    switch key {
    case .rsa: "RS256"
    case .elliptic: "ES256"
    }
  }

  func signature(of text: String) throws -> [UInt8] {
    let digest = SHA256.hash(data: Array(text.utf8))
    switch key {
    case .rsa(let key): return Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
    case .elliptic(let key): return Array(try key.signature(for: digest).rawRepresentation)
    }
  }

  /// The public half as a member of a JWK set.
  /// - Parameter changing: members to replace, or to leave out when empty.
  func jwk(changing changes: [String: String] = [:]) throws -> String {
    var members = ["kid": identifier, "use": "sig", "alg": algorithm]
    switch key {
    case .rsa(let key):
      let primitives = try key.publicKey.getKeyPrimitives()
      members["kty"] = "RSA"
      members["n"] = base64url(primitives.modulus)
      members["e"] = base64url(primitives.publicExponent)
    case .elliptic(let key):
      let point = Array(key.publicKey.rawRepresentation)
      members["kty"] = "EC"
      members["crv"] = "P-256"
      members["x"] = base64url(point[..<32])
      members["y"] = base64url(point[32...])
    }
    members.merge(changes) { $1 }
    let pairs = members.filter { !$0.value.isEmpty }.map { "\"\($0.key)\":\"\($0.value)\"" }
    return "{\(pairs.sorted().joined(separator: ","))}"
  }

  /// The bytes that an HS256 attacker would take for the secret: the public key as it is published.
  var publishedForm: [UInt8] {
    switch key {
    case .rsa(let key): Array(key.publicKey.pemRepresentation.utf8)
    case .elliptic(let key): Array(key.publicKey.pemRepresentation.utf8)
    }
  }
}

func base64url(_ bytes: some Sequence<UInt8>) -> String {
  String(
    Data(bytes).base64EncodedString().compactMap { character -> Character? in
      switch character {
      case "+": "-"
      case "/": "_"
      case "=": nil
      default: character
      }
    })
}

func jwks(_ members: String...) -> String {
  "{\"keys\":[\(members.joined(separator: ","))]}"
}
