internal import TLSTransport

/// What a listener goes by and can change while it listens: limits, time-outs, whom it believes, which fields it keeps
/// to itself, where requests go, and its certificate.
///
/// Terms are made whole, files read and all, before any of them hold: putting them in place cannot fail.
package struct ListenerTerms: Sendable {
  let settings: ListenerSettings
  let rules: ForwardingRules
  /// By the number that ``ForwardingOrder/upstream`` has.
  let upstreams: [UpstreamTarget]
  let tls: TLSServerContext?

  /// Reads the certificate and its key.
  /// - Parameter upstreams: where forwarded requests go, by the number in their orders; none for a listener that forwards
  ///   none.
  /// - Throws: what OpenSSL has against the certificate or its key.
  package init(_ settings: ListenerSettings, rules: ForwardingRules, upstreams: [UpstreamTarget]) throws {
    self.settings = settings
    self.rules = rules
    self.upstreams = upstreams
    tls = try settings.tls.map { files in
      try TLSServerContext(
        certificateFile: files.certificateFile, privateKeyFile: files.privateKeyFile,
        applicationProtocols: settings.applicationProtocols)
    }
  }

  /// The certificate that connections are shown; nil for a listener in cleartext.
  package var certificate: ListenerCertificate? { tls.map { ListenerCertificate($0) } }
}
