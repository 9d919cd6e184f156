internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import Logging
internal import NIOCore
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// Builds configuration snapshots: from settings, and from the services that outlive a reload.
struct SnapshotFactory: Sendable {
  let store: any SessionStore
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let tokens: MachineTokenSessions
  let revalidator: Revalidator
  let relay: NotificationRelay
  let metrics: MetricsRegistry
  let logger: Logger
  /// Limits the audit of refused acts on the people page; shared by all configurations.
  let refusals = RefusalAudit()
  /// The event loop of calls to Apple and of health checks.
  let eventLoop: any EventLoop

  /// Builds the snapshot of a reload.
  /// - Throws: the problem of these settings, with the remedy.
  func make(_ settings: GatewaySettings, after previous: ConfigurationSnapshot) async throws -> ConfigurationSnapshot {
    let keys = try await GatewayKeys(settings, metrics: metrics, on: eventLoop, after: previous.keys)
    try await keys.keyring.requireEveryKey(of: store, after: previous.keys.keyring)
    return try await make(settings, keys: keys, after: previous)
  }

  /// - Parameters:
  ///   - keys: read from the same settings.
  ///   - previous: the present snapshot, at a reload: unchanged parts are kept.
  /// - Throws: the problem of these settings, with the remedy.
  func make(
    _ settings: GatewaySettings, keys: GatewayKeys, after previous: ConfigurationSnapshot? = nil
  ) async throws -> ConfigurationSnapshot {
    let members = try MembersFiles(settings.groups, after: previous?.members)
    let gate = try GateConfiguration(
      settings, groups: members.directory, keyring: keys.keyring,
      assertions: SessionAssertions(
        settings.assertion, allowsUnverifiedEmail: settings.identity.allowUnverifiedEmail, signer: keys.signer,
        logger: logger),
      omissions: HeaderOmissions(logger), after: previous?.gate, logger: logger)
    let button = try await AppleButton(
      settings, metrics: metrics, logger: logger, on: eventLoop, after: previous?.button)
    let upstreams = try await WatchedUpstream.all(
      of: settings, routes: gate.routes, keeping: previous?.upstreams ?? [], on: eventLoop)
    let listener = try ListenerConfiguration(
      settings.listener,
      rules: ForwardingRules(
        reservedNames: settings.identity.headers.map(\.name), keptNames: settings.identity.keptHeaders,
        upstreamNames: ([settings.upstream] + settings.upstreams).flatMap { $0.removedHeaders + $0.ownHeaders },
        sessionCookieName: keys.keyring.cookies.session,
        standardCookieName: CookieNames.standard.session, scheme: settings.origin.scheme.rawValue,
        origin: settings.origin.description, hostOrigins: settings.hostOrigins, ownPathPrefix: settings.prefix,
        responseHeaders: ResponseHeaders(settings.responseHeaders)),
      upstreams: upstreams.map(\.target), after: previous?.listener)
    let limit = SignInLimit(
      settings.signInRate, trustedProxies: settings.listener.acceptors.flatMap(\.trustedProxies), metrics: metrics,
      logger: logger, after: previous?.signInLimit)
    let endpoints = endpoints(settings, keys, gate, button, limit)
    return ConfigurationSnapshot(
      settings: settings, keys: keys, gate: gate, button: button,
      endpoints: endpoints, upstreams: upstreams, listener: listener,
      adminAuthorization: try AdminAuthorization(settings.admin, at: settings.adminAddress),
      relayRoute: try await NotificationRelay.Route(
        to: settings.notificationRelay, settings.assertion, signer: keys.signer, on: eventLoop),
      members: members, signInLimit: limit)
  }

  /// Builds the snapshot with other members of the same groups.
  func make(_ members: MembersFiles, after previous: ConfigurationSnapshot) -> ConfigurationSnapshot {
    let gate = GateConfiguration(previous.gate, groups: members.directory)
    let endpoints = endpoints(
      previous.settings, previous.keys, gate, previous.button, previous.signInLimit)
    return ConfigurationSnapshot(
      settings: previous.settings, keys: previous.keys, gate: gate, button: previous.button,
      endpoints: endpoints, upstreams: previous.upstreams, listener: previous.listener,
      adminAuthorization: previous.adminAuthorization, relayRoute: previous.relayRoute, members: members,
      signInLimit: previous.signInLimit)
  }

  /// The endpoints of each site, by its number.
  private func endpoints(
    _ settings: GatewaySettings, _ keys: GatewayKeys, _ gate: GateConfiguration, _ button: AppleButton,
    _ limit: SignInLimit?
  ) -> [SiteEndpoints] {
    [publicEndpoints(settings, keys, gate, button, limit).endpoints]
      + gate.hosts.map { hostEndpoints(of: $0, settings, keys, gate, button, limit).endpoints }
  }

