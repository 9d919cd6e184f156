import AccessPolicy
import DataPlane
import WebFormats

/// The effective settings of one route as text.
package struct RouteExplanation: Sendable, Equatable {
  /// The route's path, or a title for all other requests.
  package var title: String
  /// Each setting by name, with its value and the place that states it.
  package var facts: [Fact]
  /// Further settings, where they differ by method; otherwise empty.
  package var parts: [Part] = []

  /// The settings of some methods.
  package struct Part: Sendable, Equatable {
    /// The methods.
    package var title: String
    /// Each setting that holds for these methods.
    package var facts: [Fact]
  }

  /// One setting.
  package struct Fact: Sendable, Equatable {
    /// A short title for people, not the key: a cell of a table.
    package var name: String
    /// The value, followed by its place in the file if it is stated there.
    package var text: String
  }
}

/// Explains the effective settings of a route.
struct RouteExplanationWriter {
  let configuration: Configuration
  let places: DocumentPlaces
  let context: DecodingContext

  /// - Parameter host: the number of the `[[host]]`; nil for the host of `public_url`.
  func explanation(of route: EffectiveHost.Route, on host: Int?) -> RouteExplanation {
    let index = route.index
    var result = RouteExplanation(title: title(of: index, on: host), facts: [])
    if let methods = configuration.routes[index].methods {
      let stated = text(of: methods) + origin(.route(index), of: index, ["methods"])
      result.facts.append(RouteExplanation.Fact(name: "methods", text: stated))
    }
    let facts = route.settings.map { self.facts(of: index, $0) }
    /// The facts about what is below the path, for methods with which a request reaches the application.
    func below(_ isShown: (String) -> Bool) -> [RouteExplanation.Fact] {
      self.below(route.narrower, route.rest) { method in
        isShown(method) && route.settings.part(of: method)?.value.access.value.isForwarded ?? false
      }
    }
    if let same = facts.only {
      result.facts += same + below { _ in true }
    } else {
      result.parts = facts.parts.map { part in
        RouteExplanation.Part(
          title: MethodText.title(part.methods), facts: part.value + below { facts.part(of: $0) == part })
      }
    }
    return result
  }

  /// Explains the settings of requests on a host that no route holds for.
  func explanation(ofOthersOn host: EffectiveHost) -> RouteExplanation {
    RouteExplanation(
      title: title(of: nil, on: host.host),
      facts: facts(of: nil, host.elsewhere) + below(host.narrower, [:]) { _ in true })
  }

  /// The routes that must admit a request as well that acts on what is below its path: a fact for each group of methods
  /// for which they are the same.
  /// - Parameters:
  ///   - narrower: the routes below the path.
  ///   - rest: the table that counts as well below the path of an exact route, by method.
  ///   - isShown: whether a method is shown.
  private func below(
    _ narrower: [Int], _ rest: [String: EffectiveRoute.Source], _ isShown: (String) -> Bool
  ) -> [RouteExplanation.Fact] {
    var groups: [(sources: [EffectiveRoute.Source], methods: [String])] = []
    for method in RequestDepth.methods where isShown(method) {
      let routes = narrower.filter { configuration.routes[$0].methods?.contains(method) ?? true }
      let sources = (rest[method].map { [$0] } ?? []) + routes.map { EffectiveRoute.Source.route($0) }
      if let known = groups.firstIndex(where: { $0.sources == sources }) {
        groups[known].methods.append(method)
      } else {
        groups.append((sources: sources, methods: [method]))
      }
    }
    return groups.compactMap { group in
      if group.sources.isEmpty { return nil }
      let asked = group.sources.map { place(of: $0) }
      return RouteExplanation.Fact(
        name: "below", text: "\(listed(asked, "and")) must admit \(listed(group.methods, "and")), too")
    }
  }

  /// The table that states who is admitted.
  private func place(of source: EffectiveRoute.Source) -> String {
    switch source {
    case .route(let index): "\(path(index)) (line \(context.location(of: places.route(index)).line))"
    case .access: "[access] (line \(context.line(NodePath(ConfigurationSchema.access.name), Self.accessKeys)))"
    case .host, .standard: "what holds without a route"
    }
  }

  /// - Parameter route: nil for requests that no route holds for.
  private func facts(of route: Int?, _ effective: EffectiveRoute) -> [RouteExplanation.Fact] {
    var facts: [(String, String)] = []
    let access = effective.access
    facts.append(("passes", passes(access.value) + origin(access.source, of: route, Self.accessKeys)))
    facts += conditions(of: route, effective)
    if access.value != .public, access.value.isForwarded {
      let stated = effective.unauthenticated
      facts.append(
        (
          "signed out",
          (stated.value == .unauthorized ? "401" : "browsers are sent to sign in, others get 401")
            + origin(stated.source, of: route, ["unauthenticated"])
        ))
      if effective.keptFormBytes.value > 0 {
        let stated = effective.keptFormBytes
        facts.append(
          ("forms", "kept up to \(SizeText.format(stated.value))" + origin(stated.source, of: route, ["keep_forms"])))
      }
    }
    if access.value.isForwarded {
      facts.append(
        ("goes to", target(effective.upstream.value) + origin(effective.upstream.source, of: route, ["upstream"])))
    }
    return facts.map { RouteExplanation.Fact(name: $0.0, text: $0.1) }
  }

