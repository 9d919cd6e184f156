import AccessPolicy
import DataPlane
import Sessions

/// Finds forwarding settings that contradict each other.
enum ForwardingChecks {
  /// - Parameters:
  ///   - upstreams: the indexes of `[[upstreams]]` in the document.
  ///   - routes: the indexes of the routes in the document.
  static func check(
    _ configuration: Configuration, upstreams: [Int], routes: [Int], _ context: inout DecodingContext
  ) {
    let identity = configuration.identityHeaders
    let paths = paths(of: configuration, upstreams)
    for (settings, path) in paths { checkRemoved(settings, identity, at: path, &context) }
    checkKept(configuration, &context)
    checkResponse(configuration, &context)
    checkPrefixes(configuration, routes, &context)
  }

  /// Every upstream with its table.
  static func paths(of configuration: Configuration, _ upstreams: [Int]) -> [(UpstreamSettings, NodePath)] {
    [(configuration.upstream, NodePath(ConfigurationSchema.upstream.name))]
      + zip(configuration.upstreams, upstreams).map { settings, index in
        (settings, UpstreamChecks.path(at: index))
      }
  }

  private static func checkRemoved(
    _ settings: UpstreamSettings, _ identity: IdentityHeaderSettings, at path: NodePath,
    _ context: inout DecodingContext
  ) {
    let list = path.appending("remove_headers")
    let set = settings.ownHeaders + identity.headers.map(\.name)
    for (place, name) in settings.removedHeaders.enumerated() where ForwardingRules.isSame(name, asOneOf: set) {
      context.report(
        at: list.appending(place), "\(list): \(name) is set by the configuration itself",
        remedy: "remove it here: that of clients is removed in any case")
    }
    let headers = path.appending("headers")
    if settings.strippedPrefix != nil, ForwardingRules.isSame("X-Forwarded-Prefix", asOneOf: settings.ownHeaders) {
      context.report(
        at: headers, "\(headers) and strip_prefix both set X-Forwarded-Prefix", remedy: "remove the header")
    }
    let authorization = [UpstreamHeaderSettings.basicHeader]
    if settings.ownHeaders.count(where: { ForwardingRules.isSame($0, asOneOf: authorization) }) > 1 {
      context.report(at: headers, "\(headers) and basic both set Authorization", remedy: "keep one of them")
    }
  }

  private static func checkKept(_ configuration: Configuration, _ context: inout DecodingContext) {
    let identity = configuration.identityHeaders
    let set = identity.headers.map(\.name) + identity.upstreams.flatMap(\.names)
    let list = NodePath("identity.keep_headers")
    for (place, name) in identity.keptHeaders.enumerated() {
      let isOfProxy = ForwardingRules.isPathPrefixOfProxy(name)
      guard isOfProxy || ForwardingRules.isPathPrefix(name) else { continue }
      context.report(
        at: list.appending(place), "\(list): \(name) would let clients choose the path that the application serves",
        remedy: isOfProxy
          ? "remove it here: it is forwarded from listen.trusted_proxies, and [upstream.headers] may set it"
          : "remove it here, and set it in [upstream.headers]")
    }
    for (place, name) in identity.keptHeaders.enumerated() where ForwardingRules.isSame(name, asOneOf: set) {
      context.report(
        at: list.appending(place), "\(list): \(name) is set by the configuration itself",
        remedy: "remove it here, or the line that sets it")
    }
  }

  /// Finds response headers with the name of an identity header: they are added to the answers of `verify` as well, and
  /// a proxy would hand them on as those of the user.
  private static func checkResponse(_ configuration: Configuration, _ context: inout DecodingContext) {
    let identity = configuration.identityHeaders.headers.map(\.name)
    let table = NodePath("headers")
    for header in configuration.responseHeaders where ForwardingRules.isSame(header.name, asOneOf: identity) {
      context.report(
        atKey: table.appending(header.name),
        "headers: \(header.name) is an identity header, and a proxy that asks verify would take it for the user's",
        remedy: "remove it here, or in [identity.headers]")
    }
  }

  /// Finds routes to an upstream outside of the path prefix that is stripped from its requests.
  private static func checkPrefixes(
    _ configuration: Configuration, _ routes: [Int], _ context: inout DecodingContext
  ) {
    let upstreams = [configuration.upstream] + configuration.upstreams
    guard upstreams.contains(where: { $0.strippedPrefix != nil }), routes.count == configuration.routes.count,
      let hosts = try? EffectiveHost.all(
        access: configuration.access, routes: configuration.routes, groups: configuration.groups.map(\.name),
        hosts: configuration.hosts.map(\.host))
    else { return }
    var reported: Set<Int> = []
    for route in hosts.flatMap(\.routes) where route.hasEffect {
      let names: ByMethod<String?> = route.settings.map { settings in
        settings.access.value.isForwarded ? settings.upstream.value ?? UpstreamSettings.defaultName : nil
      }
      for name in names.parts.compactMap(\.value) {
        guard let prefix = upstreams.first(where: { UpstreamChecks.isSame($0.name, name) })?.strippedPrefix,
          !UpstreamSettings.isWithin(configuration.routes[route.index].path, prefix: prefix),
          reported.insert(route.index).inserted
        else { continue }
        context.report(
          at: RouteChecks.path(at: routes[route.index]).appending("path"),
          "the route\(MethodText.condition(names.map { $0 == name })) is outside of \"\(prefix)\", which the upstream "
            + "\(name) removes from paths (strip_prefix)",
          remedy: "write a path below \"\(prefix)\", or another upstream")
      }
    }
  }
}
