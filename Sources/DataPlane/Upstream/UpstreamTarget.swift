package import TLSTransport

/// An upstream that connections can be made to: its settings, with the TLS context that they ask for.
package struct UpstreamTarget: Sendable {
  package let settings: UpstreamSettings
  package let tls: TLSClientContext?

  /// - Throws: ``TLSConfigurationError`` when the trust store cannot be read.
  package init(_ settings: UpstreamSettings) throws(TLSConfigurationError) {
    self.settings = settings
    if case .tcp(_, _, tls: true) = settings.address {
      tls = try TLSClientContext(trust: .system, applicationProtocols: ["http/1.1"])
    } else {
      tls = nil
    }
  }
}
