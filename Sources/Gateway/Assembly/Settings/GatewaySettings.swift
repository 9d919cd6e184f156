package import AccessPolicy
package import AppleIdentity
package import DataPlane
package import IdentityAssertion
internal import NIOCore
package import Operations
package import Pages
package import Sessions

/// The settings of a whole gateway: each part's own settings, side by side. Only the assembly knows them all.
package struct GatewaySettings: Sendable {
  /// The origin that browsers see.
  package var origin: PublicOrigin
  /// The path of the gateway's own endpoints, without a trailing slash, as in `/.auth`.
  package var prefix: String
  /// Authorities accepted in addition to the origin's.
  package var hosts: [String]
  /// The hosts that have a session cookie of their own (`[[host]]`).
  package var sites: [SiteSettings] = [] { didSet { routeTable = nil } }
  /// The number of event loops; 0 for one for each processor that the process may use.
  package var workers: Int
  /// The listeners (`[listen]`, `[[listener]]`).
  package var listener: ListenerSettings
  /// The address of the admin listener.
  package var adminAddress: BindAddress
  /// The authorization of the admin API (`[admin]`).
  package var admin: AdminSettings
  /// The application of routes that name none (`[upstream]`).
  package var upstream: UpstreamSettings
  /// Further applications, which routes name.
  package var upstreams: [UpstreamSettings]
  /// The registration with Apple (`[apple]`).
  package var apple: AppleSettings
  /// The HTTP proxy between this machine and Apple (`apple.proxy`). Default: nil: none.
  package var appleProxy: ConnectProxy?
  /// The sign-in of native apps (`[native]`).
  package var native: NativeSettings
  /// The authorization of requests for other proxies (`[verify]`).
  package var verify: VerifySettings
  /// The secrets, lifetimes and cookies of sessions (`[session]`).
  package var session: SessionSettings
  /// The interval and grace period of revalidations (`[revalidation]`).
  package var revalidation: RevalidationSettings
  /// The store of accounts and sessions (`[store]`).
  package var store: StoreSettings
  /// The identity headers (`[identity]`).
  package var identity: IdentityHeaderSettings
  /// The signed assertions (`[assertion]`).
  package var assertion: AssertionSettings
  /// The endpoint that Apple's notifications are forwarded to; nil if they are not.
  package var notificationRelay: EndpointAddress?
  /// The access of all routes that do not say otherwise (`[access]`).
  package var access: AccessSettings { didSet { routeTable = nil } }
  /// The routes (`[[route]]`), in the order of the file.
  package var routes: [RouteSettings] { didSet { routeTable = nil } }
  /// The groups of the configuration, without the members of their files.
  package var groups: [GroupConfiguration] { didSet { routeTable = nil } }
  /// The table of `access`, `routes`, `groups` and `sites`, if it was compiled when they were read; a change of one of
  /// them discards it.
  package var routeTable: RouteTable?
  /// The pages of `public_url` (`[pages]`).
  package var pages: PageSettings
  /// Apple's button on the sign-in page (`[pages.button]`).
  package var button: ButtonSettings
  /// The logs (`[log]`).
  package var log: LogSettings
  /// The graceful shutdown (`[shutdown]`).
  package var drain: DrainSettings
  /// Added to every response (`[headers]`).
  package var responseHeaders: [ResponseHeader] = []
  /// Starts of sign-ins for each client address (`limits.clients.sign_ins`); nil for no limit.
  package var signInRate: SignInRate?

  /// The settings that each gateway has; those of ``appleProxy``, ``responseHeaders``, ``signInRate`` and ``sites``
  /// may follow.
  package init(
    origin: PublicOrigin, prefix: String, hosts: [String], workers: Int, listener: ListenerSettings,
    adminAddress: BindAddress, admin: AdminSettings, upstream: UpstreamSettings, upstreams: [UpstreamSettings],
    apple: AppleSettings, native: NativeSettings, verify: VerifySettings, session: SessionSettings,
    revalidation: RevalidationSettings,
    store: StoreSettings, identity: IdentityHeaderSettings, assertion: AssertionSettings,
    notificationRelay: EndpointAddress?, access: AccessSettings, routes: [RouteSettings],
    groups: [GroupConfiguration], pages: PageSettings, button: ButtonSettings, log: LogSettings, drain: DrainSettings
  ) {
    self.origin = origin
    self.prefix = prefix
    self.hosts = hosts
    self.workers = workers
    self.listener = listener
    self.adminAddress = adminAddress
    self.admin = admin
    self.upstream = upstream
    self.upstreams = upstreams
    self.apple = apple
    self.native = native
    self.verify = verify
    self.session = session
    self.revalidation = revalidation
    self.store = store
    self.identity = identity
    self.assertion = assertion
    self.notificationRelay = notificationRelay
    self.access = access
    self.routes = routes
    self.groups = groups
    self.pages = pages
    self.button = button
    self.log = log
    self.drain = drain
  }
}

extension GatewaySettings {
  /// The public address of the gateway.
  var originSettings: OriginSettings { OriginSettings(origin: origin, prefix: prefix, hosts: hosts) }

  /// The authority of each site: that of `public_url`, then each `[[host]]`.
  var hostNames: [String] { [origin.authority] + sites.map(\.host.origin.authority) }

  /// The host names that browsers open, without ports.
  var publicHosts: [String] { [origin.host] + sites.map(\.host.origin.host) }

  /// The origin of each `[[host]]`, by the name of the host; of those with one name the one on the scheme's own port
  /// comes first. `public_url` has its name for itself.
  var hostOrigins: [(host: String, origin: String)] {
    let others = sites.map(\.host.origin).filter { $0.host != origin.host }
    let usual = others.filter { $0.port == $0.scheme.defaultPort }
    let unusual = others.filter { $0.port != $0.scheme.defaultPort }
    return (usual + unusual).map { ($0.host, $0.description) }
  }

  /// The groups of all deny lists, whose members stay members when their accounts are deleted.
  var denyGroups: Set<GroupName> { Set(access.denyGroups(with: routes).compactMap { GroupName($0) }) }

  /// The number of event loops: as configured, or one for each processor that the process may use.
  var eventLoops: Int { workers > 0 ? workers : AvailableProcessors.count }

  /// The minimum number of file descriptors for these settings: its own, and some for clients. Each event loop has
  /// two and one for each address, each connection to PostgreSQL one.
  package var leastDescriptors: Int {
    let connections =
      switch store.location {
      case .sqlite: 0
      case .postgreSQL: store.connections + 1
      }
    return 56 + eventLoops * (2 + listener.acceptors.count) + connections
  }

  /// The minimum number of threads for these settings, beside those that the process has when it reads them: the event
  /// loops, and those of tasks, of the log, of the store and of host names.
  package var leastThreads: Int { eventLoops + 4 }
}
