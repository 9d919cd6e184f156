import Crypto

/// A client's key pair, as Apple's developer portal hands it out once in a `.p8`.
package struct ClientKey: Sendable, CustomStringConvertible {
  private let key: P256.Signing.PrivateKey

  /// A new key.
  package init() { key = P256.Signing.PrivateKey() }

  /// The key of a `.p8` (PKCS #8 in PEM).
  ///
  /// - Throws: an error of swift-crypto if it is no P-256 private key.
  package init(privateKeyPEM: String) throws { key = try P256.Signing.PrivateKey(pemRepresentation: privateKeyPEM) }

  /// The content of the `.p8`.
  package var privateKeyPEM: String { key.pemRepresentation }

  /// The public key, which is all that the simulator needs.
  package var publicKeyPEM: String { key.publicKey.pemRepresentation }

  /// Prints nothing of the key.
  package var description: String { "ClientKey" }
}
