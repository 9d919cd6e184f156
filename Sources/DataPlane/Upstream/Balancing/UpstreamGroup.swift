internal import Synchronization
internal import TLSTransport
internal import WebFormats

/// An upstream that connections can be made to: its settings, and what is shared of its addresses.
package struct UpstreamGroup: Sendable {
  /// The settings that it was made with.
  package let settings: UpstreamSettings
  /// The limits of its connections, and of those of other groups.
  package let limits: ConnectionLimits
  let endpoints: [UpstreamEndpoint]
  /// Nil if no address is `https:`, and for connections that are counted separately.
  private let tls: UpstreamTLS?

  /// - Parameters:
  ///   - proxy: the HTTP proxy that connections are made through; it looks names up. Default: nil: none.
  ///   - limits: those of the groups whose connections count together. Default: its own alone.
  /// - Throws: ``TLSConfigurationError`` when the trust store cannot be read.
  package init(
    _ settings: UpstreamSettings, proxy: ConnectProxy? = nil, limits: ConnectionLimits = ConnectionLimits()
  ) throws {
    try self.init(settings, proxy: proxy, limits: limits, lookup: SystemResolver.addresses)
  }

  /// - Parameter lookup: finds the addresses of a name; may block.
  init(
    _ settings: UpstreamSettings, proxy: ConnectProxy? = nil, limits: ConnectionLimits = ConnectionLimits(),
    lookup: @escaping NameResolver.Lookup
  ) throws(TLSConfigurationError) {
    self.settings = settings
    self.limits = limits
    var tls: UpstreamTLS?
    var endpoints: [UpstreamEndpoint] = []
    for address in settings.addresses.prefix(UpstreamSettings.addressLimit) {
      if case .tcp(_, _, tls: true) = address, tls == nil {
        tls = try UpstreamTLS(settings.tls, applicationProtocol: settings.speaks)
      }
      let limiter = limits.limiter(of: settings, to: address)
      switch address {
      case .tcp(let host, let port, let isTLS):
        let (nearest, nearestPort) = proxy.map { ($0.host, $0.port) } ?? (host, port)
        let name = IPAddress(nearest) == nil ? NameResolver(nearest, port: nearestPort, lookup: lookup) : nil
        endpoints.append(UpstreamEndpoint(address, proxy: proxy, tls: isTLS ? tls : nil, name: name, limiter: limiter))
      case .unix: endpoints.append(UpstreamEndpoint(address, tls: nil, name: nil, limiter: limiter))
      }
    }
    self.endpoints = endpoints
    self.tls = tls
  }

  private init(_ settings: UpstreamSettings, endpoints: [UpstreamEndpoint]) {
    self.settings = settings
    limits = ConnectionLimits()
    self.endpoints = endpoints
    tls = nil
  }

  /// Whether a file of a certificate or key has changed since it was last read, or could not be read at that moment.
  package var certificatesAreOutdated: Bool { tls?.isOutdated ?? false }

  /// Whether certificates and keys are still those of its connections. Reads them as a reload would; changes nothing.
  /// - Throws: `TLSConfigurationError` if they are invalid.
  package func hasPresentCertificates() throws -> Bool {
    let isOutdated = certificatesAreOutdated
    try tls?.validate()
    return !isOutdated
  }

  /// Reads certificates and keys again, for the connections to come.
  /// - Parameter owner: the name in the failure. Default: nil: `upstream NAME`.
  /// - Returns: what keeps it from that, with the remedy; then the old ones stay.
  package func reloadCertificates(of owner: String? = nil) -> CertificateReloadFailure? {
    do throws(TLSConfigurationError) {
      try tls?.reload()
      return nil
    } catch {
      return CertificateReloadFailure(of: owner ?? "upstream \(settings.name)", error)
    }
  }

  /// Takes over what was learned of the same addresses: that an application speaks HTTP/1.0, so that no upload is sent
  /// to it in chunks.
  package func learn(from known: UpstreamGroup) {
    for endpoint in known.endpoints where endpoint.isHTTP10 {
      for same in endpoints where same.address == endpoint.address { same.learnHTTP10() }
    }
  }

  /// Whether it is the very same, not only one described in the same words.
  package func isSame(as other: UpstreamGroup) -> Bool {
    endpoints.count == other.endpoints.count && zip(endpoints, other.endpoints).allSatisfy { $0 === $1 }
  }

  /// A group for each address, whose connections are counted separately from those of requests.
  func apart() -> [UpstreamGroup] { endpoints.map { UpstreamGroup(settings, endpoints: [$0.apart()]) } }

  /// The state of its addresses.
  package var status: [UpstreamAddressStatus] {
    endpoints.map { endpoint in
      let failsChecks = endpoint.failsChecks.load(ordering: .relaxed)
      return UpstreamAddressStatus(
        upstream: settings.name, address: endpoint.address.description,
        isEjected: endpoint.isEjected,
        hasAnswered: endpoint.hasAnswered.load(ordering: .relaxed),
        failsChecks: failsChecks, checkFailure: failsChecks ? endpoint.checkFailure.withLock { $0 } : nil,
        ejections: endpoint.ejections.load(ordering: .relaxed), failures: endpoint.failures.load(ordering: .relaxed),
        malformed: endpoint.malformed.load(ordering: .relaxed),
        lastFailureWasMalformed: endpoint.lastFailureWasMalformed.load(ordering: .relaxed),
        waiting: endpoint.limiter.waitingCount)
    }
  }
}
