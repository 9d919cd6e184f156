internal import TLSTransport

/// The configuration that can change while a listener runs: limits, time-outs, trusted proxies, which fields it keeps
/// to itself, where requests go, and its certificates.
///
/// A configuration is built completely, including reading its files, before any part of it takes effect; applying it
/// cannot fail.
package struct ListenerConfiguration: Sendable {
  let settings: ListenerSettings
  let rules: ForwardingRules
  /// Indexed by ``ForwardingDirective/upstream``.
  let upstreams: [UpstreamGroup]
  /// One for each of the settings' acceptors, at the same place; nil is one in cleartext.
  let tls: [AcceptorTLS?]

  /// Reads certificates and keys.
  /// - Parameters:
  ///   - upstreams: where forwarded requests go, indexed by ``ForwardingDirective/upstream``; none for a listener that
  ///     forwards none.
  ///   - previous: the current one, if any: TLS sessions that were created under it can be resumed.
  /// - Throws: `TLSConfigurationError` if OpenSSL rejects a certificate or key.
  package init(
    _ settings: ListenerSettings, rules: ForwardingRules, upstreams: [UpstreamGroup],
    after previous: ListenerConfiguration? = nil
  ) throws {
    self.settings = settings
    self.rules = rules
    self.upstreams = upstreams
    var tls: [AcceptorTLS?] = []
    for (place, acceptor) in settings.acceptors.enumerated() {
      let before = previous.flatMap { $0.tls.indices.contains(place) ? $0.tls[place] : nil }
      let protocols = acceptor.applicationProtocols
      tls.append(try acceptor.tls.map { try AcceptorTLS($0, applicationProtocols: protocols, after: before) })
    }
    self.tls = tls
  }

  /// The certificates of each listener with TLS.
  package var certificates: [ListenerCertificate] {
    zip(settings.acceptors, tls).compactMap { acceptor, tls in tls.map { ListenerCertificate(acceptor.name, $0) } }
  }

  /// Whether a file of a certificate or key has changed since it was last read, or could not be read at that moment.
  package var certificatesAreOutdated: Bool {
    tls.contains { $0?.isOutdated ?? false } || upstreams.contains(where: \.certificatesAreOutdated)
  }

  /// Reads certificates and keys again, also those for the upstreams. A context whose new files are invalid keeps the
  /// old ones.
  /// - Returns: what keeps them from it, with the remedy.
  package func reloadCertificates() -> [CertificateReloadFailure] {
    zip(settings.acceptors, tls).compactMap { acceptor, tls in
      do throws(TLSConfigurationError) {
        try tls?.reload()
        return nil
      } catch {
        return CertificateReloadFailure(of: "listener \(acceptor.name)", error)
      }
    } + reloadUpstreamCertificates()
  }

  /// As ``reloadCertificates()``, for the upstreams alone.
  package func reloadUpstreamCertificates() -> [CertificateReloadFailure] {
    upstreams.compactMap { $0.reloadCertificates() }
  }

  /// Makes new keys for session tickets where they are in memory.
  /// - Throws: `TLSConfigurationError` where OpenSSL has no randomness or memory.
  package func rotateTicketKeys() throws {
    for acceptor in tls { try acceptor?.rotateTicketKeys() }
  }
}
