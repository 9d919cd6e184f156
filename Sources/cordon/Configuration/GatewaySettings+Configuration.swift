import ConfigurationFile
import Gateway

extension GatewaySettings {
  /// The settings that a configuration file makes.
  init(_ configuration: Configuration) throws {
    self.init(
      origin: try configuration.publicOrigin, prefix: configuration.pathPrefix, hosts: configuration.aliases,
      workers: configuration.workers, listener: configuration.listener, adminAddress: configuration.adminAddress,
      admin: configuration.admin, upstream: configuration.upstream, upstreams: configuration.upstreams,
      apple: configuration.apple, native: configuration.native,
      verify: configuration.verify, session: configuration.session,
      revalidation: configuration.revalidation, store: configuration.store, identity: configuration.identityHeaders,
      assertion: configuration.assertion, notificationRelay: configuration.notificationRelay,
      access: configuration.access, routes: configuration.routes, groups: configuration.groups,
      pages: configuration.pages, button: configuration.button, log: configuration.log, drain: configuration.shutdown)
    appleProxy = configuration.appleProxy
    responseHeaders = configuration.responseHeaders
    signInRate = configuration.signInRate
    sites = configuration.hosts.map { SiteSettings(host: $0.host, pages: $0.pages(configuration.pages)) }
    routeTable = configuration.compiledRoutes?.table
  }
}
