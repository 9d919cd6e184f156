import AccessPolicy
import AppleIdentity
import DataPlane
import WebFormats

/// Turns the routes of a document, and `[access]`, into settings.
enum RouteChecks {
  /// - Returns: the places in the document of the routes that are in order by themselves.
  static func check(
    _ drafts: [DocumentReader.Element<RouteBuilder>], _ accessDraft: AccessBuilder,
    into configuration: inout Configuration, _ reading: inout DecodingContext
  ) -> [Int] {
    let access = accessDraft.settings
    configuration.access = access
    var settings: [(index: Int, route: RouteSettings)] = []
    settings.reserveCapacity(drafts.count)
    let list = NodePath(ConfigurationSchema.route.name)
    for (index, draft, present) in drafts {
      let path = list.appending(index)
      if let name = draft.upstream {
        UpstreamChecks.checkName(name, at: path.appending("upstream"), configuration, &reading)
      }
      let host = HostChecks.scope(draft.host, at: path.appending("host"), configuration, &reading)
      if var route = route(draft, present, path, isUnder: configuration.pathPrefix, &reading), let host {
        route.host = host
        settings.append((index, route))
      }
    }
    configuration.routes = settings.map(\.route)
    checkEmptyLists(accessDraft, &reading)
    checkAddresses(settings, configuration, &reading)
    let groups = GroupChecks.names(configuration, reading)
    let hosts = configuration.sites.map(\.host)
    switch table(access, configuration.routes, groups, hosts) {
    case .success(let table):
      configuration.compiledRoutes = Configuration.CompiledRoutes(table: table)
      checkTokens(settings, access, groups, hosts, &reading)
    case .failure(let problems):
      for problem in problems.problems {
        let route = problem.route.map { NodePath(ConfigurationSchema.route.name).appending(settings[$0].index) }
        complain(problem, at: (route ?? NodePath(ConfigurationSchema.access.name)).appending(problem.key), &reading)
      }
    }
    return settings.map(\.index)
  }

  /// An empty list of `[access]` would look as if it admitted nobody, and restrict nothing.
  private static func checkEmptyLists(_ draft: AccessBuilder, _ reading: inout DecodingContext) {
    let access = NodePath(ConfigurationSchema.access.name)
    let lists = [
      ("allow_subjects", draft.subjects), ("allow_emails", draft.emails), ("allow_email_domains", draft.emailDomains),
      ("allow_organizations", draft.organizations), ("allow_groups", draft.groups),
    ]
    for (key, list) in lists where list?.isEmpty == true {
      reading.complain(
        at: access.appending(key), "\(key) is empty; without an entry in any list everybody who signs in is admitted",
        remedy: "add entries, remove the key to admit everybody, or deny everybody by a route with access = \"deny\"")
    }
    if draft.networks?.isEmpty == true { complainOfNetworks(at: access.appending("networks"), &reading) }
  }

  private static func complainOfNetworks(at path: NodePath, _ reading: inout DecodingContext) {
    reading.complain(
      at: path, "networks is empty, so it would be no condition, or one that nobody meets",
      remedy: "name networks, or remove the key")
  }

  /// Tokens that a route accepts by itself must be able to pass.
  private static func checkTokens(
    _ routes: [(index: Int, route: RouteSettings)], _ access: AccessSettings, _ groups: [String],
    _ hosts: [HostSettings], _ reading: inout DecodingContext
  ) {
    guard routes.contains(where: { $0.route.tokens == true }),
      let effective = try? RouteTable.effectiveRoutes(
        access: access, routes: routes.map(\.route), groups: groups, hosts: hosts)
    else { return }
    for (place, (index, route)) in routes.enumerated() where route.tokens == true {
      let key = NodePath(ConfigurationSchema.route.name).appending(index).appending("tokens")
      let what: String
      let remedy: String
      switch effective.routes[place].access.value {
      case .public:
        what = "everybody is admitted here, so a token would have no effect"
        remedy = "remove it, or restrict access"
      case .deny:
        what = "nobody is admitted here, tokens included"
        remedy = "remove it, or write allow_groups"
      case .signOut:
        what = "the gateway answers here itself"
        remedy = "remove it"
      case .signedIn, .lists: continue
      }
      reading.complain(at: key, "tokens = true, but \(what)", remedy: remedy)
    }
  }

