import ConfigurationFile
import Gateway

extension GatewaySettings {
  /// The settings that a configuration file makes.
  init(_ configuration: Configuration) throws {
    self.init(
      publicAddress: OriginSettings(
        origin: try configuration.publicOrigin, prefix: configuration.pathPrefix, hosts: configuration.aliases),
      listener: configuration.listener, adminAddress: configuration.adminAddress,
      upstreams: UpstreamTables(main: configuration.upstream, named: configuration.upstreams),
      routing: RoutingSettings(configuration), apple: configuration.apple, session: configuration.session,
      store: configuration.store)
    workers = configuration.workers
    admin = configuration.admin
    appleProxy = configuration.appleProxy
    notificationRelay = configuration.notificationRelay
    native = configuration.native
    verify = configuration.verify
    revalidation = configuration.revalidation
    identity = configuration.identityHeaders
    assertion = configuration.assertion
    pages = configuration.pages
    button = configuration.button
    responseHeaders = configuration.responseHeaders
    signInRate = configuration.signInRate
    log = configuration.log
    drain = configuration.shutdown
  }
}

extension RoutingSettings {
  fileprivate init(_ configuration: Configuration) {
    self.init(
      sites: configuration.hosts.map { SiteSettings(host: $0.host, pages: $0.pages(configuration.pages)) },
      access: configuration.access, routes: configuration.routes, groups: configuration.groups,
      table: configuration.compiledRoutes?.table)
  }
}
