import AccessPolicy
import DataPlane

/// A configuration that is in order, what is odd about it, and what its routes mean.
package struct CheckedConfiguration: Sendable {
  package let configuration: Configuration
  /// Warnings about possible mistakes, in the order of the file.
  package let warnings: [ConfigurationProblem]
  /// The effective settings of each route, in the order of the file, and last of all other requests if there are any.
  package let explanations: [RouteExplanation]

  /// - Parameter routes: the place in the document of each route.
  init(_ configuration: Configuration, routes: [Int], _ reading: DecodingContext) {
    self.configuration = configuration
    let writer = RouteExplanationWriter(configuration, routes: routes, reading)
    // The routes are in order: they were made into a table before.
    guard
      let effective = try? RouteTable.effectiveRoutes(
        access: configuration.access, routes: configuration.routes, groups: configuration.groups.map(\.name))
    else {
      (warnings, explanations) = ([], [])
      return
    }
    let isCovered = configuration.routes.contains { $0.path == "/" && $0.match == .prefix && $0.methods == nil }
    explanations =
      effective.routes.indices.map { writer.explanation(of: $0, effective.routes[$0]) }
      + (isCovered ? [] : [writer.explanation(of: nil, effective.elsewhere)])
    warnings = effective.routes.indices.flatMap { writer.warnings(about: $0, effective.routes[$0]) }
  }
}

/// The effective settings of one route as text.
package struct RouteExplanation: Sendable, Equatable {
  /// The route's path, or what stands for all others.
  package var title: String
  /// Each setting by name: what it is, and where it is stated.
  package var facts: [Fact]

  package struct Fact: Sendable, Equatable {
    package var name: String
    package var text: String
  }
}

/// Puts into words what holds for a route.
struct RouteExplanationWriter {
  private let configuration: Configuration
  private let places: [NodePath]
  private let reading: DecodingContext

  init(_ configuration: Configuration, routes: [Int], _ reading: DecodingContext) {
    self.configuration = configuration
    places = routes.map { NodePath(ConfigurationSchema.route.name).appending($0) }
    self.reading = reading
  }

  /// - Parameter route: nil for requests that no route holds for.
  func explanation(of route: Int?, _ effective: EffectiveRoute) -> RouteExplanation {
    var facts: [(String, String)] = []
    let access = effective.access
    facts.append(("passes", passes(access.value) + origin(access.source, of: route, Self.accessKeys)))
    for (number, stated) in effective.conditions.enumerated() where access.value != .deny {
      let keys = stated.value.requirements.isEmpty ? ["private_email"] : ["require_claims", "private_email"]
      facts.append(
        (number == 0 ? "only if" : "and if", condition(stated.value) + origin(stated.source, of: route, keys)))
    }
    if access.value != .public, access.value != .deny {
      let stated = effective.unauthenticated
      facts.append(
        (
          "signed out",
          (stated.value == .unauthorized ? "401" : "browsers are sent to sign in, others get 401")
            + origin(stated.source, of: route, ["unauthenticated"])
        ))
    }
    if access.value != .deny {
      facts.append(
        ("goes to", target(effective.upstream.value) + origin(effective.upstream.source, of: route, ["upstream"])))
    }
    return RouteExplanation(
      title: title(of: route), facts: facts.map { RouteExplanation.Fact(name: $0.0, text: $0.1) })
  }

  func warnings(about route: Int, _ effective: EffectiveRoute) -> [ConfigurationProblem] {
    var warnings: [ConfigurationProblem] = []
    if effective.access.value == .public, case .route(let source) = effective.access.source, source != route {
      warnings.append(
        reading.warning(
          atKey: places[route],
          "everybody is admitted here: the route inherits access = \"public\" from \"\(path(source))\" "
            + "(line \(line(places[source], Self.accessKeys)))",
          remedy: "write access = \"public\" if this is intended, or restrict access"))
    }
    let key = places[route].appending("private_email")
    if configuration.routes[route].conditions.privateEmail == .allow, reading.isThere(key),
      effective.conditions.contains(where: { $0.value.privateEmail != .allow })
    {
      warnings.append(
        reading.warning(
          atKey: key,
          "private_email = \"allow\" removes no condition: conditions of less specific routes are cumulative",
          remedy: "remove it, or the condition that is stated above"))
    }
    return warnings
  }

  private static let accessKeys = [
    "access", "allow_subjects", "allow_emails", "allow_email_domains", "allow_organizations",
  ]

  // MARK: Words

  private func title(of route: Int?) -> String {
    guard let route else { return configuration.routes.isEmpty ? "everything" : "everything else" }
    let how = configuration.routes[route].match == .exact ? " exactly" : ""
    return "\(path(route))\(how)  (line \(reading.place(of: places[route]).line))"
  }

  private func path(_ route: Int) -> String { configuration.routes[route].path }

  private func passes(_ access: RouteSettings.Access) -> String {
    switch access {
    case .public: "everybody, signed in or not"
    case .signedIn: "everybody who is signed in"
    case .deny: "nobody"
    case .lists(let lists): members(lists)
    }
  }

  private func members(_ lists: AccessLists) -> String {
    let parts = [
      listed(lists.emails), listed(lists.emailDomains.map { "everybody @\($0)" }),
      listed(lists.organizations.map { "everybody of organization \($0)" }),
      listed(lists.subjects.map { "subject \($0)" }),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// The first few, and how many more there are.
  private func listed(_ members: [String]) -> String {
    let shown = members.prefix(members.count <= 4 ? 4 : 3)
    return (shown + (members.count > shown.count ? ["\(members.count - shown.count) more"] : []))
      .joined(separator: ", ")
  }

  private func condition(_ conditions: AccessConditions) -> String {
    var parts = conditions.requirements.map { "\($0.claim) is \($0.values.joined(separator: " or "))" }
    switch conditions.privateEmail {
    case .allow: break
    case .deny: parts.append("the address is not hidden behind Apple's relay")
    case .require: parts.append("the address is hidden behind Apple's relay")
    }
    return parts.joined(separator: ", and ")
  }

  private func target(_ name: String?) -> String {
    guard let name else { return addresses(configuration.upstream) }
    let upstream = configuration.upstreams.first { UpstreamChecks.isSame($0.name, name) }
    return "\(name), \(upstream.map { addresses($0) } ?? "which there is not")"
  }

  private func addresses(_ upstream: UpstreamSettings) -> String {
    upstream.addresses.map(\.description).joined(separator: ", ")
  }

  /// The place where a setting is stated: " (line 12, [access])".
  private func origin(_ source: EffectiveRoute.Source, of route: Int?, _ keys: [String]) -> String {
    switch source {
    case .standard: ""
    case .access: "  ([access], line \(line(NodePath(ConfigurationSchema.access.name), keys)))"
    case .route(let index):
      index == route
        ? "  (line \(line(places[index], keys)))" : "  (from \(path(index)), line \(line(places[index], keys)))"
    }
  }

  /// The line of the first of these keys that is there.
  private func line(_ table: NodePath, _ keys: [String]) -> Int {
    let key = keys.map { table.appending($0) }.filter { reading.isThere($0) }.min {
      reading.place(of: $0) < reading.place(of: $1)
    }
    return reading.place(of: key ?? table).line
  }
}