  /// Rules about addresses that nobody is asked for would let nobody in, or everybody, and say nothing.
  private static func checkAddresses(
    _ routes: [(index: Int, route: RouteSettings)], _ configuration: Configuration, _ reading: inout DecodingContext
  ) {
    // Native apps ask for scopes themselves.
    guard !configuration.apple.scopes.contains(.email), configuration.apple.nativeClientIDs.isEmpty else { return }
    checkAddresses(
      configuration.access.lists, configuration.access.conditions, of: NodePath(ConfigurationSchema.access.name),
      &reading)
    for (index, route) in routes {
      let lists: AccessLists? = if case .lists(let lists) = route.access { lists } else { nil }
      checkAddresses(lists, route.conditions, of: NodePath(ConfigurationSchema.route.name).appending(index), &reading)
    }
  }

  private static func checkAddresses(
    _ lists: AccessLists?, _ conditions: AccessConditions, of path: NodePath, _ reading: inout DecodingContext
  ) {
    let keys = [
      ("allow_emails", lists?.emails.isEmpty == false), ("allow_email_domains", lists?.emailDomains.isEmpty == false),
      ("private_email", conditions.privateEmail != .allow), ("deny_emails", !conditions.denied.emails.isEmpty),
    ]
    for (key, isThere) in keys where isThere {
      reading.complain(
        at: path.appending(key),
        "\(key) uses e-mail addresses, but apple.scopes does not request them",
        remedy: "write scopes = [\"name\", \"email\"], or use allow_subjects or allow_organizations")
    }
  }

  /// Looks at the path of a route whose other keys are not in order.
  static func checkPath(_ text: String, at path: NodePath, _ reading: inout DecodingContext) {
    guard case .failure(let problems) = table(AccessSettings(), [RouteSettings(path: text)]) else { return }
    for problem in problems.problems { complain(problem, at: path.appending("path"), &reading) }
  }

  private static func table(
    _ access: AccessSettings, _ routes: [RouteSettings], _ groups: [String] = [], _ hosts: [HostSettings] = []
  ) -> Result<RouteTable, RouteTableError> {
    Result { () throws(RouteTableError) in
      try RouteTable(access: access, routes: routes, groups: groups, hosts: hosts)
    }
  }

