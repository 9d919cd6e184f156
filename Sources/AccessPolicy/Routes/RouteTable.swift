/// The routes of the configuration, ready to be asked.
///
/// Of the routes that hold for a request (by host, path and method), ordered from the most to the least specific, each
/// setting comes from the first one that states it, and in the end from `[access]`. Conditions add up.
///
/// A route for a prefix holds for what begins with it byte for byte, case-sensitively: one that ends with `/` for what
/// is below it (`/public/` for `/public/x`, not for `/public` or `/publicx`); one that does not also for the path
/// itself (`/api` for `/api` and `/api/x`, not for `/apix`).
///
/// Then the other readings of the path are asked for, because the application behind may be more lenient than we are:
/// - Where the path lies under a route's path only when read leniently (``LooseReading``: case, a trailing dot,
///   `/admin` for `/admin/`, an encoded letter, a path parameter, …), what holds there must admit the request, too.
///   Routes that state nothing about who may pass do not count: what they inherit holds where it is stated.
/// - An ambiguous path also gets nothing laxer than the default, nor than the route `/` if there is one.
/// - Of an ambiguous path that could be anywhere (``PathAmbiguity/couldBeAnywhere``) every route of the table must
///   admit it.
///
/// A class, so that it is looked at where it is rather than copied for every request.
package final class RouteTable: Sendable {
  /// The rules that ``RouteDecision/Access/rules(_:)`` points into.
  package let rules: [AccessRules]
  /// The names of the applications that ``RouteDecision/upstream`` points to; the first, nil, serves by default.
  package let upstreams: [String?]

  private let methods: RouteMethods
  private let tree: RouteTree
  /// The trees of other hosts, and where their names lead.
  private let others: [RouteTree]
  private let hosts: ByteTrie
  private let hostOfNode: [Int32]

  /// The host of a request, as far as routes tell hosts apart.
  package struct Host: Sendable, Equatable {
    fileprivate var number: Int

    /// The host of `public_url` and its aliases.
    package static let publicURL = Host(number: -1)
  }

  /// Whether any path needs more than a session: where that is so, a request whose path is not known is denied.
  package let hasRestrictions: Bool

  /// - Throws: every problem of the routes at once.
  package init(access: AccessSettings = AccessSettings(), routes: [RouteSettings] = []) throws(RouteProblems) {
    let checked = CheckedRoutes(access, routes)
    var problems = checked.problems
    var compiler = DecisionCompiler()
    tree = RouteTree(RouteTreeBuilder(checked, host: nil).parts(&compiler, &problems))
    var hosts = ByteTrie()
    var hostOfNode: [Int32] = [-1]
    var others: [RouteTree] = []
    for case .named(let name) in routes.map(\.host) {
      let node = hosts.insert(name.utf8)
      while hostOfNode.count < hosts.nodeCount { hostOfNode.append(-1) }
      guard hostOfNode[node] < 0 else { continue }
      hostOfNode[node] = Int32(others.count)
      others.append(RouteTree(RouteTreeBuilder(checked, host: name).parts(&compiler, &problems)))
    }
    if !problems.problems.isEmpty { throw RouteProblems(problems: problems.problems) }
    (self.hosts, self.hostOfNode, self.others) = (hosts, hostOfNode, others)
    hasRestrictions = tree.hasRestrictions || others.contains { $0.hasRestrictions }
    (methods, rules, upstreams) = (checked.methods, compiler.rules, compiler.upstreams)
  }

  /// The host with routes of its own that an authority names, in lower case; otherwise nil.
  package func host(named authority: Span<UInt8>) -> Host? {
    var node = 0
    for index in 0..<authority.count {
      node = hosts.child(of: node, authority[index])
      if node < 0 { return nil }
    }
    return hostOfNode[node] < 0 ? nil : Host(number: Int(hostOfNode[node]))
  }

  /// The decision on a request. A pure function of its arguments, without allocation; the time does not depend on the
  /// number of routes.
  ///
  /// - Parameters:
  ///   - path: the bytes that `judgement` was made of.
  ///   - judgement: a refused path is denied, should it be asked for nevertheless.
  ///   - method: the bytes of the method.
  ///   - host: the host that the request is for.
  package func match(
    _ path: Span<UInt8>, _ judgement: PathClassification, method: Span<UInt8>, host: Host = .publicURL
  ) -> RouteDecision {
    if case .refused = judgement { return RouteDecision(access: .deny) }
    return tree(of: host).match(path, judgement, method: methods.number(of: method))
  }

  /// The decision on a path whose method is not known: every method must be admitted.
  package func match(_ path: Span<UInt8>, _ judgement: PathClassification, host: Host = .publicURL) -> RouteDecision {
    if case .refused = judgement { return RouteDecision(access: .deny) }
    let tree = tree(of: host)
    var decision = tree.match(path, judgement, method: methods.other)
    for method in 0..<methods.count { decision = decision.restricted(by: tree.match(path, judgement, method: method)) }
    return decision
  }

  @inline(__always)
  private func tree(of host: Host) -> RouteTree { host.number < 0 ? tree : others[host.number] }

  /// The effective settings of each route, in the configured order, and of requests without a route.
  /// - Throws: every problem of the routes at once.
  package static func effectiveRoutes(
    access: AccessSettings, routes: [RouteSettings]
  ) throws(RouteProblems) -> (routes: [EffectiveRoute], elsewhere: EffectiveRoute) {
    let checked = CheckedRoutes(access, routes)
    if !checked.problems.problems.isEmpty { throw RouteProblems(problems: checked.problems.problems) }
    let builder = RouteTreeBuilder(checked, host: nil)
    var others: [String: RouteTreeBuilder] = [:]
    let result = routes.enumerated().map { index, route in
      guard case .named(let name) = route.host else { return builder.effectiveRoute(of: index) }
      let other = others[name] ?? RouteTreeBuilder(checked, host: name)
      others[name] = other
      return other.effectiveRoute(of: index)
    }
    return (result, builder.effectiveDefault)
  }
}

/// The problems of a configuration's routes.
package struct RouteProblems: Error, Sendable, Equatable {
  package var problems: [RouteProblem]
}

/// A problem of one route, or of `[access]`.
package struct RouteProblem: Sendable, Equatable {
  /// The place of the route in the configured order; nil for `[access]`.
  package var route: Int?
  /// The key that it is about.
  package var key: String
  /// The problem and its remedy.
  package var message: String
}
