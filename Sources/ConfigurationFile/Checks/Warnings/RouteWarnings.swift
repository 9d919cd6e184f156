import AccessPolicy
import DataPlane

/// Finds probable mistakes in the routes of a valid configuration, by the settings that are in effect on each host.
struct RouteWarnings {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  /// The settings of a route on one host.
  /// - host: the number of the `[[host]]`; nil for the host of `public_url`.
  private typealias RouteOnHost = (host: Int?, route: EffectiveHost.Route)

  private var comparison: WiderAccess { WiderAccess(groups: configuration.groups) }

  /// - Parameter hosts: the effective settings on each host.
  func all(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    var effective = [[RouteOnHost]](repeating: [], count: configuration.routes.count)
    for host in hosts { for route in host.routes { effective[route.index].append((host.host, route)) } }
    return effective.enumerated().flatMap { index, everywhere -> [ConfigurationDiagnostic] in
      // A route for every host is checked on the first, that of public_url.
      guard let first = everywhere.first else { return [] }
      return statements(of: index, first.route.settings) + widerWrites(of: index, first.route)
        + missingEffect(of: index, everywhere.map(\.route)) + liftedAccess(of: index, everywhere)
    } + forgottenHosts(hosts)
  }

  /// Conditions, tokens and methods that a route states without effect, and access that it inherits.
  private func statements(
    of route: Int, _ effective: ByMethod<EffectiveRoute>
  ) -> [ConfigurationDiagnostic] {
    let settings = configuration.routes[route]
    var warnings = settings.access == nil ? inheritedPublicAccess(of: route, effective) : []
    let key = places.route(route).appending("private_email")
    if settings.conditions.privateEmail == .allow, context.isPresent(key),
      effective.parts.contains(where: { $0.value.conditions.contains { $0.value.privateEmail != .allow } })
    {
      warnings.append(
        context.warning(
          atKey: key,
          "private_email = \"allow\" removes no condition: conditions of less specific routes are cumulative",
          remedy: "remove it, or the condition that is stated above"))
    }
    if settings.tokens == true,
      !RouteChecks.settingsDecidingTokens(of: route, effective).contains(where: { admitsGroups($0) })
    {
      warnings.append(
        context.warning(
          atKey: places.route(route).appending("tokens"),
          "tokens = true, but a token is admitted by allow_groups only, and there are none here",
          remedy: "write allow_groups, or remove tokens"))
    }
    for method in settings.methods ?? [] {
      guard let found = UsualMethods.problem(of: method) else { continue }
      warnings.append(
        context.warning(
          atKey: places.route(route).appending("methods"), found.problem, remedy: found.remedy))
    }
    return warnings
  }

  /// A route that admits everybody, with all or some of its methods, because a less specific one does.
  private func inheritedPublicAccess(
    of route: Int, _ effective: ByMethod<EffectiveRoute>
  ) -> [ConfigurationDiagnostic] {
    var sources: [Int] = []
    for part in effective.parts where part.value.access.value == .public {
      guard case .route(let source) = part.value.access.source, !sources.contains(source),
        !isForFewerMethods(source, than: route)
      else { continue }
      sources.append(source)
    }
    return sources.map { source in
      let isPublic = effective.map { $0.access.value == .public && $0.access.source == .route(source) }
      let methods = MethodText.condition(isPublic)
      return context.warning(
        atKey: places.route(route),
        "everybody is admitted here\(methods): the route inherits access = \"public\" from "
          + "\"\(configuration.routes[source].path)\" (line \(line(of: source)))",
        remedy: methods.isEmpty
          ? "write access = \"public\" if this is intended, or restrict access"
          : "state access for these methods in a route of this path if this is intended, or restrict access")
    }
  }

  /// A route whose methods restrict reading, while other methods that change something are admitted as a less specific
  /// route or `[access]` says: it looks as if it restricted its path.
  private func widerWrites(of route: Int, _ effective: EffectiveHost.Route) -> [ConfigurationDiagnostic] {
    guard let access = configuration.routes[route].access,
      effective.settings.parts.contains(where: { part in
        part.methods.named.contains("GET") && part.value.access.source == .route(route)
      })
    else { return [] }
    let others = effective.otherWrites.parts
    // Another route of the path that decides on such a method shows that its methods are meant to differ.
    let isStated = others.contains { part in
      if case .route(let source) = part.value.access.source { hasPath(ofRoute: source, route) } else { false }
    }
    let wider = others.filter { comparison.admits($0.value.access.value, moreThan: access) }
    guard !isStated, !wider.isEmpty else { return [] }
    let methods = MethodText.list(wider.flatMap(\.methods.named).sorted())
    return [
      context.warning(
        atKey: places.route(route).appending("methods"),
        "more users are admitted here with \(methods) than with GET: the route holds for its methods only",
        remedy: "remove methods to restrict all of them, or state access for the others in a route of this path")
    ]
  }

