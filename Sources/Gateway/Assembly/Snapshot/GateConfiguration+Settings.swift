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
    let routes =
      try settings.routeTable
      ?? RouteTable(
        access: settings.access, routes: settings.routes, groups: settings.groups.map(\.name),
        hosts: settings.sites.map(\.host))
    let sessions = SessionConfiguration(
      session: settings.session, revalidation: settings.revalidation, identity: settings.identity,
      policy: UserPolicy(
        routes, groups ?? GroupDirectory(settings.groups.map { $0.settings() }),
        allowsUnverifiedEmail: settings.identity.allowUnverifiedEmail),
      endCookies: EndCookies(
        settings.upstreamCookies(of: routes), keyring, after: previous?.sessions.endCookies
      ) { upstream, cookie in
        logger.warning(
          "session cookie of an application is not HttpOnly, and is not bound to its account",
          metadata: ["upstream": "\(upstream)", "cookie": "\(cookie)"])
      },
      keyring: keyring, assertions: assertions, omissions: omissions, eventLoops: settings.eventLoops,
      after: previous?.sessions)
    let sites = try GateSites(
      settings.originSettings, pages: settings.pages, hosts: settings.sites.map { ($0.host, $0.pages) }, routes: routes)
    self.init(
      sites: sites, paths: GatewayPaths(below: settings.prefix), routes: routes, sessions: sessions,
      verify: settings.verify, acceptsBearer: settings.native.acceptsBearer,
      showsSignInPage: settings.pages.showSignInPage, warnings: previous?.warnings ?? warnings)
  }
}

extension GatewaySettings {
  /// The cookies of the upstreams that routes name; nil is `[upstream]`.
  fileprivate func upstreamCookies(of routes: RouteTable) -> [EndCookies.UpstreamCookies] {
    let all = [upstream] + upstreams
    let applications = UpstreamApplications(all)
    return routes.upstreams.map { name in
      let named = name.flatMap { name in upstreams.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }
      let place = named.map { $0 + 1 } ?? 0
      return (all[place].name, applications.first[place], all[place].cookies)
    }
  }
}
