import AccessPolicy
import AppleIdentity
import DataPlane
import WebFormats

/// Turns the routes of a document, and `[access]`, into settings.
enum RouteChecks {
  /// - Returns: the indexes in the document of the routes that are valid one by one.
  static func check(
    _ builders: [DocumentReader.Element<RouteBuilder>], _ accessBuilder: AccessBuilder,
    into configuration: inout Configuration, _ context: inout DecodingContext
  ) -> [Int] {
    let access = accessBuilder.settings
    configuration.access = access
    var settings: [(index: Int, route: RouteSettings)] = []
    settings.reserveCapacity(builders.count)
    for (index, builder, present) in builders {
      let path = path(at: index)
      if let name = builder.upstream {
        UpstreamChecks.checkName(name, at: path.appending("upstream"), configuration, &context)
      }
      let host = HostChecks.scope(builder.host, at: path.appending("host"), configuration, &context)
      if var route = route(builder, present, path, isUnder: configuration.pathPrefix, &context), let host {
        route.host = host
        settings.append((index, route))
      }
    }
    configuration.routes = settings.map(\.route)
    checkEmptyLists(accessBuilder, &context)
    checkEmailRules(settings, configuration, &context)
    let groups = GroupChecks.names(configuration, context)
    let hosts = configuration.hosts.map(\.host)
    switch table(access, configuration.routes, groups, hosts) {
    case .success(let table):
      configuration.compiledRoutes = Configuration.CompiledRoutes(table: table)
      checkTokens(settings, access, groups, hosts, &context)
    case .failure(let problems):
      for problem in problems.problems {
        let route = problem.route.map { path(at: settings[$0].index) }
        let key = (route ?? NodePath(ConfigurationSchema.access.name)).appending(problem.key)
        report(problem, at: problem.entry.map { key.appending($0) } ?? key, &context)
      }
    }
    return settings.map(\.index)
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.route.name).appending(index) }

  /// Reports empty lists of `[access]`: they look as if they admitted nobody, but restrict nothing.
  private static func checkEmptyLists(_ builder: AccessBuilder, _ context: inout DecodingContext) {
    let access = NodePath(ConfigurationSchema.access.name)
    for key in builder.lists.emptyKeys {
      context.report(
        at: access.appending(key), "\(key) is empty; without an entry in any list everybody who signs in is admitted",
        remedy: "add entries, remove the key to admit everybody, or deny everybody by a route with access = \"deny\"")
    }
    if builder.networks?.isEmpty == true { reportEmptyNetworks(at: access.appending("networks"), &context) }
  }

  private static func reportEmptyNetworks(at path: NodePath, _ context: inout DecodingContext) {
    context.report(
      at: path, "networks is empty, so it would not be a condition, or be one that nobody meets",
      remedy: "name networks, or remove the key")
  }

  /// Checks that tokens can be admitted on a route that accepts them, with any of its methods.
  private static func checkTokens(
    _ routes: [(index: Int, route: RouteSettings)], _ access: AccessSettings, _ groups: [String],
    _ hosts: [HostSettings], _ context: inout DecodingContext
  ) {
    guard routes.contains(where: { $0.route.tokens == true }),
      let effective = try? EffectiveRoute.all(
        access: access, routes: routes.map(\.route), groups: groups, hosts: hosts)
    else { return }
    for (place, (index, route)) in routes.enumerated() where route.tokens == true {
      let access = settingsDecidingTokens(of: place, effective.routes[place]).map(\.access.value)
      if access.contains(where: { $0.isForwarded && $0 != .public }) { continue }
      let key = path(at: index).appending("tokens")
      let problem: String
      let remedy: String
      switch access.first {
      case let first? where access.contains(where: { $0 != first }):
        problem = "a token would have no effect with any method"
        remedy = "remove it, or restrict access"
      case .public?:
        problem = "everybody is admitted here, so a token would have no effect"
        remedy = "remove it, or restrict access"
      case .deny?:
        problem = "nobody is admitted here, tokens included"
        remedy = "remove it, or write allow_groups"
      case .signOut?:
        problem = "the gateway answers here itself"
        remedy = "remove it"
      case .signedIn?, .lists?, nil: continue
      }
      context.report(at: key, "tokens = true, but \(problem)", remedy: remedy)
    }
  }

  /// The effective settings of the methods for which a route decides whether tokens are accepted; those of all its
  /// methods if more specific routes decide for each.
  static func settingsDecidingTokens(of route: Int, _ effective: ByMethod<EffectiveRoute>) -> [EffectiveRoute] {
    let all = effective.parts.map(\.value)
    let decided = all.filter { $0.tokens.source == .route(route) }
    return decided.isEmpty ? all : decided
  }

  /// Reports rules about e-mail addresses if the scope `email` is not requested: they would silently admit nobody, or
  /// everybody.
  private static func checkEmailRules(
    _ routes: [(index: Int, route: RouteSettings)], _ configuration: Configuration, _ context: inout DecodingContext
  ) {
    // Native apps request scopes themselves.
    guard !configuration.apple.scopes.contains(.email), configuration.apple.nativeClientIDs.isEmpty else { return }
    checkEmailRules(
      configuration.access.lists, configuration.access.conditions, of: NodePath(ConfigurationSchema.access.name),
      &context)
    for (index, route) in routes {
      let lists: AccessLists? = if case .lists(let lists) = route.access { lists } else { nil }
      checkEmailRules(lists, route.conditions, of: path(at: index), &context)
    }
  }

  private static func checkEmailRules(
    _ lists: AccessLists?, _ conditions: AccessConditions, of path: NodePath, _ context: inout DecodingContext
  ) {
    let keys = [
      ("allow_emails", lists?.emails.isEmpty == false), ("allow_email_domains", lists?.emailDomains.isEmpty == false),
      ("private_email", conditions.privateEmail != .allow), ("deny_emails", !conditions.denied.emails.isEmpty),
    ]
    for (key, isPresent) in keys where isPresent {
      context.report(
        at: path.appending(key),
        "\(key) uses e-mail addresses, but apple.scopes does not request them",
        remedy: "write scopes = [\"name\", \"email\"], or use allow_subjects or allow_organizations")
    }
  }

  /// Checks the path of a route whose other keys are invalid.
  static func checkPath(_ text: String, at path: NodePath, _ context: inout DecodingContext) {
    guard case .failure(let problems) = table(AccessSettings(), [RouteSettings(path: text)]) else { return }
    for problem in problems.problems { report(problem, at: path.appending("path"), &context) }
  }

  private static func table(
    _ access: AccessSettings, _ routes: [RouteSettings], _ groups: [String] = [], _ hosts: [HostSettings] = []
  ) -> Result<RouteTable, RouteTableError> {
    Result { () throws(RouteTableError) in
      try RouteTable(access: access, routes: routes, groups: groups, hosts: hosts)
    }
  }

  private static func report(_ problem: RouteDiagnostic, at path: NodePath, _ context: inout DecodingContext) {
    context.report(
      at: path, context.concealing(problem.problem), remedy: context.concealing(problem.remedy))
  }

  private static func route(
    _ builder: RouteBuilder, _ present: Dictionary<String, Node>.Keys, _ path: NodePath, isUnder prefix: String,
    _ context: inout DecodingContext
  ) -> RouteSettings? {
    if builder.path.utf8.elementsEqual(prefix.utf8) || builder.path.utf8.starts(with: (prefix + "/").utf8) {
      context.report(
        at: path.appending("path"), "this route is under path_prefix, whose paths are never forwarded",
        remedy: "remove it, or choose another path_prefix")
      return nil
    }
    guard checkLists(builder, path, &context), checkRequestConditions(builder, path, &context),
      checkAccess(builder, present, path, &context)
    else { return nil }
    var route = RouteSettings(path: builder.path)
    route.match = builder.match
    route.access = builder.lists.settings.map { .lists($0) } ?? builder.access?.setting
    route.conditions = builder.conditions
    route.unauthenticated = builder.unauthenticated?.setting
    route.upstream = builder.upstream.map { UpstreamChecks.routeName($0) }
    route.bodyRate = builder.bodyRate
    route.keptFormBytes = builder.keptFormBytes
    route.methods = builder.methods
    route.networks = builder.networks ?? []
    route.maxAge = builder.maxAge.map { Int($0.components.seconds) }
    route.tokens = builder.tokens
    route.preflight = builder.preflight
    return route
  }

  /// Reports empty lists: they name nobody, and look as if they named everybody.
  private static func checkLists(_ builder: RouteBuilder, _ path: NodePath, _ context: inout DecodingContext) -> Bool {
    guard builder.access == nil || builder.access == .signedIn else { return true }
    let empty = builder.lists.emptyKeys
    for key in empty {
      context.report(
        at: path.appending(key), "\(key) is empty, so it would admit nobody",
        remedy: "add entries, remove the key to inherit access, or write access = \"deny\" to deny everybody")
    }
    return empty.isEmpty
  }

  /// Checks the conditions of a route on a request: its method and its address.
  private static func checkRequestConditions(
    _ builder: RouteBuilder, _ path: NodePath, _ context: inout DecodingContext
  ) -> Bool {
    var isGood = true
    if builder.networks?.isEmpty == true {
      reportEmptyNetworks(at: path.appending("networks"), &context)
      isGood = false
    }
    guard let methods = builder.methods else { return isGood }
    if methods.isEmpty {
      context.report(
        at: path.appending("methods"), "methods is empty, so the route would apply to no request",
        remedy: "name methods, as in [\"GET\", \"POST\"], or remove the key for all of them")
      isGood = false
    }
    for (index, method) in methods.enumerated()
    where methods[..<index].contains(where: { $0.utf8.elementsEqual(method.utf8) }) {
      context.report(
        at: path.appending("methods").appending(index), "methods lists this twice", remedy: "remove one of them")
      isGood = false
    }
    return isGood
  }

  private static func checkAccess(
    _ builder: RouteBuilder, _ present: Dictionary<String, Node>.Keys, _ path: NodePath,
    _ context: inout DecodingContext
  ) -> Bool {
    guard let access = builder.access else { return true }
    // Conditions restrict those who are signed in; lists take the place of access.
    let mayHaveConditions = access == .signedIn
    if builder.lists.settings != nil || (!mayHaveConditions && !builder.conditions.isEmpty) {
      context.report(
        at: path.appending("access"),
        "this route has access = \"\(access.rawValue)\" and also access lists"
          + (mayHaveConditions ? "" : " or conditions"),
        remedy: access.remedyForLists)
      return false
    }
    let effectless = access.effectlessKeys.filter { present.contains($0) }
    for key in effectless {
      context.report(
        at: path.appending(key), "\(key) has no effect with access = \"\(access.rawValue)\"",
        remedy: "remove one of the two")
    }
    return effectless.isEmpty
  }
}

extension RouteBuilder.Access {
  fileprivate var setting: RouteSettings.Access {
    switch self {
    case .public: .public
    case .signedIn: .signedIn
    case .deny: .deny
    case .signOut: .signOut
    }
  }

  /// The remedy for a route that has it together with lists or conditions.
  fileprivate var remedyForLists: String {
    switch self {
    case .public: "remove the lists to admit everybody, or access to admit only the users in the lists"
    case .signOut: "remove the lists, because everybody may sign out, or access to admit the users in the lists"
    case .signedIn:
      "remove the lists to admit everybody who is signed in, or access to admit only the users in the lists"
    case .deny: "remove the lists to admit nobody, or access to admit the users in the lists"
    }
  }

  /// Keys of a route that have no effect together with it.
  fileprivate var effectlessKeys: [String] {
    switch self {
    case .public, .deny: ["unauthenticated", "max_age", "keep_forms"]
    case .signOut: ["unauthenticated", "max_age", "keep_forms", "networks", "tokens", "preflight"]
    case .signedIn: []
    }
  }
}
