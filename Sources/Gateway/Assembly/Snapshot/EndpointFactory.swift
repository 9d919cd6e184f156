internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import Pages
internal import Sessions
internal import WebFormats

/// Builds the endpoints of all sites for one configuration.
struct EndpointFactory {
  let services: EndpointServices
  let settings: GatewaySettings
  let keys: GatewayKeys
  let gate: GateConfiguration
  let button: AppleButton
  /// Nil for no limit.
  let signInLimit: SignInLimit?

  /// The endpoints of each site, by its number.
  func endpoints() -> [SiteEndpoints] {
    [publicEndpoints().endpoints] + gate.sites.hosts.map { hostEndpoints(of: $0).endpoints }
  }

  // MARK: Sites

  /// The parts that the endpoints of one site share.
  private struct SiteParts {
    let origin: OriginSettings
    let pages: EndpointPages
    let returnTargets: ReturnTargets
    let requestSessions: RequestSessions
    let evaluator: AccessEvaluator
  }

  private func site(_ site: GateSite, _ origin: OriginSettings) -> SiteParts {
    SiteParts(
      origin: origin, pages: EndpointPages(site.pages), returnTargets: ReturnTargets(origin),
      requestSessions: RequestSessions(
        keyring: keys.keyring, scope: site.scope, native: settings.native, sessions: services.sessions),
      evaluator: AccessEvaluator(policy: policy, host: site.routes))
  }

  private func publicEndpoints() -> EndpointTable {
    let site = site(gate.sites.publicSite, settings.publicAddress)
    let appReturns = AppReturns(native: settings.native, keyring: keys.keyring, logger: services.logger)
    let handOver = HandOver(
      hosts: gate.sites.hosts, prefix: settings.publicAddress.prefix, keyring: keys.keyring,
      requestSessions: site.requestSessions,
      policy: policy, schedule: gate.sessions.schedule, logger: services.logger)
    return EndpointTable(
      pages: site.pages, storeHealth: services.storeHealth, signInLimit: signInLimit,
      authorize: AuthorizeEndpoint(
        origin: site.origin, showsSignInPage: settings.pages.showSignInPage, apple: keys.apple, button: button,
        keyring: keys.keyring, pages: site.pages, returnTargets: site.returnTargets,
        requestSessions: site.requestSessions, appReturns: appReturns, handOver: handOver, evaluator: site.evaluator,
        shortestMaxAge: settings.routing.shortestMaxAge,
        metrics: services.metrics, logger: services.logger),
      callback: callback(site, appReturns, handOver),
      session: session(site), signOut: signOut(site), account: account(site),
      native: NativeEndpoint(
        origin: site.origin, native: settings.native, keyring: keys.keyring, pages: site.pages,
        requestSessions: site.requestSessions, codeExchange: codeExchange, creation: creation, reset: reset),
      button: ButtonEndpoint(button: button, pages: site.pages),
      notifications: NotificationEndpoint(
        verifier: keys.apple.notifications, sessions: services.sessions, appleMonitor: services.appleMonitor,
        relay: services.relay, denyGroups: settings.routing.denyGroups, metrics: services.metrics, audit: keys.audit,
        logger: services.logger),
      keys: AssertionKeys(keys.signer),
      invitation: InvitationEndpoint(
        origin: site.origin, pages: site.pages, requestSessions: site.requestSessions, store: services.store,
        storeHealth: services.storeHealth, sessions: services.sessions, evaluator: site.evaluator,
        hosts: gate.sites.hosts, audit: keys.audit),
      people: people(site), accessRequest: accessRequest(site), keptForm: keptForm(site))
  }

  private func hostEndpoints(of host: GateSite) -> HostEndpointTable {
    let site = site(host, OriginSettings(origin: host.origin, prefix: settings.publicAddress.prefix, hosts: []))
    return HostEndpointTable(
      pages: site.pages, signInLimit: signInLimit,
      visit: VisitEndpoint(
        origin: site.origin, publicOrigin: settings.publicAddress, keyring: keys.keyring, pages: site.pages,
        returnTargets: site.returnTargets, evaluator: site.evaluator, logger: services.logger),
      arrival: ArrivalEndpoint(
        origin: site.origin, scope: host.scope, keyring: keys.keyring, pages: site.pages,
        requestSessions: site.requestSessions, sessions: services.sessions, creation: creation, reset: reset,
        audit: keys.audit),
      session: session(site), signOut: signOut(site), button: ButtonEndpoint(button: button, pages: site.pages),
      accessRequest: accessRequest(site), keptForm: keptForm(site))
  }

