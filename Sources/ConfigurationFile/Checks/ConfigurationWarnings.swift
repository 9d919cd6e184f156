import AccessPolicy
import DataPlane
import WebFormats

/// Finds what is possibly a mistake in a configuration that is in order.
struct ConfigurationWarnings {
  private let configuration: Configuration
  private let places: [NodePath]
  private let reading: DecodingContext
  private let access = NodePath(ConfigurationSchema.access.name)

  init(_ configuration: Configuration, routes: [Int], _ reading: DecodingContext) {
    self.configuration = configuration
    places = routes.map { NodePath(ConfigurationSchema.route.name).appending($0) }
    self.reading = reading
  }

  /// In the order of the file.
  func all(_ routes: [EffectiveRoute]) -> [ConfigurationProblem] {
    var warnings = networks + requests + members + routes.indices.flatMap { warningsAboutRoute($0, routes[$0]) }
    if configuration.access.tokens, !hasGroups {
      warnings.append(
        reading.warning(
          atKey: access.appending("tokens"),
          "tokens = true, but a token is admitted by allow_groups only, and nothing has allow_groups",
          remedy: "write allow_groups where tokens are to be admitted, or remove tokens"))
    }
    return warnings.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }.map(\.element)
  }

  // MARK: The whole

  /// Networks, where the client's address is that of the connection.
  private var networks: [ConfigurationProblem] {
    let isBehindProxy = configuration.listener.entrances.contains {
      !$0.trustedProxies.isEmpty || !$0.proxyProtocolPeers.isEmpty
    }
    let tables = [access] + places.indices.filter { !configuration.routes[$0].networks.isEmpty }.map { places[$0] }
    let first = tables.map { $0.appending("networks") }.filter { reading.isThere($0) }
      .min { reading.place(of: $0) < reading.place(of: $1) }
    guard !isBehindProxy, let first else { return [] }
    return [
      reading.warning(
        atKey: first,
        "networks is judged by the address of the connection, because no proxy is trusted: behind one, every client "
          + "has the proxy's address or none",
        remedy: "write listen.trusted_proxies or listen.proxy_protocol_from, unless clients connect directly")
    ]
  }

  private var requests: [ConfigurationProblem] {
    guard configuration.access.requests, configuration.groups.isEmpty else { return [] }
    return [
      reading.warning(
        atKey: access.appending("requests"), "requests = true, but there is no group to admit anybody to",
        remedy: "declare one with [[group]], and name it in allow_groups")
    ]
  }

  /// Members that look like something else than they are.
  private var members: [ConfigurationProblem] {
    configuration.groups.indices.flatMap { index in
      let path = GroupChecks.path(at: index).appending("members")
      return configuration.groups[index].members.indices.compactMap { place -> ConfigurationProblem? in
        let member = configuration.groups[index].members[place]
        guard case .subject(let bytes) = GroupMember(member), bytes.first?.isASCIILetter == true,
          bytes.contains(UInt8(ascii: "."))
        else { return nil }
        return reading.warning(
          atKey: path, "\"\(reading.concealing(member))\" is read as a subject, and looks like a domain",
          remedy: "write \"@\(reading.concealing(member))\" if every address of the domain is meant")
      }
    }
  }

  private var hasGroups: Bool {
    if configuration.access.lists?.groups.isEmpty == false { return true }
    return configuration.routes.contains { route in
      if case .lists(let lists) = route.access { !lists.groups.isEmpty } else { false }
    }
  }

  // MARK: Routes

  private func warningsAboutRoute(_ route: Int, _ effective: EffectiveRoute) -> [ConfigurationProblem] {
    let settings = configuration.routes[route]
    var warnings: [ConfigurationProblem] = []
    if effective.access.value == .public, case .route(let source) = effective.access.source, source != route {
      warnings.append(
        reading.warning(
          atKey: places[route],
          "everybody is admitted here: the route inherits access = \"public\" from "
            + "\"\(configuration.routes[source].path)\" (line \(line(of: source)))",
          remedy: "write access = \"public\" if this is intended, or restrict access"))
    }
    let key = places[route].appending("private_email")
    if settings.conditions.privateEmail == .allow, reading.isThere(key),
      effective.conditions.contains(where: { $0.value.privateEmail != .allow })
    {
      warnings.append(
        reading.warning(
          atKey: key,
          "private_email = \"allow\" removes no condition: conditions of less specific routes are cumulative",
          remedy: "remove it, or the condition that is stated above"))
    }
    if settings.tokens == true, !admitsGroups(effective) {
      warnings.append(
        reading.warning(
          atKey: places[route].appending("tokens"),
          "tokens = true, but a token is admitted by allow_groups only, and there are none here",
          remedy: "write allow_groups, or remove tokens"))
    }
    for method in settings.methods ?? [] where method.utf8.contains(where: \.isASCIILowercase) {
      warnings.append(
        reading.warning(
          atKey: places[route].appending("methods"), "methods are case-sensitive, and \"\(method)\" is not a usual one",
          remedy: "write \"\(method.uppercased())\" if that is meant"))
    }
    return warnings
  }

  private func line(of route: Int) -> Int { reading.line(places[route], RouteExplanationWriter.accessKeys) }

  private func admitsGroups(_ effective: EffectiveRoute) -> Bool {
    if case .lists(let lists) = effective.access.value { !lists.groups.isEmpty } else { false }
  }
}

extension UInt8 {
  fileprivate var isASCIILowercase: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
