import Cryptography

/// A client's key pair, as Apple's developer portal hands it out once in a `.p8`.
package struct ClientKey: Sendable, CustomStringConvertible {
  private let key: ES256PrivateKey

  /// A new key.
  package init() { key = ES256PrivateKey() }

  /// The key of a `.p8` (PKCS #8 in PEM). Nil if it is not a P-256 private key.
  package init?(privateKeyPEM: String) {
    guard let key = ES256PrivateKey(pem: privateKeyPEM.utf8) else { return nil }
    self.key = key
  }

  /// The content of the `.p8`.
  package var privateKeyPEM: String { key.pem }

  /// The public key, which is all that the simulator needs.
  package var publicKeyPEM: String { key.publicKey.pem }

  /// Prints nothing of the key.
  package var description: String { "ClientKey" }
}
