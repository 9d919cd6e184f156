import COpenSSL

/// Shared by the TLS connections of a client: trusted authorities, client certificate, and protocol settings.
/// Verification cannot be disabled.
package final class TLSClientContext: Sendable {
  let context: OpenSSLContext

  /// Reads the trusted certificates and the client certificate. TLS 1.2 and 1.3, cipher suites by the policy of the
  /// system's OpenSSL.
  ///
  /// - Parameters:
  ///   - trust: the certificates that are trusted.
  ///   - identity: the certificate for a server that requests one; nil for none.
  ///   - applicationProtocols: the protocols offered by ALPN (RFC 7301), the preferred one first; empty for no offer.
  package init(
    trust: TLSTrust, identity: TLSServerSettings.CertificateFiles? = nil, applicationProtocols: [String]
  ) throws(TLSConfigurationError) {
    context = try OpenSSLContext(role: .client, applicationProtocols: applicationProtocols)
    OpenSSLErrorQueue.clear()
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    switch trust {
    case .system:
      // Certificates of the directory are looked up when they are needed and kept; a missing store is not an error yet.
      try context.require(SSL_CTX_set_default_verify_paths(context.pointer) == 1)
    case .file(let path):
      try context.trust(try Certificate.all(in: try CredentialFile(path: path)), of: path)
    }
    if let identity {
      try TLSIdentity(certificateFile: identity.certificateFile, privateKeyFile: identity.privateKeyFile)
        .install(in: context)
    }
    TLSClientSessions.install(in: context)
    OpenSSLErrorQueue.clear()
  }
}
