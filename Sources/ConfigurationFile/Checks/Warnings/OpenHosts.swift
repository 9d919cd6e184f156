import AccessPolicy

/// Finds hosts that no allow list restricts, while a route restricts every path of `public_url`: it
/// looks as if it restricted all that the gateway serves.
struct OpenHosts {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  /// - Parameters:
  ///   - hosts: the effective settings on each host.
  ///   - others: warnings about routes; a host that has one of them gets no other.
  func warnings(_ hosts: [EffectiveHost], besides others: [ConfigurationDiagnostic]) -> [ConfigurationDiagnostic] {
    guard let own = hosts.first(where: { $0.host == nil })?.routeForEverything(among: configuration.routes),
      let restricted = own.settings.parts.last?.value.access, case .lists = restricted.value,
      case .route(let source) = restricted.source
    else { return [] }
    let stating = Set(configuration.routes.filter { $0.access != nil }.map(\.host))
    let known = Set(others.map(\.line))
    let line = context.line(places.route(source), RouteExplanationWriter.accessKeys)
    return hosts.compactMap { host -> ConfigurationDiagnostic? in
      guard let number = host.host, isOpen(host),
        !stating.contains(.named(configuration.hosts[number].host.origin.authority))
      else { return nil }
      let name = HostChecks.path(at: number).appending("name")
      if known.contains(context.location(of: name).line) { return nil }
      return context.warning(
        atKey: name,
        "no allow list restricts this host: route \"\(configuration.routes[source].path)\" (line \(line)), which "
          + "restricts every path of public_url, does not hold here",
        remedy: "write host = \"*\" in that route, or write its lists into [access]; or state access in a route of "
          + "this host")
    }
  }

  /// Whether nothing restricts the paths of a host for which no route is more specific.
  private func isOpen(_ host: EffectiveHost) -> Bool {
    let route = host.routeForEverything(among: configuration.routes)
    guard let settings = route.map({ $0.settings.parts.last?.value }) ?? host.elsewhere else { return false }
    return settings.access.source == .standard && settings.networks.isEmpty
      && settings.conditions.allSatisfy(\.value.requirements.isEmpty)
  }
}
