/// Files of trusted certificates, as checks of a configuration look at them.
package enum TLSAuthorityFile {
  /// The longest accepted file, in bytes; the same for certificate chains.
  package static let sizeLimit = CredentialFile.limit

  /// Whether PEM text has a certificate of an authority; nil if it has no certificate at all, or a damaged one before.
  package static func holdsAuthority(_ pem: [UInt8]) -> Bool? {
    defer { OpenSSLErrorQueue.clear() }
    do throws(TLSConfigurationError) {
      let reader = try PEMReader(pem)
      var isEmpty = true
      while let certificate = try reader.nextCertificate(file: "") {
        if certificate.isAuthority { return true }
        isEmpty = false
      }
      return isEmpty ? nil : false
    } catch {
      return nil
    }
  }
}