  /// Whether a route has the path of another.
  private func hasPath(ofRoute one: Int, _ other: Int) -> Bool {
    configuration.routes[one].path.utf8.elementsEqual(configuration.routes[other].path.utf8)
  }

  /// Whether a route has the path of another and fewer methods, and so precedes it: then the access for these methods
  /// is stated for this very path.
  private func isForFewerMethods(_ source: Int, than route: Int) -> Bool {
    let (that, this) = (configuration.routes[source], configuration.routes[route])
    guard let methods = that.methods, that.host == this.host, that.match == this.match,
      that.path.utf8.elementsEqual(this.path.utf8)
    else { return false }
    guard let all = this.methods else { return true }
    return methods.allSatisfy { all.contains($0) || $0 == "HEAD" && all.contains("GET") }
  }

  /// A route without effect, because more specific ones state all of its settings, or because its access cannot lift a
  /// denial for every host.
  /// - Parameter everywhere: the route on each host that it holds for.
  private func missingEffect(of route: Int, _ everywhere: [EffectiveHost.Route]) -> [ConfigurationDiagnostic] {
    let settings = configuration.routes[route]
    if settings.host == .all, !everywhere.contains(where: \.hasEffect) {
      return [
        context.warning(
          atKey: places.route(route),
          "this route decides nothing: on each host a more specific route states all that it states",
          remedy: "remove it, or what the others state")
      ]
    }
    let denials = (everywhere.first?.settings.parts ?? []).map { routeDenyingEveryHost($0.value) }
    guard case .named = settings.host, let access = settings.access, access != .deny, !denials.contains(nil),
      let source = denials.compactMap({ $0 }).first
    else { return [] }
    return [
      context.warning(
        atKey: places.route(route),
        "nobody is admitted here: \"\(configuration.routes[source].path)\" (line \(line(of: source))) has "
          + "access = \"deny\" for every host, which the routes of a host cannot lift",
        remedy: "remove this route, or deny access on the other hosts only")
    ]
  }

  /// A route for every host whose access is not in effect on a host, because a route of that host for a wider path
  /// admits more users: the routes of a host precede those for every host, whatever their paths.
  /// - Parameter everywhere: the route on each host that it holds for.
  private func liftedAccess(of route: Int, _ everywhere: [RouteOnHost]) -> [ConfigurationDiagnostic] {
    guard configuration.routes[route].host == .all, let access = configuration.routes[route].access else { return [] }
    let lifted = everywhere.compactMap { host, effective -> (host: Int, source: Int)? in
      guard let host else { return nil }
      let sources = effective.settings.parts.compactMap { part -> Int? in
        guard case .route(let source) = part.value.access.source, configuration.routes[source].host != .all,
          !hasPath(ofRoute: source, route), comparison.admits(part.value.access.value, moreThan: access)
        else { return nil }
        return source
      }
      return sources.first.map { (host: host, source: $0) }
    }
    guard let (host, source) = lifted.first else { return [] }
    let name = context.concealing(configuration.hosts[host].host.origin.authority)
    let more = lifted.count > 1 ? " (and \(lifted.count - 1) more hosts)" : ""
    return [
      context.warning(
        atKey: places.route(route),
        "on \(name)\(more) more users are admitted here than the route says: \"\(configuration.routes[source].path)\" "
          + "(line \(line(of: source))) of that host precedes the routes for every host",
        remedy: "write a route of that host for this path as well, with the access that is meant there")
    ]
  }

