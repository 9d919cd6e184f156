package import WebFormats

/// The compiled routes of the configuration.
///
/// Of the routes that hold for a request (by host, path and method), ordered from the most to the least specific, each
/// setting comes from the first one that states it, and in the end from `[access]`. Conditions add up.
///
/// A route for a prefix holds for what begins with it byte for byte, case-sensitively: one that ends with `/` for what
/// is below it (`/public/` for `/public/x`, not for `/public` or `/publicx`); one that does not also for the path
/// itself (`/api` for `/api` and `/api/x`, not for `/apix`).
///
/// Then other readings of the path are considered, because the application may be more lenient than we are:
/// - Where the path lies under a route's path only when read leniently (``LooseReading``: case, a trailing dot,
///   `/admin` for `/admin/`, an encoded letter, a path parameter, …; `/login.php/x` for exactly `/login.php`), that
///   route must admit the request, too.
///   Routes that state no admission settings do not count: what they inherit holds where it is stated.
/// - An ambiguous path also gets nothing laxer than the default, nor than the route `/` if there is one, unless it is
///   ambiguous only by a segment that ASP.NET removes (``PathAmbiguity/cookieless``).
/// - Where servers read another path altogether (``PathReadings``: decoded twice, without an authority or such a
///   segment), the request must be admitted to that path, too.
/// - Of an ambiguous path that could be anywhere (``PathAmbiguity/couldBeAnywhere``) every route of the table must
///   admit it.
///
/// A request that acts on a folder (``RequestDepth``: DELETE, COPY, PROPFIND, …) must also be admitted by each route
/// whose path is below the folder's, in every reading of the path, and, if the folder has a route for exactly its path,
/// by what holds without that route. A listing of its members (``RequestDepth/members``) needs only the latter.
///
/// A class, so that it is not copied for every request.
package final class RouteTable: Sendable {
  /// The rules that ``RouteDecision/Access/rules(_:)`` points into.
  package let rules: [AccessRules]
  /// The names of the applications that ``RouteDecision/upstream`` points to; the first, nil, serves by default.
  package let upstreams: [String?]
  /// The conditions that ``RouteDecision/networks`` points into.
  package let networks: [NetworkCondition]

  /// The deny lists of `[access]`.
  private let denied: CompiledDenials
  /// The kinds of access on all reachable routes that admit users, except for public ones.
  private let reachable: [RouteDecision.Access]

  private let groups: GroupNumbers
  private let methods: RouteMethods
  private let tree: RouteTree
  /// The trees of other hosts, and their names. Hosts without routes of their own share a tree if they have
  /// the same upstream.
  private let others: [RouteTree]
  private let hosts: ByteTrie
  private let hostOfNode: [Int32]

  /// The host of a request, as far as routes distinguish hosts.
  package struct Host: Sendable, Equatable {
    fileprivate var number: Int

    /// The host of `public_url` and its aliases.
    package static let publicURL = Host(number: -1)
  }

  /// Whether any path needs more than a session, or an address: where that is so, a request whose path is not known is
  /// denied.
  package let hasRestrictions: Bool

  /// - Parameters:
  ///   - groups: the names of the declared groups, in any order. Rules number them as `GroupDirectory` does.
  ///   - hosts: the hosts besides that of `public_url`, whether routes name them or not.
  /// - Throws: every problem of the routes at once.
  package init(
    access: AccessSettings = AccessSettings(), routes: [RouteSettings] = [], groups: [String] = [],
    hosts: [HostSettings] = []
  ) throws(RouteTableError) {
    let numbers = GroupNumbers(groups)
    self.groups = numbers
    let checked = CheckedRoutes(access, routes, numbers)
    var problems = checked.problems
    var compiler = DecisionCompiler(numbers)
    tree = RouteTree(RouteTreeBuilder(checked, host: nil).parts(&compiler, &problems))
    var names = ByteTrie()
    var hostOfNode: [Int32] = [-1]
    var others: [RouteTree] = []
    var shared: [[UInt8]: Int32] = [:]
    for host in NamedHost.all(hosts, routes) {
      let node = names.insert(host.name.utf8)
      while hostOfNode.count < names.nodeCount { hostOfNode.append(-1) }
      let upstream = Array(host.upstream.utf8)
      let hasOwnRoutes = checked.hasRoutes(ofHost: host.name)
      if !hasOwnRoutes, let known = shared[upstream] {
        hostOfNode[node] = known
        continue
      }
      hostOfNode[node] = Int32(others.count)
      if !hasOwnRoutes { shared[upstream] = Int32(others.count) }
      others.append(RouteTree(RouteTreeBuilder(checked, host: host).parts(&compiler, &problems)))
    }
    if !problems.problems.isEmpty { throw RouteTableError(problems: problems.problems) }
    (self.hosts, self.hostOfNode, self.others) = (names, hostOfNode, others)
    hasRestrictions = tree.hasRestrictions || others.contains { $0.hasRestrictions }
    (methods, rules, upstreams) = (checked.methods, compiler.rules, compiler.upstreams)
    networks = compiler.networks
    denied = compiler.compiled(access.conditions.denied, of: .access)
    reachable = others.reduce(tree.reachable) { $0.union($1.reachable) }.filter {
      $0 != .public && $0 != .signOut && $0 != .deny
    }
  }

  // MARK: Users, tokens and addresses

  /// Whether the deny lists of `[access]` name a user. Such a user is anonymous on public routes.
  package func isDenied(_ user: Principal) -> Bool { denied.names(user) }

  /// Whether any route that is not public could admit a user, by lists, groups and conditions; whatever its networks,
  /// methods and maximum age. The time is proportional to the number of different rules.
  /// - Parameters: as of ``AccessRules/evaluate(_:requiresVerifiedEmail:claim:)``.
  package func couldAdmit(
    _ user: Principal, requiresVerifiedEmail: Bool = true, claim: (String) -> [String] = { _ in [] }
  ) -> Bool {
    reachable.contains { access in
      guard case .rules(let indexes) = access else { return access == .signedIn }
      return (0..<indexes.count).allSatisfy {
        rules[indexes[$0]].evaluate(user, requiresVerifiedEmail: requiresVerifiedEmail, claim: claim) == .allowed
      }
    }
  }

  /// Whether membership in a group could admit a user whom rules deny: each that denies does so by its lists, which
  /// name a group.
  /// - Parameter decide: decides on the user by one of the rules.
  package func couldBeLifted(_ indexes: RuleIndexes, decide: (_ rule: Int) -> AccessDecision) -> Bool {
    (0..<indexes.count).allSatisfy { position in
      guard case .denied(let reason) = decide(indexes[position]) else { return true }
      return rules[indexes[position]].couldBeLifted(reason)
    }
  }

  /// The decision on a machine token in a group of this name. An undeclared group admits nowhere.
  package func evaluateToken(inGroupNamed name: String, by access: RouteDecision.Access) -> AccessDecision {
    groups.number(of: name).map { evaluateToken(in: $0, by: access) } ?? .denied(.notListed)
  }

  /// The decision on a machine token, whether or not the route accepts tokens at all: it is admitted by `allow_groups`
  /// only. On a public route it is anonymous, and not evaluated.
  /// - Parameter group: the number of its group in the `GroupDirectory`.
  package func evaluateToken(in group: Int, by access: RouteDecision.Access) -> AccessDecision {
    guard case .rules(let indexes) = access, indexes.count > 0 else { return .denied(.notListed) }
    for position in 0..<indexes.count {
      let decision = rules[indexes[position]].evaluateToken(in: group)
      if decision != .allowed { return decision }
    }
    return .allowed
  }

  /// Whether a client's address meets the `networks` of a decision. An unknown address meets none.
  package func admits(_ decision: RouteDecision, from address: IPAddress?) -> Bool {
    for position in 0..<decision.networks.count where !networks[decision.networks[position]].contains(address) {
      return false
    }
    return true
  }

  // MARK: Matching

  /// The host besides that of `public_url` that an authority names, in lower case and without its scheme's port;
  /// otherwise nil.
  package func host(named authority: Span<UInt8>) -> Host? {
    var node = 0
    for index in 0..<authority.count {
      node = hosts.child(of: node, authority[index])
      if node < 0 { return nil }
    }
    return hostOfNode[node] < 0 ? nil : Host(number: Int(hostOfNode[node]))
  }

  /// The decision on a request. A pure function of its arguments, without allocation unless the path has further
  /// readings; the time does not depend on the number of routes.
  ///
  /// - Parameters:
  ///   - path: the bytes that were classified.
  ///   - classification: that of the path; a refused one is denied.
  ///   - method: the bytes of the method.
  ///   - depth: the value of `Depth`; ``RequestDepth/everything`` for anything but 0 and 1.
  ///   - host: the host that the request is for.
  package func match(
    _ path: Span<UInt8>, _ classification: PathClassification, method: Span<UInt8>,
    depth: RequestDepth = .everything, host: Host = .publicURL
  ) -> RouteDecision {
    if case .refused = classification { return RouteDecision(access: .deny) }
    let (tree, depth) = (tree(of: host), RequestDepth(method: method, field: depth))
    let number = methods.number(of: method)
    let decision = tree.match(path, classification, method: number, depth: depth)
    guard let readings = readings(of: path, classification, tree) else { return decision }
    return restricted(decision, to: readings, tree, number, depth)
  }

  /// The decision on a path whose method is not known: every method must be admitted to the path, not to what is below
  /// it, which most requests do not act on.
  package func match(
    _ path: Span<UInt8>, _ classification: PathClassification, host: Host = .publicURL
  ) -> RouteDecision {
    if case .refused = classification { return RouteDecision(access: .deny) }
    let tree = tree(of: host)
    let readings = readings(of: path, classification, tree)
    func decision(_ method: Int) -> RouteDecision {
      let decision = tree.match(path, classification, method: method, depth: .resource)
      return readings.map { restricted(decision, to: $0, tree, method, .resource) } ?? decision
    }
    var result = decision(methods.other)
    for method in 0..<methods.count { result = result.restricted(by: decision(method)) }
    return result
  }

  /// The paths that servers read instead of an ambiguous one; nil where there are none, or where they change nothing.
  @inline(__always)
  private func readings(
    of path: Span<UInt8>, _ classification: PathClassification, _ tree: RouteTree
  ) -> PathReadings? {
    guard case .ambiguous(let ambiguity) = classification, ambiguity.hasFurtherReadings, tree.canRestrict else {
      return nil
    }
    return PathReadings(of: path)
  }

  /// The decision on a path whose further readings must be admitted as well.
  private func restricted(
    _ decision: RouteDecision, to readings: PathReadings, _ tree: RouteTree, _ method: Int, _ depth: RequestDepth
  ) -> RouteDecision {
    var result = decision
    if readings.couldBeAnywhere { tree.restrictEverywhere(&result, method) }
    for reading in readings.paths {
      result = result.restricted(
        by: tree.match(reading.path.span, reading.classification, method: method, depth: depth))
    }
    return result.marked(against: decision)
  }

  @inline(__always)
  private func tree(of host: Host) -> RouteTree { host.number < 0 ? tree : others[host.number] }
}
