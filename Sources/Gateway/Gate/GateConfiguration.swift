internal import AccessPolicy
internal import Sessions

/// The configuration of every gate: immutable, and replaced as a whole at a reload.
final class GateConfiguration: Sendable {
  let sites: GateSites
  let paths: GatewayPaths
  let routes: RouteTable
  let sessions: SessionConfiguration
  /// The headers of trusted proxies by which `verify` knows the original request.
  let verify: VerifySettings
  /// Whether `Authorization: Bearer` is accepted as a session's credential.
  let acceptsBearer: Bool
  let showsSignInPage: Bool
  let warnings: GateWarnings

  init(
    sites: GateSites, paths: GatewayPaths, routes: RouteTable, sessions: SessionConfiguration, verify: VerifySettings,
    acceptsBearer: Bool, showsSignInPage: Bool, warnings: GateWarnings
  ) {
    self.sites = sites
    self.paths = paths
    self.routes = routes
    self.sessions = sessions
    self.verify = verify
    self.acceptsBearer = acceptsBearer
    self.showsSignInPage = showsSignInPage
    self.warnings = warnings
  }

  /// The same configuration with other members of its groups.
  func with(_ groups: GroupDirectory) -> GateConfiguration {
    GateConfiguration(
      sites: sites, paths: paths, routes: routes, sessions: sessions.with(groups), verify: verify,
      acceptsBearer: acceptsBearer, showsSignInPage: showsSignInPage, warnings: warnings)
  }

  var keyring: SessionKeyring { sessions.keyring }
  /// The origin of `public_url`.
  var origin: PublicOrigin { sites.publicSite.origin }
}

extension GateConfiguration {
  /// The path of requests without one: `*`, or an absolute form with an authority alone.
  static let root: [UInt8] = [0x2F]

  /// The result of routing a path.
  enum PathRouting {
    /// A path that the gateway refuses.
    case refused
    /// One of the gateway's own endpoints.
    case own
    case route(RouteDecision)
  }

  /// Finds the route of a path on a site.
  /// - Parameters:
  ///   - method: that of the request; nil if it is not known, which takes the strictest rule of all methods.
  ///   - depth: see ``DepthField``.
  func route(
    _ path: Range<Int>, method: Range<Int>?, depth: RequestDepth = .everything, _ bytes: RawSpan, on site: GateSite
  ) -> PathRouting {
    let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
    let classification = PathClassification.classify(text)
    if case .refused = classification { return .refused }
    if paths.contains(bytes, path) { return .own }
    guard let method else {
      return .route(routes.matchWithSessionParameter(text, classification, host: site.routes))
    }
    return .route(
      routes.matchWithSessionParameter(
        text, classification, method: bytes.extracting(method)._unsafeView(as: UInt8.self), depth: depth,
        host: site.routes))
  }
}