  static let accessKeys = ["access"] + AllowListsBuilder.keys

  // MARK: Conditions

  /// The conditions in addition to the lists.
  private func conditions(of route: Int?, _ effective: EffectiveRoute) -> [(String, String)] {
    guard effective.access.value.isForwarded else { return [] }
    var facts: [(String, String)] = []
    for stated in effective.conditions where !stated.value.denied.isEmpty {
      facts.append(
        (
          effective.access.value == .public ? "no identity" : "refused",
          members(stated.value.denied)
            + origin(stated.source, of: route, ["deny_groups", "deny_subjects", "deny_emails"])
        ))
    }
    let asked = effective.conditions.filter { !$0.value.requirements.isEmpty || $0.value.privateEmail != .allow }
    for (number, stated) in asked.enumerated() {
      let keys = stated.value.requirements.isEmpty ? ["private_email"] : ["require_claims", "private_email"]
      facts.append(
        (number == 0 ? "only if" : "and if", condition(stated.value) + origin(stated.source, of: route, keys)))
    }
    for (number, stated) in effective.networks.enumerated() {
      let networks = listed(stated.value.map(\.description), "or")
      facts.append((number == 0 ? "only from" : "and from", networks + origin(stated.source, of: route, ["networks"])))
    }
    guard effective.access.value != .public else { return facts }
    if effective.maxAge.value > 0 {
      let age = DurationText.format(.seconds(effective.maxAge.value))
      facts.append(
        ("sign-in", "not older than \(age)" + origin(effective.maxAge.source, of: route, ["max_age"])))
    }
    if effective.preflight.value == .pass {
      facts.append(
        ("preflights", "reach the application" + origin(effective.preflight.source, of: route, ["preflight"])))
    }
    if effective.tokens.value {
      facts.append(("tokens", tokens(effective) + origin(effective.tokens.source, of: route, ["tokens"])))
    }
    return facts
  }

  /// The machine tokens that are admitted.
  private func tokens(_ effective: EffectiveRoute) -> String {
    guard case .lists(let lists) = effective.access.value, !lists.groups.isEmpty else {
      return "none: they are admitted by allow_groups only"
    }
    if effective.conditions.contains(where: { !$0.value.requirements.isEmpty }) { return "none: they have no claims" }
    if effective.conditions.contains(where: { $0.value.privateEmail == .require }) {
      return "none: they have no address"
    }
    return "machine tokens of \(listed(lists.groups.map { "group \($0)" }, "or"))"
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

  // MARK: Words

  private func title(of route: Int?, on host: Int?) -> String {
    // With one host alone its name says nothing.
    let name =
      configuration.hosts.isEmpty
      ? "" : host.map { configuration.hosts[$0].host.origin.authority } ?? configuration.publicAuthority
    guard let route else {
      return (configuration.routes.isEmpty ? "everything" : "everything else") + (name.isEmpty ? "" : " on \(name)")
    }
    let how = configuration.routes[route].match == .exact ? " exactly" : ""
    return "\(name)\(path(route))\(how)  (line \(context.location(of: places.route(route)).line))"
  }

  private func path(_ route: Int) -> String { configuration.routes[route].path }

  private func text(of methods: [String]) -> String {
    var methods = methods
    if let get = methods.firstIndex(where: { $0.utf8.elementsEqual("GET".utf8) }),
      !methods.contains(where: { $0.utf8.elementsEqual("HEAD".utf8) })
    {
      methods.insert("HEAD", at: get + 1)
    }
    return methods.joined(separator: ", ") + "; a field _method in a form is not seen"
  }

  private func passes(_ access: RouteSettings.Access) -> String {
    switch access {
    case .public: "everybody, signed in or not"
    case .signedIn: "everybody who is signed in"
    case .signOut: "nobody; a POST signs out here, a navigation asks first"
    case .deny: "nobody"
    case .lists(let lists): members(lists)
    }
  }

  private func members(_ lists: AccessLists) -> String {
    let parts = [
      listed(lists.groups.map { "group \($0)" }),
      listed(lists.emails), listed(lists.emailDomains.map { "everybody @\($0)" }),
      listed(lists.organizations.map { "everybody of organization \($0)" }),
      listed(lists.subjects.map { "subject \($0)" }),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private func members(_ lists: DenyLists) -> String {
    let parts = [
      listed(lists.groups.map { "group \($0)" }), listed(lists.emails), listed(lists.subjects.map { "subject \($0)" }),
    ]
    return parts.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// The first few, and how many more there are.
  private func listed(_ members: [String], _ word: String? = nil) -> String {
    let shown = members.prefix(members.count <= 4 ? 4 : 3)
    let parts = shown + (members.count > shown.count ? ["\(members.count - shown.count) more"] : [])
    guard let word, parts.count > 1 else { return parts.joined(separator: ", ") }
    return parts.dropLast().joined(separator: ", ") + " \(word) " + (parts.last ?? "")
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
    case .access: "  ([access], line \(context.line(NodePath(ConfigurationSchema.access.name), keys)))"
    case .host(let index): "  ([[host]], line \(context.line(places.host(index), keys)))"
    case .route(let index):
      index == route
        ? "  (line \(context.line(places.route(index), keys)))"
        : "  (from \(path(index)), line \(context.line(places.route(index), keys)))"
    }
  }
}
