/// The problems of a configuration's routes.
package struct RouteTableError: Error, Sendable, Equatable {
  /// At least one.
  package var problems: [RouteDiagnostic]
}

/// A problem of one route, or of `[access]`.
package struct RouteDiagnostic: Sendable, Equatable {
  /// The place of the route in the configured order; nil for `[access]`.
  package var route: Int?
  /// The key that it is about.
  package var key: String
  /// The place of the entry that it is about in the key's list; nil for the whole value.
  package var entry: Int?
  /// The problem, with the path of the route.
  package var problem: String
  /// The thing to do about it, in the imperative.
  package var remedy: String
}

/// The problems of routes, without repetitions.
struct RouteDiagnostics {
  private(set) var problems: [RouteDiagnostic] = []
  /// Routes with a reported problem in their chain.
  private var reported: Set<Int> = []

  /// Adds a problem of `[access]`.
  mutating func add(_ problem: KeyProblem) {
    problems.append(
      RouteDiagnostic(
        route: nil, key: problem.key, entry: problem.entry, problem: problem.problem, remedy: problem.remedy))
  }

  /// Adds a problem of a route.
  /// - Parameter index: its place in the configured order.
  mutating func add(_ problem: KeyProblem, of route: RouteSettings, at index: Int) {
    problems.append(
      RouteDiagnostic(
        route: index, key: problem.key, entry: problem.entry, problem: "route \"\(route.path)\": \(problem.problem)",
        remedy: problem.remedy))
  }

  /// Checks the routes that hold for a request together.
  /// - Parameter chain: the routes, the most specific one first.
  mutating func check(_ effective: EffectiveRoute, _ chain: [Int], _ checked: CheckedRoutes) {
    checkConditions(chain, checked)
    let access = effective.access.value
    guard access == .public || access == .signOut, case .route(let source) = effective.access.source else { return }
    // The conditions of a more specific route would have no effect: such routes have none.
    for index in chain.prefix(while: { $0 != source }) where !checked.routes[index].conditions.isEmpty {
      let path = checked.routes[source].path
      report(
        index, checked, key: Self.key(of: checked.routes[index].conditions),
        "it gets access = \"\(access == .public ? "public" : "sign-out")\" from the route \"\(path)\", so that nobody "
          + "would be asked for this",
        remedy: "write access = \"signed-in\" or a list here, or remove it")
    }
  }

  private static func key(of conditions: AccessConditions) -> String {
    if !conditions.requirements.isEmpty { return "require_claims" }
    if conditions.privateEmail != .allow { return "private_email" }
    let denied = conditions.denied
    return !denied.groups.isEmpty ? "deny_groups" : !denied.emails.isEmpty ? "deny_emails" : "deny_subjects"
  }

  private mutating func checkConditions(_ chain: [Int], _ checked: CheckedRoutes) {
    var first: (value: AccessConditions.PrivateEmail, route: Int)?
    for place in 0...chain.count {
      // [access] comes last.
      let route = place < chain.count ? chain[place] : nil
      let value = route.map { checked.routes[$0].conditions.privateEmail } ?? checked.access.conditions.privateEmail
      guard value != .allow else { continue }
      guard let stated = first else {
        if let route { first = (value, route) }
        continue
      }
      guard stated.value != value else { continue }
      let place = route.map { "the route \"\(checked.routes[$0].path)\"" } ?? "[access]"
      report(
        stated.route, checked, key: "private_email",
        "private_email is \"\(stated.value.rawValue)\" here and \"\(value.rawValue)\" in \(place), and conditions "
          + "add up: nobody could pass", remedy: "remove one of the two")
    }
  }

  private mutating func report(
    _ route: Int, _ checked: CheckedRoutes, key: String, _ problem: String, remedy: String
  ) {
    guard reported.insert(route).inserted else { return }
    add(KeyProblem(key, problem, remedy: remedy), of: checked.routes[route], at: route)
  }
}
