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
  /// The address that browsers see.
  package var publicAddress: OriginSettings
  /// The listeners (`[listen]`, `[[listener]]`).
  package var listener: ListenerSettings
  /// The number of event loops; 0 for one for each processor that the process may use.
  package var workers = 0
  /// The address of the admin listener.
  package var adminAddress: BindAddress
  /// The authorization of the admin API (`[admin]`).
  package var admin = AdminSettings()
  /// The applications behind the gateway.
  package var upstreams: UpstreamTables
  /// The hosts and routes, and the users whom they admit.
  package var routing: RoutingSettings
  /// The registration with Apple (`[apple]`).
  package var apple: AppleSettings
  /// The HTTP proxy between this machine and Apple (`apple.proxy`). Default: nil: none.
  package var appleProxy: ConnectProxy?
  /// The endpoint that Apple's notifications are forwarded to; nil if they are not.
  package var notificationRelay: EndpointAddress?
  /// The sign-in of native apps (`[native]`).
  package var native = NativeSettings()
  /// The authorization of requests for other proxies (`[verify]`).
  package var verify = VerifySettings()
  /// The secrets, lifetimes and cookies of sessions (`[session]`).
  package var session: SessionSettings
  /// The interval and grace period of revalidations (`[revalidation]`).
  package var revalidation = RevalidationSettings()
  /// The store of accounts and sessions (`[store]`).
  package var store: StoreSettings
  /// The identity headers (`[identity]`).
  package var identity = IdentityHeaderSettings()
  /// The signed assertions (`[assertion]`).
  package var assertion = AssertionSettings()
  /// The pages of `public_url` (`[pages]`).
  package var pages = PageSettings()
  /// Apple's button on the sign-in page (`[pages.button]`).
  package var button = ButtonSettings()
  /// Added to every response (`[headers]`).
  package var responseHeaders: [ResponseHeader] = []
  /// Starts of sign-ins for each client address (`limits.clients.sign_ins`); nil for no limit.
  package var signInRate: SignInRate?
  /// The logs (`[log]`).
  package var log = LogSettings()
  /// The graceful shutdown (`[shutdown]`).
  package var drain = DrainSettings()

  /// The settings without which there is no gateway. The others have the defaults of a file that leaves them out, and
  /// are assigned afterwards.
  package init(
    publicAddress: OriginSettings, listener: ListenerSettings, adminAddress: BindAddress, upstreams: UpstreamTables,
    routing: RoutingSettings, apple: AppleSettings, session: SessionSettings, store: StoreSettings
  ) {
    self.publicAddress = publicAddress
    self.listener = listener
    self.adminAddress = adminAddress
    self.upstreams = upstreams
    self.routing = routing
    self.apple = apple
    self.session = session
    self.store = store
  }
}

extension GatewaySettings {
  /// The authority of each site: that of `public_url`, then each `[[host]]`.
  var hostNames: [String] { [publicAddress.origin.authority] + routing.sites.map(\.host.origin.authority) }

  /// The host names that browsers open, without ports.
  var publicHosts: [String] { [publicAddress.origin.host] + routing.sites.map(\.host.origin.host) }

  /// The origin of each `[[host]]`, by the name of the host; of those with one name the one on the scheme's own port
  /// comes first. `public_url` has its name for itself.
  var hostOrigins: [(host: String, origin: String)] {
    let others = routing.sites.map(\.host.origin).filter { $0.host != publicAddress.origin.host }
    let usual = others.filter { $0.port == $0.scheme.defaultPort }
    let unusual = others.filter { $0.port != $0.scheme.defaultPort }
    return (usual + unusual).map { ($0.host, $0.description) }
  }

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
