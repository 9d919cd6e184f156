import COpenSSL
import Glibc

/// Shared by the connections of a TLS listener: certificates, keys and protocol settings. Immutable: a new one is
/// created when the files change, and connections of the old one are kept.
package final class TLSServerContext: Sendable {
  /// The initial context of connections: the first certificate, and those that serve a name with it.
  var context: OpenSSLContext { contexts[0] }

  private let settings: TLSServerSettings
  private let identities: [TLSIdentity]
  private let authority: ClientAuthority?
  /// Whether clients are asked for a certificate.
  var asksForCertificates: Bool { authority != nil }
  /// One for each set of certificates, at the same index.
  private let contexts: [OpenSSLContext]
  private let ring: TicketKeyRing
  private let choice: CertificateChoice
  private let chooser: ContextChooser?
  private let now: @Sendable () -> Int64

  /// Time after a full handshake for which its session can be resumed, however often, in seconds: two hours.
  package static let ticketLifetime: Int64 = 7_200

  /// Reads certificates and keys. TLS 1.2 (only with forward secrecy and authenticated encryption) and TLS 1.3, the
  /// client's preference among the cipher suites, no renegotiation, session tickets but no session cache. No early data
  /// (0-RTT), which can be replayed: OpenSSL's default.
  package convenience init(_ settings: TLSServerSettings, ticketKeys: TLSTicketKeys) throws(TLSConfigurationError) {
    try self.init(settings, ticketKeys: ticketKeys, now: { SystemClock.now() })
  }

  /// - Parameter now: the time in seconds since 1970, for the age of sessions.
  convenience init(
    _ settings: TLSServerSettings, ticketKeys: TLSTicketKeys, now: @escaping @Sendable () -> Int64
  ) throws(TLSConfigurationError) {
    var identities: [TLSIdentity] = []
    for files in settings.certificates {
      identities.append(
        try TLSIdentity(certificateFile: files.certificateFile, privateKeyFile: files.privateKeyFile))
    }
    var authority: ClientAuthority?
    if let clients = settings.clients { authority = try ClientAuthority(clients) }
    try self.init(settings, identities, authority, ticketKeys, now)
  }

  /// One certificate, and ticket keys in memory.
  package convenience init(
    certificateFile: String, privateKeyFile: String, applicationProtocols: [String]
  ) throws(TLSConfigurationError) {
    try self.init(
      TLSServerSettings(
        certificates: [.init(certificateFile: certificateFile, privateKeyFile: privateKeyFile)],
        applicationProtocols: applicationProtocols),
      ticketKeys: .random())
  }

  private init(
    _ settings: TLSServerSettings, _ identities: [TLSIdentity], _ authority: ClientAuthority?, _ keys: TLSTicketKeys,
    _ now: @escaping @Sendable () -> Int64
  ) throws(TLSConfigurationError) {
    guard !identities.isEmpty else { throw .noIdentity }
    let ring = TicketKeyRing(keys, now: now)
    var contexts: [OpenSSLContext] = []
    let choice = CertificateChoice(identities.map { (CertificateNames(of: $0.chain.leaf), $0.keyType) })
    for set in choice.sets {
      contexts.append(try Self.makeContext(set.map { identities[$0] }, settings, authority, ring))
    }
    self.settings = settings
    self.identities = identities
    self.authority = authority
    self.contexts = contexts
    self.ring = ring
    self.now = now
    self.choice = choice
    chooser = contexts.count > 1 ? ContextChooser(contexts, choice) : nil
    if let chooser {
      chooser.install(in: contexts[0])
    } else {
      // Without a callback OpenSSL does not keep the name that a client asks for (SNI, RFC 6066, 3).
      _ = cordon_SSL_CTX_set_tlsext_servername_callback(contexts[0].pointer) { _, _, _ in SSL_TLSEXT_ERR_OK }
    }
  }

  /// A context with the same certificates and other ticket keys.
  package func with(_ keys: TLSTicketKeys) throws(TLSConfigurationError) -> TLSServerContext {
    try TLSServerContext(settings, identities, authority, keys, now)
  }

  private static func makeContext(
    _ identities: [TLSIdentity], _ settings: TLSServerSettings, _ authority: ClientAuthority?, _ ring: TicketKeyRing
  ) throws(TLSConfigurationError) -> OpenSSLContext {
    let context = try OpenSSLContext(role: .server, applicationProtocols: settings.applicationProtocols)
    OpenSSLErrorQueue.clear()
    try context.require(SSL_CTX_set_cipher_list(context.pointer, Self.tls12CipherSuites) == 1)
    try context.require(cordon_SSL_CTX_set1_groups_list(context.pointer, Self.groups) == 1)
    // Tickets are only accepted by the kind of server that issued them.
    let identifier = authority?.identifier ?? Array("cordon".utf8)
    try context.require(
      SSL_CTX_set_session_id_context(context.pointer, identifier, UInt32(identifier.count)) == 1)
    _ = SSL_CTX_set_timeout(context.pointer, Int(Self.ticketLifetime))
    try ring.install(in: context)
    try authority?.install(in: context)
    for identity in identities { try identity.install(in: context) }
    return context
  }

  // MARK: Names and dates

  /// Whether one of the certificates lists a host name, itself or by a wildcard.
  package func lists(_ host: String) -> Bool { choice.setIndex(for: Array(host.utf8)) != nil }

  /// The earliest expiry of the certificates, in seconds since 1970.
  package var certificateExpiry: Int64 { expiries.map(\.expiry).min() ?? 0 }

  /// When each certificate expires, in seconds since 1970, with its file.
  package var expiries: [(file: String, expiry: Int64)] {
    identities.map { ($0.certificateFile, $0.validity.upperBound) }
  }

  /// The worst warning for the operator about the certificates' dates; nil without one. It refuses nothing: a gateway
  /// with an expired certificate still serves clients that ignore it, and health checks.
  ///
  /// - Parameter now: the time in seconds since 1970.
  package func certificateWarning(at now: Int64) -> TLSCertificateWarning? {
    let warnings = identities.compactMap { $0.warning(at: now) }
    return warnings.first { $0.isRefusal } ?? warnings.first
  }

  /// The files of certificates that no browser can use, because of the kind of their key, and that serve their names
  /// without another one that browsers can use.
  package var filesForNoBrowser: [String] {
    let sets = choice.sets.filter { $0.allSatisfy { identities[$0].isForNoBrowser } }
    return Set(sets.joined()).sorted().map { identities[$0].certificateFile }
  }

  /// The subjects of those authorities for clients that have also issued a certificate of the server's own chains.
  package var sharedAuthorities: [String] {
    var subjects: [String] = []
    for identity in identities {
      for subject in authority?.issuers(in: identity.chain) ?? [] where !subjects.contains(subject) {
        subjects.append(subject)
      }
    }
    return subjects
  }

  /// The files whose chain of certificates is incomplete for clients, each with the issuer that is missing: it is
  /// neither in the file nor among the roots of this system. Reads those roots.
  package func missingIssuers() throws(TLSConfigurationError) -> [(file: String, issuer: String)] {
    var missing: [(file: String, issuer: String)] = []
    for identity in identities {
      guard let issuer = try identity.chain.missingIssuer() else { continue }
      missing.append((identity.certificateFile, issuer))
    }
    return missing
  }

  /// Mozilla's "intermediate" recommendation without its finite-field suites (slow, and unused by clients that know
  /// TLS 1.2): every one is acceptable to HTTP/2 (RFC 9113, 9.2.2). TLS 1.3 has suites of its own.
  private static let tls12CipherSuites =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

  private static let groups = "X25519:P-256:P-384"
}

