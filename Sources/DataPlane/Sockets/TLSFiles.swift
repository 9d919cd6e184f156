/// A PEM certificate chain and its PEM private key, as absolute paths.
package struct TLSFiles: Sendable, Equatable {
  package var certificateFile: String
  package var privateKeyFile: String

  package init(certificateFile: String, privateKeyFile: String) {
    self.certificateFile = certificateFile
    self.privateKeyFile = privateKeyFile
  }
}
