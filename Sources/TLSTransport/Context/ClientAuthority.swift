import COpenSSL

/// The certificates of the authorities that a server trusts for clients, read from a file.
final class ClientAuthority: Sendable {
  private let file: String
  private let certificates: [Certificate]
  private let areRequired: Bool
  /// The session ID context of tickets: SHA-256 of the rule and the authorities. It prevents that a ticket of another
  /// server, or of an earlier configuration, which did not request a client certificate, bypasses the request.
  let identifier: [UInt8]

  init(_ settings: TLSServerSettings.Clients) throws(TLSConfigurationError) {
    let file = try CredentialFile(path: settings.authorityFile)
    self.file = settings.authorityFile
    certificates = try Certificate.all(in: file)
    areRequired = settings.areRequired
    let message = (settings.areRequired ? [1] : [0]) + file.bytes
    var digest = [UInt8](repeating: 0, count: 32)
    OpenSSLErrorQueue.clear()
    guard EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil) == 1 else {
      throw .libraryFailure(reason: OpenSSLErrorQueue.drainText())
    }
    identifier = digest
  }

  /// The subjects of those authorities that have issued a certificate of a chain.
  func issuers(in chain: CertificateChain) -> [String] {
    defer { OpenSSLErrorQueue.clear() }
    let chain = [chain.leaf] + chain.others
    return certificates.filter { authority in chain.contains { authority.isIssuer(of: $0) } }.map(\.subject)
  }

  /// Makes a context request and verify client certificates.
  func install(in context: OpenSSLContext) throws(TLSConfigurationError) {
    try context.trust(certificates, of: file)
    for certificate in certificates {
      // Sent to the client, which may have one certificate for each authority.
      try context.require(SSL_CTX_add_client_CA(context.pointer, certificate.pointer) == 1)
    }
    let mode = SSL_VERIFY_PEER | (areRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0)
    SSL_CTX_set_verify(context.pointer, mode, nil)
  }
}
