internal import AccessPolicy
internal import DataPlane
internal import Logging
internal import Pages
internal import Sessions

extension GateConfiguration {
  /// - Parameters:
  ///   - groups: with the members of their files; nil for those that the settings themselves list.
  ///   - assertions: nil if requests carry none.
  ///   - omissions: logs headers that cannot be sent.
  ///   - previous: the configuration before, at a reload.
  ///   - warnings: the limits of warnings of a first configuration; later ones keep those of `previous`.
  convenience init(
    _ settings: GatewaySettings, groups: GroupDirectory? = nil, keyring: SessionKeyring,
    assertions: SessionAssertions? = nil, omissions: HeaderOmissions = HeaderOmissions(nil),
    after previous: GateConfiguration? = nil, warnings: GateWarnings = GateWarnings(),
    logger: Logger = Logger(label: "cordon")
  ) throws {
    let routes = try settings.routing.compiled()
    let sessions = SessionConfiguration(
      session: settings.session, revalidation: settings.revalidation, identity: settings.identity,
      policy: UserPolicy(
        routes, groups ?? GroupDirectory(settings.routing.groups.map { $0.settings() }),
        allowsUnverifiedEmail: settings.identity.allowUnverifiedEmail),
      endCookies: EndCookies(
        settings.upstreams.cookies(of: routes), keyring, after: previous?.sessions.endCookies
      ) { upstream, cookie in
        logger.warning(
          "session cookie of an application is not HttpOnly, and is not bound to its account",
          metadata: ["upstream": "\(upstream)", "cookie": "\(cookie)"])
      },
      keyring: keyring, assertions: assertions, omissions: omissions, eventLoops: settings.eventLoops,
      after: previous?.sessions)
    let sites = try GateSites(
      settings.publicAddress, pages: settings.pages, hosts: settings.routing.sites.map { ($0.host, $0.pages) },
      routes: routes)
    self.init(
      sites: sites, paths: GatewayPaths(below: settings.publicAddress.prefix), routes: routes, sessions: sessions,
      verify: settings.verify, acceptsBearer: settings.native.acceptsBearer,
      showsSignInPage: settings.pages.showSignInPage, warnings: previous?.warnings ?? warnings)
  }
}

extension UpstreamTables {
  /// The cookies of the upstreams that routes name; nil is `[upstream]`.
  fileprivate func cookies(of routes: RouteTable) -> [EndCookies.UpstreamCookies] {
    let all = all
    let applications = UpstreamApplications(all)
    return routes.upstreams.map { name in
      let named = name.flatMap { name in self.named.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }
      let place = named.map { $0 + 1 } ?? 0
      return (all[place].name, applications.first[place], all[place].cookies)
    }
  }
}
