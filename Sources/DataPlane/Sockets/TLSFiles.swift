/// A PEM certificate chain and its PEM private key, as absolute paths.
package struct TLSFiles: Sendable, Equatable {
  /// The chain: the own certificate first, then each issuer's.
  package var certificateFile: String
  /// The key of the first certificate, without a passphrase. A key that others can read is refused when it is loaded.
  package var privateKeyFile: String

  /// Two paths; the files are read when a TLS context is made of them, and again at each reload.
  package init(certificateFile: String, privateKeyFile: String) {
    self.certificateFile = certificateFile
    self.privateKeyFile = privateKeyFile
  }
}