/// Selects a certificate that lists the name that a client requests (SNI, RFC 6066, 3). OpenSSL refers to it by
/// an unretained pointer, which the ``TLSServerContext`` keeps valid.
private final class ContextChooser: Sendable {
  private let contexts: [OpenSSLContext]
  private let choice: CertificateChoice

  init(_ contexts: [OpenSSLContext], _ choice: CertificateChoice) {
    self.contexts = contexts
    self.choice = choice
  }

  func install(in context: OpenSSLContext) {
    _ = cordon_SSL_CTX_set_tlsext_servername_callback(context.pointer) { ssl, _, argument in
      guard let ssl, let argument else { return SSL_TLSEXT_ERR_ALERT_FATAL }
      let chooser = Unmanaged<ContextChooser>.fromOpaque(argument).takeUnretainedValue()
      guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return SSL_TLSEXT_ERR_OK }
      let bytes = UnsafeRawBufferPointer(start: name, count: strlen(name))
      guard let index = chooser.choice.setIndex(for: bytes), index > 0 else { return SSL_TLSEXT_ERR_OK }
      return SSL_set_SSL_CTX(ssl, chooser.contexts[index].pointer) == nil
        ? SSL_TLSEXT_ERR_ALERT_FATAL : SSL_TLSEXT_ERR_OK
    }
    _ = cordon_SSL_CTX_set_tlsext_servername_arg(context.pointer, Unmanaged.passUnretained(self).toOpaque())
  }
}