  private func publicEndpoints(
    _ settings: GatewaySettings, _ keys: GatewayKeys, _ gate: GateConfiguration, _ button: AppleButton,
    _ limit: SignInLimit?
  ) -> EndpointTable {
    let origin = settings.originSettings
    let pages = EndpointPages(gate.publicSite.pages)
    let returnTargets = ReturnTargets(origin)
    let requestSessions = RequestSessions(
      keyring: keys.keyring, scope: gate.publicSite.scope, native: settings.native, sessions: sessions)
    let appReturns = AppReturns(native: settings.native, keyring: keys.keyring, logger: logger)
    let handOver = HandOver(
      hosts: gate.hosts, prefix: settings.prefix, keyring: keys.keyring, requestSessions: requestSessions,
      policy: gate.sessions.policy, schedule: gate.sessions.schedule, logger: logger)
    let creation = creation(settings, keys, gate)
    let evaluator = AccessEvaluator(policy: gate.sessions.policy)
    let reset = reset(settings, keys)
    return EndpointTable(
      pages: pages, storeHealth: storeHealth, signInLimit: limit,
      authorize: AuthorizeEndpoint(
        origin: origin, showsSignInPage: settings.pages.showSignInPage, apple: keys.apple, button: button,
        keyring: keys.keyring, pages: pages, returnTargets: returnTargets, requestSessions: requestSessions,
        appReturns: appReturns, handOver: handOver, evaluator: evaluator,
        shortestMaxAge: ([settings.access.maxAge] + settings.routes.compactMap(\.maxAge)).filter { $0 > 0 }.min(),
        metrics: metrics, logger: logger),
      callback: CallbackEndpoint(
        origin: origin, apple: keys.apple, keyring: keys.keyring, pages: pages, requestSessions: requestSessions,
        appReturns: appReturns, handOver: handOver, creation: creation, reset: reset, accounts: store, logger: logger),
      session: SessionEndpoint(
        pages: pages, sessions: requestSessions, tokens: tokens, policy: gate.sessions.policy),
      signOut: SignOutEndpoint(
        origin: origin, pages: pages, returnTargets: returnTargets, requestSessions: requestSessions,
        sessions: sessions, reset: reset, audit: keys.audit),
      account: AccountEndpoint(
        origin: origin, pages: pages, requestSessions: requestSessions, sessions: sessions,
        removal: AccountRemoval(
          sessions: sessions, store: store, apple: keys.apple, keyring: keys.keyring,
          denyGroups: settings.denyGroups, metrics: metrics, audit: keys.audit),
        storeHealth: storeHealth, policy: gate.sessions.policy, reset: reset, audit: keys.audit),
      native: NativeEndpoint(
        origin: origin, apple: keys.apple, native: settings.native, keyring: keys.keyring, pages: pages,
        requestSessions: requestSessions, creation: creation),
      button: ButtonEndpoint(button: button, pages: pages),
      notifications: NotificationEndpoint(
        verifier: keys.apple.notifications, sessions: sessions, relay: relay, denyGroups: settings.denyGroups,
        metrics: metrics, audit: keys.audit, logger: logger),
      keys: AssertionKeys(keys.signer),
      invitation: InvitationEndpoint(
        origin: origin, pages: pages, requestSessions: requestSessions, store: store, storeHealth: storeHealth,
        sessions: sessions, evaluator: evaluator, hosts: gate.hosts, audit: keys.audit),
      people: people(settings, keys, pages, requestSessions, evaluator),
      accessRequest: accessRequest(settings, keys, origin, pages, requestSessions, evaluator),
      keptForm: KeptFormEndpoint(pages: pages, requestSessions: requestSessions, keyring: keys.keyring))
  }

  private func hostEndpoints(
    of site: GateSite, _ settings: GatewaySettings, _ keys: GatewayKeys, _ gate: GateConfiguration,
    _ button: AppleButton, _ limit: SignInLimit?
  ) -> HostEndpointTable {
    let origin = OriginSettings(origin: site.origin, prefix: settings.prefix, hosts: [])
    let pages = EndpointPages(site.pages)
    let returnTargets = ReturnTargets(origin)
    let requestSessions = RequestSessions(
      keyring: keys.keyring, scope: site.scope, native: settings.native, sessions: sessions)
    let evaluator = AccessEvaluator(policy: gate.sessions.policy, host: site.routes)
    return HostEndpointTable(
      pages: pages, signInLimit: limit,
      visit: VisitEndpoint(
        origin: origin, publicOrigin: settings.originSettings, keyring: keys.keyring, pages: pages,
        returnTargets: returnTargets, evaluator: evaluator, logger: logger),
      arrival: ArrivalEndpoint(
        origin: origin, scope: site.scope, keyring: keys.keyring, pages: pages, requestSessions: requestSessions,
        sessions: sessions, creation: creation(settings, keys, gate), reset: reset(settings, keys), audit: keys.audit),
      session: SessionEndpoint(
        pages: pages, sessions: requestSessions, tokens: tokens, policy: gate.sessions.policy),
      signOut: SignOutEndpoint(
        origin: origin, pages: pages, returnTargets: returnTargets, requestSessions: requestSessions,
        sessions: sessions, reset: reset(settings, keys), audit: keys.audit),
      button: ButtonEndpoint(button: button, pages: pages),
      accessRequest: accessRequest(settings, keys, origin, pages, requestSessions, evaluator),
      keptForm: KeptFormEndpoint(pages: pages, requestSessions: requestSessions, keyring: keys.keyring))
  }

