import COpenSSL

/// Whose certificates a client believes.
public enum TLSTrust: Sendable, Equatable {
  /// The system's trust store (Debian: the package `ca-certificates`); `SSL_CERT_FILE` and `SSL_CERT_DIR` of the
  /// environment replace it, as with every program on OpenSSL.
  case system
  /// The PEM certificates in a file, and no others.
  case file(String)
}

/// What the TLS connections of a client share: whom they believe, and protocol settings. There is no way to verify
/// nothing.
public final class TLSClientContext: Sendable {
  let context: OpenSSLContext

  /// Reads the trusted certificates. TLS 1.2 and 1.3, cipher suites by the policy of the system's OpenSSL.
  ///
  /// - Parameters:
  ///   - trust: Whose certificates are believed.
  ///   - applicationProtocols: What is offered by ALPN (RFC 7301), the preferred one first; empty offers nothing.
  public init(trust: TLSTrust, applicationProtocols: [String]) throws(TLSConfigurationError) {
    self.context = try OpenSSLContext(role: .client, applicationProtocols: applicationProtocols)
    OpenSSLErrorQueue.clear()
    SSL_CTX_set_verify(self.context.pointer, SSL_VERIFY_PEER, nil)
    switch trust {
    case .system:
      // Certificates of the directory are looked up when they are needed and kept; a missing store is no error yet.
      try self.context.require(SSL_CTX_set_default_verify_paths(self.context.pointer) == 1)
    case .file(let path):
      try self.trustCertificates(in: path)
    }
    OpenSSLErrorQueue.clear()
  }

  private func trustCertificates(in path: String) throws(TLSConfigurationError) {
    let file = try CredentialFile(path: path)
    let reader = try PEMReader(file.bytes)
    guard let store = SSL_CTX_get_cert_store(self.context.pointer) else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    var count = 0
    while let certificate = try reader.nextCertificate(file: path) {
      OpenSSLErrorQueue.clear()
      guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
        throw .refused(file: path, reason: OpenSSLErrorQueue.drainText())
      }
      count += 1
    }
    guard count > 0 else { throw .noCertificate(file: path) }
  }
}
