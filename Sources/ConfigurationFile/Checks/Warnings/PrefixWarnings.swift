import AccessPolicy
import DataPlane

/// Finds routes whose pages more users get at another path: two upstreams have the same address, and of the paths of
/// one a prefix is removed (`strip_prefix`), so that both paths are one to the application.
struct PrefixWarnings {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  /// Another path of a route's pages.
  private struct OtherPath {
    let path: String
    /// The upstreams of the route and of that path.
    let upstreams: (own: UpstreamSettings, other: UpstreamSettings)
    /// The table that admits more users there.
    let source: Source
  }

  /// The routes of a host by the bytes of their paths, each list in the configured order.
  private typealias RoutesByPath = [[UInt8]: [EffectiveHost.Route]]

  private enum Source {
    case route(Int)
    /// `[access]`, or its defaults.
    case access
  }

  private var comparison: WiderAccess { WiderAccess(groups: configuration.groups) }

  /// - Parameter hosts: the effective settings on each host.
  func all(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    let upstreams = [configuration.upstream] + configuration.upstreams
    guard upstreams.contains(where: { $0.strippedPrefix != nil }) else { return [] }
    let servers = UpstreamServers(configuration)
    var reported: Set<Int> = []
    return hosts.flatMap { host -> [ConfigurationDiagnostic] in
      let routes = Dictionary(grouping: host.routes) { Array(configuration.routes[$0.index].path.utf8) }
      return host.routes.compactMap { route -> ConfigurationDiagnostic? in
        guard !reported.contains(route.index), let other = widerPath(of: route, on: host, routes, servers) else {
          return nil
        }
        reported.insert(route.index)
        return warning(route.index, other)
      }
    }
  }

  private func warning(_ route: Int, _ other: OtherPath) -> ConfigurationDiagnostic {
    let source =
      switch other.source {
      case .route(let index): "\"\(configuration.routes[index].path)\", line \(line(of: index))"
      case .access: "by [access]"
      }
    return context.warning(
      atKey: places.route(route),
      "at \"\(other.path)\" more users get the pages of this route (\(source)): the upstreams "
        + "\(other.upstreams.own.name) and \(other.upstreams.other.name) have the same address, and strip_prefix makes "
        + "one path of both",
      remedy: "write a route for \"\(other.path)\" with the access that is meant here, or use one upstream for all of "
        + "the application")
  }

  /// The first path at which more users get the pages that a route restricts, for all methods.
  private func widerPath(
    of route: EffectiveHost.Route, on host: EffectiveHost, _ routes: RoutesByPath, _ servers: UpstreamServers
  ) -> OtherPath? {
    let settings = configuration.routes[route.index]
    guard let access = settings.access, access != .signOut, settings.methods == nil else { return nil }
    for part in route.settings.parts where part.value.access.source == .route(route.index) {
      guard let own = servers.upstream(named: part.value.upstream.value ?? UpstreamSettings.defaultName),
        let page = own.page(at: settings.path)
      else { continue }
      for other in servers.others(besides: own) where other.strippedPrefix != own.strippedPrefix {
        let path = other.path(ofPage: page)
        if let source = wider(than: access, at: path, of: other, on: host, routes) {
          return OtherPath(path: path, upstreams: (own, other), source: source)
        }
      }
    }
    return nil
  }

  /// The source of the access of the nearest route over a path, or of `[access]` if no route is, if requests for the
  /// path go to an upstream and more users are admitted. Nil if a route states access for this very path, perhaps
  /// without the last slash: then the difference is intended.
  private func wider(
    than access: RouteSettings.Access, at path: String, of upstream: UpstreamSettings, on host: EffectiveHost,
    _ routes: RoutesByPath
  ) -> Source? {
    func isWider(_ effective: EffectiveRoute) -> Bool {
      serves(effective, upstream) && comparison.admits(effective.access.value, moreThan: access)
    }
    let nearest = nearest(to: path, among: routes)
    if nearest.isEmpty { return isWider(host.elsewhere) ? .access : nil }
    let isStated = nearest.contains { route in
      let settings = configuration.routes[route.index]
      return settings.access != nil && withoutSlash(settings.path).elementsEqual(withoutSlash(path))
    }
    if isStated { return nil }
    for part in nearest.flatMap(\.settings.parts) where isWider(part.value) {
      if case .route(let index) = part.value.access.source { return .route(index) }
      return .access
    }
    return nil
  }

  /// The routes with the longest path that hold for a path. The time does not depend on the number of routes.
  private func nearest(to path: String, among routes: RoutesByPath) -> [EffectiveHost.Route] {
    let path = Array(path.utf8)
    if let own = routes[path] { return own }
    let slash = UInt8(ascii: "/")
    // A prefix ends with a slash, or the path goes on with one.
    for end in path.indices.dropFirst().reversed() where path[end - 1] == slash || path[end] == slash {
      let over = routes[Array(path[..<end])]?.filter { configuration.routes[$0.index].match == .prefix } ?? []
      if !over.isEmpty { return over }
    }
    return []
  }

  private func withoutSlash(_ path: String) -> Substring.UTF8View {
    path.utf8.last == UInt8(ascii: "/") ? path.utf8.dropLast() : path.utf8[...]
  }

  private func serves(_ effective: EffectiveRoute, _ upstream: UpstreamSettings) -> Bool {
    UpstreamChecks.isSame(effective.upstream.value ?? UpstreamSettings.defaultName, upstream.name)
  }

  private func line(of route: Int) -> Int { context.line(places.route(route), RouteExplanationWriter.accessKeys) }
}
