import COpenSSL

/// What the connections of a TLS listener share: certificate, key and protocol settings. Read from files once; a new
/// one is made when the files change, and connections made from the old one go on.
public final class TLSServerContext: Sendable {
  let context: OpenSSLContext
  private let validity: ClosedRange<Int64>

  /// Reads certificate and key. TLS 1.2 (only with forward secrecy and authenticated encryption) and TLS 1.3, the
  /// client's preference among the cipher suites, no renegotiation, session tickets but no session cache.
  ///
  /// - Parameters:
  ///   - certificateFile: PEM, the server's own certificate first, then the intermediate ones.
  ///   - privateKeyFile: PEM, without passphrase. A file open to others is refused.
  ///   - applicationProtocols: What ALPN (RFC 7301) may agree on, the preferred one first, for example `h2` and
  ///     `http/1.1`. A client that offers protocols and none of these is refused; one that offers nothing is served.
  ///     Empty: the client's offer is ignored.
  public init(
    certificateFile: String, privateKeyFile: String, applicationProtocols: [String]
  ) throws(TLSConfigurationError) {
    let identity = try TLSIdentity(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    self.validity = identity.validity
    self.context = try OpenSSLContext(role: .server, applicationProtocols: applicationProtocols)
    OpenSSLErrorQueue.clear()
    try self.context.require(SSL_CTX_set_cipher_list(self.context.pointer, Self.tls12CipherSuites) == 1)
    try self.context.require(cordon_SSL_CTX_set1_groups_list(self.context.pointer, Self.groups) == 1)
    // Tickets are only taken back by the kind of server that gave them.
    let identifier = Array("cordon".utf8)
    try self.context.require(
      SSL_CTX_set_session_id_context(self.context.pointer, identifier, UInt32(identifier.count)) == 1)
    // Without a callback OpenSSL does not keep the name that a client asks for (SNI, RFC 6066 section 3).
    _ = cordon_SSL_CTX_set_tlsext_servername_callback(self.context.pointer) { _, _, _ in SSL_TLSEXT_ERR_OK }
    try identity.install(in: self.context)
  }

  /// When the certificate expires, in seconds since 1970.
  public var certificateExpiry: Int64 { self.validity.upperBound }

  /// What the operator should be told about the certificate's dates; nil when there is nothing to tell. Nothing is
  /// refused for it: a gateway with an expired certificate still serves clients that do not mind, and health checks.
  ///
  /// - Parameters:
  ///   - now: The time in seconds since 1970.
  ///   - notice: How long before the expiry it is worth telling, in seconds. Default: 1,209,600 (14 days).
  public func certificateWarning(at now: Int64, notice: Int64 = 1_209_600) -> TLSCertificateWarning? {
    if now >= self.validity.upperBound { return .expired(since: self.validity.upperBound) }
    if now < self.validity.lowerBound { return .notYetValid(until: self.validity.lowerBound) }
    // Neither side can overflow: dates of certificates have four-digit years, and now is between two of them.
    return self.validity.upperBound - now < notice ? .expiresSoon(at: self.validity.upperBound) : nil
  }

  /// Mozilla's "intermediate" recommendation without its finite-field suites (slow, and unused by clients that know
  /// TLS 1.2): every one is acceptable to HTTP/2 (RFC 9113, section 9.2.2). TLS 1.3 has suites of its own.
  private static let tls12CipherSuites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

  private static let groups = "X25519:P-256:P-384"
}

/// What is to be said about the dates of a certificate, in seconds since 1970.
public enum TLSCertificateWarning: Sendable, Equatable {
  case expired(since: Int64)
  case notYetValid(until: Int64)
  case expiresSoon(at: Int64)

  /// What is the matter, and what to do.
  public var message: String {
    switch self {
    case .expired: "the certificate has expired, browsers refuse it: renew it"
    case .notYetValid: "the certificate is not valid yet, browsers refuse it: check the clock, or wait"
    case .expiresSoon: "the certificate expires soon: renew it"
    }
  }
}
