internal import Cryptography
internal import WebFormats

/// A key that signs assertions: ES256 (RFC 7518, 3.4). A value cannot be printed.
package struct AssertionKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  let privateKey: ES256PrivateKey
  /// `kid`: the key's thumbprint (RFC 7638), so that it is the same wherever the key is used and needs no
  /// configuration.
  package let identifier: String
  /// The public half as a JWK (RFC 7517).
  let publicKey: PublicJWK

  /// - Parameters:
  ///   - pem: a private key, as `openssl ecparam -name prime256v1 -genkey` or `cordon keygen --assertion` makes one.
  ///   - name: the name of the file in error messages.
  package init(pem: some Collection<UInt8>, name: String) throws(AssertionKeyError) {
    guard let key = ES256PrivateKey(pem: pem) else { throw AssertionKeyError(name: name) }
    privateKey = key
    let coordinates = key.publicKey.coordinates
    let (x, y) = (Base64URL.text(coordinates.x), Base64URL.text(coordinates.y))
    let canonical = "{\"crv\":\"P-256\",\"kty\":\"EC\",\"x\":\"\(x)\",\"y\":\"\(y)\"}"
    identifier = Base64URL.text(SHA256.hash(canonical.utf8))
    publicKey = PublicJWK(identifier: identifier, x: x, y: y)
  }

  /// A new key, as the content of a file.
  package static func newFileContent() -> [UInt8] {
    Array(ES256PrivateKey().pem.utf8)
  }

  package var description: String { "AssertionKey(\(identifier))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The error for a file without a key that can sign assertions. An operator error.
package struct AssertionKeyError: Error, Sendable, Equatable {
  let name: String

  /// The problem.
  package var message: String { "\(name) holds no P-256 private key in PEM" }
  /// The remedy.
  package var remedy: String { "make one with: cordon keygen --assertion --output FILE" }
}

/// The members of a public key of the kind `EC` (RFC 7518, 6.2.1).
struct PublicJWK: Sendable, Encodable {
  let identifier: String
  let x: String
  let y: String

  private enum CodingKeys: String, CodingKey {
    case identifier = "kid"
    case kind = "kty"
    case curve = "crv"
    case algorithm = "alg"
    case usage = "use"
    case x, y
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(identifier, forKey: .identifier)
    try container.encode("EC", forKey: .kind)
    try container.encode("P-256", forKey: .curve)
    try container.encode("ES256", forKey: .algorithm)
    try container.encode("sig", forKey: .usage)
    try container.encode(x, forKey: .x)
    try container.encode(y, forKey: .y)
  }
}
