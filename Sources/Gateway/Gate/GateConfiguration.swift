internal import AccessPolicy
internal import HTTPWire
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// The configuration of every gate: immutable, and replaced as a whole at a reload.
final class GateConfiguration: Sendable {
  /// The host of `public_url`, with its aliases.
  let publicSite: GateSite
  /// Each `[[host]]`.
  let hosts: [GateSite]
  let prefix: String
  /// The path prefix of the gateway's own endpoints, with a trailing slash.
  let gatewayPaths: [UInt8]
  /// The whole path of the endpoint `verify`, which the gate answers on any authority.
  let verifyPath: [UInt8]
  /// The sources that `verify` believes of trusted proxies.
  let verify: VerifySettings
  let authorities: AuthorityList
  let routes: RouteTable
  let sessions: SessionConfiguration
  /// Whether `Authorization: Bearer` is accepted as a session's credential.
  let acceptsBearer: Bool
  let showsSignInPage: Bool
  /// Limits the warnings about denied `verify` requests, for each reason: clients can cause some of them, and must not
  /// hide the one that says what is wrong with the proxy.
  let verifyWarnings: LogLimit
  /// Limits the warnings about requests that meet no `networks` because their peer is not trusted.
  let networkWarnings: LogLimit
  /// Limits the warnings about proxies that rewrite `Host`.
  let rewrittenHostWarnings: LogLimit
  /// Limits the warnings about requests that fail.
  let failureWarnings: LogLimit

  /// - Parameters:
  ///   - sites: each `[[host]]`.
  ///   - previous: the configuration before, at a reload.
  init(
    _ settings: OriginSettings, sites: [(host: HostSettings, pages: PageSettings)], routes: RouteTable,
    sessions: SessionConfiguration, pages: PageSettings, native: NativeSettings, verify: VerifySettings,
    after previous: GateConfiguration?
  ) throws {
    publicSite = GateSite(settings, pages: pages)
    hosts = try sites.enumerated().map { index, site in
      try GateSite(site.host, pages: site.pages, index: index, prefix: settings.prefix, routes: routes)
    }
    prefix = settings.prefix
    gatewayPaths = Array((settings.prefix + "/").utf8)
    verifyPath = Array(GatewayEndpoint.verify.path(below: settings.prefix).utf8)
    authorities = try AuthorityList(origin: settings.origin, hosts: settings.hosts, sites: sites.map(\.host.origin))
    self.routes = routes
    self.sessions = sessions
    acceptsBearer = native.acceptsBearer
    self.verify = verify
    showsSignInPage = pages.showSignInPage
    verifyWarnings = previous?.verifyWarnings ?? LogLimit()
    networkWarnings = previous?.networkWarnings ?? LogLimit()
    rewrittenHostWarnings = previous?.rewrittenHostWarnings ?? LogLimit()
    failureWarnings = previous?.failureWarnings ?? LogLimit(lines: 10)
  }

  /// The same configuration with other members of its groups.
  init(_ configuration: GateConfiguration, groups: GroupDirectory) {
    publicSite = configuration.publicSite
    hosts = configuration.hosts
    prefix = configuration.prefix
    gatewayPaths = configuration.gatewayPaths
    verifyPath = configuration.verifyPath
    authorities = configuration.authorities
    routes = configuration.routes
    sessions = SessionConfiguration(configuration.sessions, policy: configuration.sessions.policy.with(groups))
    acceptsBearer = configuration.acceptsBearer
    verify = configuration.verify
    showsSignInPage = configuration.showsSignInPage
    verifyWarnings = configuration.verifyWarnings
    networkWarnings = configuration.networkWarnings
    rewrittenHostWarnings = configuration.rewrittenHostWarnings
    failureWarnings = configuration.failureWarnings
  }

  var keyring: SessionKeyring { sessions.keyring }
  /// The origin of `public_url`.
  var origin: PublicOrigin { publicSite.origin }
}

extension GateConfiguration {
  /// The site of a place that an authority names.
  @inline(__always)
  func site(_ place: AuthorityList.Place) -> GateSite {
    switch place {
    case .publicURL, .alias: publicSite
    case .site(let index): hosts[index]
    }
  }

  /// The site of an authority; nil if it names none.
  func site(of authority: Span<UInt8>) -> GateSite? { authorities.place(authority).map(site) }
}

extension GateConfiguration {
  /// The path of requests without one: `*`, or an absolute form with an authority alone.
  static let root: [UInt8] = [0x2F]

  /// Whether a path is below the prefix of the gateway's own endpoints.
  @inline(__always)
  func isGatewayPath(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let own = gatewayPaths
    guard path.count >= own.count, bytes.byte(at: path.lowerBound + 1) == own[1] else { return false }
    for offset in own.indices where bytes.byte(at: path.lowerBound + offset) != own[offset] { return false }
    return true
  }

  /// The result of routing a path.
  enum PathRouting {
    /// A path that the gateway refuses.
    case refused
    /// One of the gateway's own endpoints.
    case own
    case route(RouteDecision)
  }

  /// Finds the route of a path on a site.
  /// - Parameter method: that of the request; nil if it is not known, which takes the strictest rule of all methods.
  func route(_ path: Range<Int>, method: Range<Int>?, _ bytes: RawSpan, on site: GateSite) -> PathRouting {
    let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
    let classification = PathClassification.classify(text)
    if case .refused = classification { return .refused }
    if isGatewayPath(bytes, path) { return .own }
    guard let method else {
      return .route(routes.matchWithSessionParameter(text, classification, host: site.routes))
    }
    return .route(
      routes.matchWithSessionParameter(
        text, classification, method: bytes.extracting(method)._unsafeView(as: UInt8.self), host: site.routes))
  }
}
