import AccessPolicy

/// Finds restrictions of `[access]` that no request has to meet, because routes for every path open all of them.
struct OverriddenAccess {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext
  private let access = NodePath(ConfigurationSchema.access.name)

  /// - Parameter hosts: the effective settings on each host.
  func warnings(_ hosts: [EffectiveHost]) -> [ConfigurationDiagnostic] {
    let routes = hosts.map { $0.routeForEverything(among: configuration.routes) }
    guard let route = routes.first ?? nil, let opened = route.settings.parts.last?.value.access,
      case .route(let source) = opened.source, opened.value.isForwarded
    else { return [] }
    let settings = hosts.flatMap { $0.settings(among: configuration.routes) }
    let line = context.line(places.route(source), RouteExplanationWriter.accessKeys)
    let name = "\"\(configuration.routes[source].path)\" (line \(line))"
    return lists(settings, opened.value, name) + conditions(settings, name)
  }

  /// The allow lists, where no setting comes from `[access]`.
  private func lists(
    _ settings: [EffectiveRoute], _ opened: RouteSettings.Access, _ route: String
  ) -> [ConfigurationDiagnostic] {
    guard configuration.access.lists != nil, !settings.contains(where: { $0.access.source == .access }),
      let key = AllowListsBuilder.keys.map({ access.appending($0) }).first(where: { context.isPresent($0) })
    else { return [] }
    let effect =
      switch opened {
      case .public: "needs no sign-in"
      case .signedIn: "has no allow list"
      default: "has allow lists of its own"
      }
    return [
      context.warning(
        atKey: key,
        "the allow lists of [access] have no effect: route \(route) is for every path, and \(effect)",
        remedy: "remove access from that route, or write the path that is meant; or remove the lists here")
    ]
  }

  /// The conditions that do not hold on public routes, where nothing else reaches an application.
  private func conditions(_ settings: [EffectiveRoute], _ route: String) -> [ConfigurationDiagnostic] {
    guard settings.allSatisfy({ $0.access.value == .public || !$0.access.value.isForwarded }) else { return [] }
    let conditions = configuration.access.conditions
    return [
      ("networks", !configuration.access.networks.isEmpty), ("private_email", conditions.privateEmail != .allow),
      ("require_claims", !conditions.requirements.isEmpty),
    ].filter(\.1).map { key, _ in
      context.warning(
        atKey: access.appending(key),
        "access.\(key) has no effect: route \(route) is public and for every path, and on public routes only the "
          + "networks of routes are conditions",
        remedy: "restrict access in that route, or write the path that is meant; or remove this")
    }
  }
}

extension EffectiveHost {
  /// A route that holds for every request to the host.
  func routeForEverything(among configured: [RouteSettings]) -> Route? {
    routes.first {
      let route = configured[$0.index]
      return route.path == "/" && route.match == .prefix && route.methods == nil
    }
  }

  /// The settings of every request: those of each route, and those of all other requests if there are any.
  func settings(among configured: [RouteSettings]) -> [EffectiveRoute] {
    let others = routeForEverything(among: configured) == nil ? [elsewhere] : []
    return routes.flatMap { $0.settings.parts.map(\.value) } + others
  }
}