  private static func complain(_ problem: RouteDiagnostic, at path: NodePath, _ reading: inout DecodingContext) {
    // The message is "WHAT: …; REMEDY": what stands after the last semicolon tells what to do.
    let message = Array(reading.concealing(problem.message).utf8)
    let cut = message.lastIndex(of: UInt8(ascii: ";")) ?? message.endIndex
    let remedy = message[cut...].drop { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: " ") }
    reading.complain(
      at: path, String(decoding: message[..<cut], as: UTF8.self),
      remedy: remedy.isEmpty ? "see `cordon reference`" : String(decoding: remedy, as: UTF8.self))
  }

  private static func route(
    _ draft: RouteBuilder, _ present: Dictionary<String, Node>.Keys, _ path: NodePath, isUnder prefix: String,
    _ reading: inout DecodingContext
  ) -> RouteSettings? {
    if draft.path.utf8.elementsEqual(prefix.utf8) || draft.path.utf8.starts(with: (prefix + "/").utf8) {
      reading.complain(
        at: path.appending("path"), "this route is under path_prefix, whose paths are never forwarded",
        remedy: "remove it, or choose another path_prefix")
      return nil
    }
    guard checkLists(draft, path, &reading), checkRequestConditions(draft, path, &reading),
      checkAccess(draft, present, path, &reading)
    else { return nil }
    var route = RouteSettings(path: draft.path)
    route.match = draft.match
    route.access = draft.lists.map { .lists($0) } ?? draft.access?.setting
    route.conditions = draft.conditions
    route.unauthenticated = draft.unauthenticated?.setting
    route.upstream = draft.upstream.map { UpstreamChecks.routeName($0) }
    route.bodyRate = draft.bodyRate
    route.keptFormBytes = draft.keptFormBytes
    route.methods = draft.methods
    route.networks = draft.networks ?? []
    route.maxAge = draft.maxAge.map { Int($0.components.seconds) }
    route.tokens = draft.tokens
    route.preflight = draft.preflight
    return route
  }

  /// An empty list would name nobody, and look as if it named everybody.
  private static func checkLists(_ draft: RouteBuilder, _ path: NodePath, _ reading: inout DecodingContext) -> Bool {
    guard draft.access == nil || draft.access == .signedIn else { return true }
    let lists = [
      ("allow_subjects", draft.subjects), ("allow_emails", draft.emails), ("allow_email_domains", draft.emailDomains),
      ("allow_organizations", draft.organizations), ("allow_groups", draft.groups),
    ]
    let empty = lists.filter { $0.1?.isEmpty == true }
    for (key, _) in empty {
      reading.complain(
        at: path.appending(key), "\(key) is empty, so it would admit nobody",
        remedy: "add entries, remove the key to inherit access, or write access = \"deny\" to deny everybody")
    }
    return empty.isEmpty
  }

  /// Checks the conditions of a route on a request: its method and its address.
  private static func checkRequestConditions(
    _ draft: RouteBuilder, _ path: NodePath, _ reading: inout DecodingContext
  ) -> Bool {
    var isGood = true
    if draft.networks?.isEmpty == true {
      complainOfNetworks(at: path.appending("networks"), &reading)
      isGood = false
    }
    guard let methods = draft.methods else { return isGood }
    if methods.isEmpty {
      reading.complain(
        at: path.appending("methods"), "methods is empty, so the route would apply to no request",
        remedy: "name methods, as in [\"GET\", \"POST\"], or remove the key for all of them")
      isGood = false
    }
    for (index, method) in methods.enumerated()
    where methods[..<index].contains(where: { $0.utf8.elementsEqual(method.utf8) }) {
      reading.complain(
        at: path.appending("methods").appending(index), "methods names this twice", remedy: "remove one of them")
      isGood = false
    }
    return isGood
  }

  private static func checkAccess(
    _ draft: RouteBuilder, _ present: Dictionary<String, Node>.Keys, _ path: NodePath, _ reading: inout DecodingContext
  ) -> Bool {
    guard let access = draft.access, access != .signedIn else { return true }
    if draft.lists != nil || !draft.conditions.isEmpty {
      reading.complain(
        at: path.appending("access"),
        "this route has access = \"\(access.rawValue)\" and also access lists or conditions",
        remedy: access.remedyForLists)
      return false
    }
    let effectless = access.effectlessKeys.filter { present.contains($0) }
    for key in effectless {
      reading.complain(
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

  /// The remedy where a route has it beside lists or conditions.
  fileprivate var remedyForLists: String {
    switch self {
    case .public: "remove the lists to admit everybody, or access to admit only the users in the lists"
    case .signOut: "remove the lists, because everybody may sign out, or access to admit the users in the lists"
    case .deny, .signedIn: "remove the lists to admit nobody, or access to admit the users in the lists"
    }
  }

  /// Keys of a route that would say nothing beside it.
  fileprivate var effectlessKeys: [String] {
    switch self {
    case .public, .deny: ["unauthenticated", "max_age", "keep_forms"]
    case .signOut: ["unauthenticated", "max_age", "keep_forms", "networks", "tokens", "preflight"]
    case .signedIn: []
    }
  }
}