  /// Hosts on which a restricted path of `public_url` leads to the same application, and nothing is stated of it. Those
  /// for which any route states access are not among them.
  private func forgottenHosts(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    guard !configuration.hosts.isEmpty, let own = hosts.first(where: { $0.host == nil }) else { return [] }
    let scopes = Set(configuration.routes.filter { $0.access != nil }.map(\.host))
    let serving = Dictionary(
      grouping: configuration.routes.filter { $0.upstream != nil && $0.methods == nil && $0.match == .prefix },
      by: \.host)
    let pages = restrictedPages(own, serving[.all] ?? [])
    // There may be many pages, and a host leads to few upstreams.
    let pagesByUpstream = Dictionary(grouping: pages) { Array($0.upstream.utf8) }
    let pagesEverywhere = pages.filter { page in page.common.map { UpstreamChecks.isSame($0, page.upstream) } ?? false }
    return configuration.hosts.enumerated().compactMap { number, site -> ConfigurationDiagnostic? in
      let host = RouteSettings.HostScope.named(site.host.origin.authority)
      guard !scopes.contains(host) else { return nil }
      let routes = serving[host] ?? []
      let names = Set(([site.host.upstream] + routes.compactMap(\.upstream)).map { Array($0.utf8) })
      let lists = [pagesEverywhere] + names.compactMap { pagesByUpstream[$0] }
      let found = lists.compactMap { pages -> Int? in
        pages.first { page in
          // The routes of a host precede those for every host.
          let upstream = nearest(to: page.path, routes)?.upstream ?? page.common ?? site.host.upstream
          return UpstreamChecks.isSame(upstream, page.upstream)
        }?.route
      }
      guard let route = found.min() else { return nil }
      let path = configuration.routes[route].path
      return context.warning(
        atKey: HostChecks.path(at: number).appending("name"),
        "this host leads to an application of public_url, whose route \"\(path)\" (line \(line(of: route))) does not "
          + "hold here: more users are admitted",
        remedy: "write host = \"*\" in routes for every host, or state access in a route of this host")
    }
  }

  private typealias UpstreamPath = (upstream: String, path: String)

  /// A path of clients by which an upstream leads to pages that a route of `public_url` restricts.
  private struct Page {
    let upstream: String
    let path: String
    let route: Int
    /// The upstream of the nearest route for every host over the path.
    let common: String?
  }

  /// - Parameters:
  ///   - own: the settings on the host of `public_url`.
  ///   - serving: the routes for every host that have an upstream.
  /// - Returns: in the order of their routes.
  private func restrictedPages(_ own: EffectiveHost, _ serving: [RouteSettings]) -> [Page] {
    let servers = UpstreamServers(configuration)
    let common = configuration.routes.filter { $0.access != nil && $0.host == .all }
    return own.routes.flatMap { route -> [Page] in
      let settings = configuration.routes[route.index]
      guard settings.host == .publicURL, let access = settings.access else { return [] }
      // Paths without a route follow [access], on each host alike.
      let there = nearest(to: settings.path, common)?.access ?? own.elsewhere.access.value
      guard comparison.admits(there, moreThan: access) else { return [] }
      return route.settings.parts.filter { $0.value.access.source == .route(route.index) }.flatMap { part -> [Page] in
        let upstream = part.value.upstream.value ?? RouteSettings.defaultUpstream
        return paths(ofPagesAt: settings.path, upstream, servers).map { upstream, path -> Page in
          Page(upstream: upstream, path: path, route: route.index, common: nearest(to: path, serving)?.upstream)
        }
      }
    }
  }

  /// The paths at which upstreams lead to the pages of a path of one of them: the path itself, and for each other one
  /// with the same address that with its own prefix.
  private func paths(ofPagesAt path: String, _ upstream: String, _ servers: UpstreamServers) -> [UpstreamPath] {
    let own: UpstreamPath = (upstream, path)
    guard let settings = servers.upstream(named: upstream), let page = settings.page(at: path) else { return [own] }
    return [own]
      + servers.others(besides: settings).map { other -> UpstreamPath in
        (other.name, other.path(ofPage: page))
      }
  }

  /// The route with the longest path that a path begins with.
  private func nearest(to path: String, _ routes: [RouteSettings]) -> RouteSettings? {
    routes.filter { path.utf8.starts(with: $0.path.utf8) }.max { $0.path.utf8.count < $1.path.utf8.count }
  }

  /// The route for every host that denies access, if that is why nobody is admitted.
  private func routeDenyingEveryHost(_ effective: EffectiveRoute) -> Int? {
    guard effective.access.value == .deny, case .route(let source) = effective.access.source,
      configuration.routes[source].host == .all
    else { return nil }
    return source
  }

  private func line(of route: Int) -> Int { context.line(places.route(route), RouteExplanationWriter.accessKeys) }

  private func admitsGroups(_ effective: EffectiveRoute) -> Bool {
    if case .lists(let lists) = effective.access.value { !lists.groups.isEmpty } else { false }
  }
}