  // MARK: Endpoints

  private func callback(_ site: SiteParts, _ appReturns: AppReturns, _ handOver: HandOver) -> CallbackEndpoint {
    CallbackEndpoint(
      responseMode: keys.apple.settings.responseMode, keyring: keys.keyring, pages: site.pages,
      requestSessions: site.requestSessions,
      verification: SignInVerification(
        redirectURI: site.origin.redirectURI, requestSessions: site.requestSessions, codeExchange: codeExchange,
        creation: creation),
      responses: SignInResponses(
        keyring: keys.keyring, pages: site.pages, appReturns: appReturns, handOver: handOver, creation: creation,
        reset: reset),
      failures: services.signInFailures, logger: services.logger)
  }

  private func session(_ site: SiteParts) -> SessionEndpoint {
    SessionEndpoint(pages: site.pages, sessions: site.requestSessions, tokens: services.tokens, policy: policy)
  }

  private func signOut(_ site: SiteParts) -> SignOutEndpoint {
    SignOutEndpoint(
      origin: site.origin, pages: site.pages, returnTargets: site.returnTargets,
      requestSessions: site.requestSessions, sessions: services.sessions, reset: reset, audit: keys.audit)
  }

  private func account(_ site: SiteParts) -> AccountEndpoint {
    AccountEndpoint(
      origin: site.origin, pages: site.pages, requestSessions: site.requestSessions, sessions: services.sessions,
      removal: AccountRemoval(
        sessions: services.sessions, store: services.store, apple: keys.apple, keyring: keys.keyring,
        denyGroups: settings.routing.denyGroups, metrics: services.metrics, audit: keys.audit),
      storeHealth: services.storeHealth, policy: policy, reset: reset, audit: keys.audit, logger: services.logger)
  }

  private func accessRequest(_ site: SiteParts) -> AccessRequestEndpoint {
    AccessRequestEndpoint(
      origin: site.origin, isEnabled: settings.routing.access.requests, pages: site.pages,
      returnTargets: site.returnTargets,
      requestSessions: site.requestSessions, sessions: services.sessions, store: services.store,
      storeHealth: services.storeHealth, evaluator: site.evaluator, audit: keys.audit)
  }

  private func keptForm(_ site: SiteParts) -> KeptFormEndpoint {
    KeptFormEndpoint(pages: site.pages, requestSessions: site.requestSessions, keyring: keys.keyring)
  }

  private func people(_ site: SiteParts) -> PeopleEndpoint {
    let authority = ManagerAuthority(settings.routing.access, settings.routing.routes, site.evaluator)
    let accessChanges = AccessChanges(
      store: services.store, sessions: services.sessions, policy: policy, memberPlace: settings.memberPlace,
      invitationPrefix: settings.invitationPrefix, storeHealth: services.storeHealth, metrics: services.metrics,
      audit: keys.audit)
    return PeopleEndpoint(
      origin: site.origin, pages: site.pages, requestSessions: site.requestSessions, authority: authority,
      lists: PeopleLists(
        store: services.store, authority: authority, storeHealth: services.storeHealth, sessions: services.sessions),
      acts: PeopleActs(
        accessChanges: accessChanges, store: services.store, sessions: services.sessions, authority: authority,
        audit: keys.audit),
      storeHealth: services.storeHealth, sessions: services.sessions, audit: keys.audit, refusals: services.refusals)
  }

  // MARK: Parts of several endpoints

  private var policy: UserPolicy { gate.sessions.policy }

  private var reset: BrowserReset {
    BrowserReset(
      settings.upstreams.all.flatMap(\.cookiesOfClients),
      clearedData: settings.session.clearedData, isSecure: settings.publicAddress.origin.scheme == .https, keys.keyring)
  }

  private var codeExchange: CodeExchange {
    CodeExchange(
      apple: keys.apple, monitor: services.appleMonitor, failures: services.signInFailures, logger: services.logger)
  }

  private var creation: SessionCreation {
    SessionCreation(
      store: services.store, storeHealth: services.storeHealth, sessions: services.sessions, policy: policy,
      prefix: settings.publicAddress.prefix, keyring: keys.keyring, settings: settings.session,
      metrics: services.metrics,
      audit: keys.audit, failures: services.signInFailures, logger: services.logger)
  }
}