  private func reset(_ settings: GatewaySettings, _ keys: GatewayKeys) -> BrowserReset {
    BrowserReset(
      ([settings.upstream] + settings.upstreams).flatMap(\.cookiesOfClients),
      clearedData: settings.session.clearedData, isSecure: settings.origin.scheme == .https, keys.keyring)
  }

  private func creation(
    _ settings: GatewaySettings, _ keys: GatewayKeys, _ gate: GateConfiguration
  ) -> SessionCreation {
    SessionCreation(
      store: store, storeHealth: storeHealth, sessions: sessions, revalidator: revalidator,
      apple: keys.apple, policy: gate.sessions.policy, prefix: settings.prefix, keyring: keys.keyring,
      settings: settings.session, metrics: metrics, audit: keys.audit, logger: logger)
  }

  private func accessRequest(
    _ settings: GatewaySettings, _ keys: GatewayKeys, _ origin: OriginSettings, _ pages: EndpointPages,
    _ requestSessions: RequestSessions, _ evaluator: AccessEvaluator
  ) -> AccessRequestEndpoint {
    AccessRequestEndpoint(
      origin: origin, isEnabled: settings.access.requests, pages: pages, returnTargets: ReturnTargets(origin),
      requestSessions: requestSessions, sessions: sessions, store: store, storeHealth: storeHealth,
      evaluator: evaluator, audit: keys.audit)
  }

  private func people(
    _ settings: GatewaySettings, _ keys: GatewayKeys, _ pages: EndpointPages, _ requestSessions: RequestSessions,
    _ evaluator: AccessEvaluator
  ) -> PeopleEndpoint {
    let authority = ManagerAuthority(settings.access, settings.routes, evaluator)
    let administration = AccessChanges(
      store: store, sessions: sessions, policy: evaluator.policy, memberPlace: settings.memberPlace,
      invitationPrefix: settings.invitationPrefix, storeHealth: storeHealth, metrics: metrics, audit: keys.audit)
    return PeopleEndpoint(
      origin: settings.originSettings, pages: pages, requestSessions: requestSessions, authority: authority,
      lists: PeopleLists(store: store, authority: authority, storeHealth: storeHealth, clock: sessions.clock),
      acts: PeopleActs(
        administration: administration, store: store, sessions: sessions, authority: authority, audit: keys.audit),
      storeHealth: storeHealth, clock: sessions.clock, audit: keys.audit, refusals: refusals)
  }
}

extension GatewaySettings {
  /// The cookies of an upstream that routes name; nil is `[upstream]`.
  fileprivate func upstreamCookies(named name: String?) -> (upstream: String, cookies: UpstreamCookieSettings) {
    let named = name.flatMap { name in upstreams.first { $0.name.utf8.elementsEqual(name.utf8) } } ?? upstream
    return (named.name, named.cookies)
  }

  /// The groups of all deny lists, whose members stay members when their accounts are deleted.
  var denyGroups: Set<GroupName> { Set(access.denyGroups(with: routes).compactMap { GroupName($0) }) }

  /// The public address of the gateway.
  var originSettings: OriginSettings { OriginSettings(origin: origin, prefix: prefix, hosts: hosts) }
}

extension GateConfiguration {
  /// - Parameters:
  ///   - groups: with the members of their files; nil for those that the settings themselves list.
  ///   - assertions: nil if requests carry none.
  ///   - omissions: logs headers that cannot be sent.
  ///   - previous: the configuration before, at a reload.
  convenience init(
    _ settings: GatewaySettings, groups: GroupDirectory? = nil, keyring: SessionKeyring,
    assertions: SessionAssertions? = nil, omissions: HeaderOmissions = HeaderOmissions(nil),
    after previous: GateConfiguration? = nil, logger: Logger = Logger(label: "cordon")
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
        routes.upstreams.map { settings.upstreamCookies(named: $0) }, keyring, after: previous?.sessions.endCookies
      ) { upstream, cookie in
        logger.warning(
          "session cookie of an application is not HttpOnly, and is not bound to its account",
          metadata: ["upstream": "\(upstream)", "cookie": "\(cookie)"])
      },
      keyring: keyring, assertions: assertions, omissions: omissions, eventLoops: settings.eventLoops,
      after: previous?.sessions)
    try self.init(
      settings.originSettings, sites: settings.sites.map { ($0.host, $0.pages) }, routes: routes, sessions: sessions,
      pages: settings.pages, native: settings.native, verify: settings.verify, after: previous)
  }
}

extension Revalidator.Dependencies {
  init(_ keys: GatewayKeys, _ settings: RevalidationSettings) {
    self.init(apple: keys.apple, keyring: keys.keyring, audit: keys.audit, interval: settings.interval)
  }
}
