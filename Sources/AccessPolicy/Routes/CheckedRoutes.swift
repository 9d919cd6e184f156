internal import WebFormats

/// Routes that were checked one by one and against each other, with the data that their order depends on.
struct CheckedRoutes {
  let access: AccessSettings
  let routes: [RouteSettings]
  private(set) var methods = RouteMethods()
  /// The bytes of each route's path.
  let paths: [[UInt8]]
  /// The bytes of each route's path as they are read leniently, without the trailing slash.
  let loosePaths: [[UInt8]]
  /// The numbers of the methods that a route holds for; nil: all.
  private(set) var methodNumbers: [Set<Int>?] = []
  private(set) var problems = RouteDiagnostics()

  /// The routes of `public_url`, of every host, and of each named host.
  private var scopes = [Scope(), Scope()]
  /// The indexes of named hosts in `scopes`.
  private var namedScopes: [[UInt8]: Int] = [:]

  private let groups: GroupNumbers

  /// The routes for one host, or for every host.
  private struct Scope {
    static let publicURL = 0
    static let all = 1

    /// Routes without a problem of their own.
    var valid: [Int] = []
    /// Routes by path, separately for each kind of match.
    var prefixes = RouteLists()
    var exacts = RouteLists()
    /// Routes that state who may pass, by the lenient readings of their paths.
    var byLoosePath = RouteLists()
  }

  init(_ access: AccessSettings, _ routes: [RouteSettings], _ groups: GroupNumbers) {
    self.access = access
    self.routes = routes
    self.groups = groups
    paths = routes.map { Array($0.path.utf8) }
    loosePaths = paths.map { Self.loose($0) }
    let accessProblems =
      (access.lists.map { self.problems(about: $0) } ?? []) + self.problems(about: access.conditions.denied)
      + unknownGroups("managers", access.managers)
    for problem in accessProblems { problems.add(problem) }
    methodNumbers.reserveCapacity(routes.count)
    for index in routes.indices {
      methodNumbers.append(routes[index].methods.map { methods.numbers(of: $0) })
      let scope = scope(of: routes[index].host)
      let found = self.problems(about: routes[index], at: index, scope)
      for problem in found { problems.add(problem, of: routes[index], at: index) }
      if found.isEmpty { scopes[scope].valid.append(index) }
    }
  }

  /// Checks routes that must be valid one by one.
  /// - Throws: every problem of single routes at once.
  init(validRoutes routes: [RouteSettings], _ access: AccessSettings, _ groups: GroupNumbers) throws(RouteTableError) {
    self.init(access, routes, groups)
    if !problems.problems.isEmpty { throw RouteTableError(problems: problems.problems) }
  }

  /// The index of a host's routes in `scopes`.
  private mutating func scope(of host: RouteSettings.HostScope) -> Int {
    switch host {
    case .publicURL: return Scope.publicURL
    case .all: return Scope.all
    case .named(let name):
      let name = Array(name.utf8)
      if let known = namedScopes[name] { return known }
      namedScopes[name] = scopes.count
      scopes.append(Scope())
      return scopes.count - 1
    }
  }

  /// Whether there are routes for a host alone.
  func hasRoutes(ofHost name: String) -> Bool {
    namedScopes[Array(name.utf8)].map { !scopes[$0].valid.isEmpty } ?? false
  }

  /// The routes that can hold for requests to a host.
  /// - Parameter host: nil for the host of `public_url`.
  func indexes(for host: String?) -> [Int] {
    let own = host.map { namedScopes[Array($0.utf8)] } ?? Scope.publicURL
    return (own.map { scopes[$0].valid } ?? []) + scopes[Scope.all].valid
  }

  /// Whether a route holds for a method.
  func holds(_ index: Int, for method: Int) -> Bool { methodNumbers[index]?.contains(method) ?? true }

  /// The methods that routes name, by their numbers.
  var methodNames: [String] {
    // A method that no route spells is the one that "GET" includes.
    var names = [String](repeating: "HEAD", count: methods.count)
    for route in routes {
      for name in route.methods ?? [] {
        let number = methods.number(of: Array(name.utf8).span)
        names[number] = name
      }
    }
    return names
  }

  /// Whether one route is more specific than another that holds for the same request: a named host before all others,
  /// then exact before prefix, the longer path, stated methods before none, no host before every host, fewer methods.
  func isMoreSpecific(_ one: Int, than other: Int, isNamedHost: Bool) -> Bool {
    let (a, b) = (rank(one, isNamedHost: isNamedHost), rank(other, isNamedHost: isNamedHost))
    return a.lexicographicallyPrecedes(b)
  }

  private func rank(_ index: Int, isNamedHost: Bool) -> [Int] {
    let route = routes[index]
    let isForAll = route.host == .all
    return [
      isNamedHost && isForAll ? 1 : 0, route.match == .exact ? 0 : 1, -route.path.utf8.count,
      route.methods == nil ? 1 : 0, isForAll ? 1 : 0, methodNumbers[index]?.count ?? 0,
    ]
  }

  private static func loose(_ path: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(path.count)
    var reading = LooseReading()
    while let byte = reading.next(in: path.span) { result.append(byte) }
    if result.last == UInt8(ascii: "/") { result.removeLast() }
    return result
  }

  // MARK: Problems

  /// The problems of a route. With respect to the routes before it only one that is valid by itself is checked.
  private mutating func problems(about route: RouteSettings, at index: Int, _ scope: Int) -> [KeyProblem] {
    var found: [KeyProblem] = []
    if let (problem, remedy) = Self.problem(about: paths[index]) {
      found.append(KeyProblem("path", problem, remedy: remedy))
    }
    if case .lists(let lists) = route.access {
      if lists.isEmpty {
        found.append(
          KeyProblem(
            "path", "its lists are all empty, so that nobody could pass",
            remedy: "name somebody, or write access = \"deny\""))
      }
      found += problems(about: lists)
    }
    found += problems(about: route.conditions.denied)
    if let methods = route.methods, methods.isEmpty || methods.contains("") {
      found.append(
        KeyProblem("methods", "it holds for no method", remedy: "name one, as in [\"GET\"], or leave methods out"))
    }
    if route.methods != nil, methods.count > RouteMethods.limit {
      found.append(
        KeyProblem(
          "methods", "the routes name more than \(RouteMethods.limit) different methods", remedy: "remove this one"))
    }
    return found.isEmpty ? problemWithEarlierRoutes(route, at: index, scope).map { [$0] } ?? [] : found
  }

  private func problems(about lists: AccessLists) -> [KeyProblem] {
    lists.problems + unknownGroups("allow_groups", lists.groups)
  }

  private func problems(about denied: DenyLists) -> [KeyProblem] {
    denied.problems + unknownGroups("deny_groups", denied.groups)
  }

  /// The problems of the names that no `[[group]]` declares.
  private func unknownGroups(_ key: String, _ names: [String]) -> [KeyProblem] {
    names.enumerated().filter { groups.number(of: $0.element) == nil }.map { entry, name in
      let nearest = NearestKey.find(name, among: groups.names)
      return KeyProblem(
        key, entry: entry, "there is no group \"\(name)\"",
        remedy: nearest.map { "did you mean \"\($0)\"?" } ?? "declare it with [[group]] and name = \"\(name)\"")
    }
  }

  /// The problem of a path by itself.
  private static func problem(about path: [UInt8]) -> (problem: String, remedy: String)? {
    if let remedy = PathPattern.remedy(for: path) { return ("a path is a prefix, not a pattern", remedy) }
    switch PathClassification.classify(path.span) {
    case .canonical: return nil
    case .refused(.notAbsolute):
      let absolute = [UInt8(ascii: "/")] + path
      guard case .canonical = PathClassification.classify(absolute.span) else {
        return ("a path begins with \"/\"", "write \"/public/\", for instance")
      }
      return ("a path begins with \"/\"", "write \"\(String(decoding: absolute, as: UTF8.self))\"")
    case .refused(.delimiter):
      return ("a route knows no query and no fragment", "leave \"?\" or \"#\" and the rest out")
    case .refused(.dotSegment): return ("\".\" and \"..\" never reach a route", "write the path they lead to")
    case .ambiguous(.rawNonASCII), .refused(.controlByte):
      return (
        "spaces and letters beyond ASCII arrive percent-encoded", "write them so (\"%C3%A9\" for \"é\")"
      )
    case .ambiguous(.emptySegment), .ambiguous(.leadingDoubleSlash):
      return ("applications take two slashes for one", "write one slash for two")
    case .ambiguous(.cookieless):
      return ("ASP.NET removes a segment of this form from every path", "write the path without it")
    case .ambiguous(.compatibilityLetter):
      return ("applications may read another letter of this path as plain ASCII", "write a path of plain letters")
    case .ambiguous, .refused:
      return (
        "servers read this path in more than one way",
        "write plain letters without \";\", \"\\\" and the percent-encodings of letters, digits, \"/\" and control "
          + "bytes"
      )
    }
  }

  /// The problem of a route with respect to the routes before it.
  private mutating func problemWithEarlierRoutes(
    _ route: RouteSettings, at index: Int, _ scope: Int
  ) -> KeyProblem? {
    if let conflict = conflict(of: index, scope) { return conflict }
    switch route.match {
    case .prefix: scopes[scope].prefixes.add(index, at: paths[index])
    case .exact: scopes[scope].exacts.add(index, at: paths[index])
    }
    guard route.statesAccess else { return nil }
    let conflicting = scopes[scope].byLoosePath.firstResult(at: loosePaths[index]) { other in
      let that = routes[other]
      return paths[other] != paths[index] && overlap(index, other)
        && (that.access != route.access || that.conditions != route.conditions || that.networks != route.networks
          || that.maxAge != route.maxAge || that.tokens != route.tokens || that.preflight != route.preflight)
        ? other : nil
    }
    // Of many spellings with the same rules, the first few are enough.
    scopes[scope].byLoosePath.add(index, at: loosePaths[index], atMost: 16)
    return conflicting.map {
      KeyProblem(
        "path",
        "differs from \"\(routes[$0].path)\" only in case, spelling or the last slash, and an application may take "
          + "them for the same", remedy: "give both the same access")
    }
  }

  /// The problem of a route with those of the same path and match.
  private func conflict(of index: Int, _ scope: Int) -> KeyProblem? {
    func conflict(_ other: Int) -> KeyProblem? {
      guard let mine = methodNumbers[index], let theirs = methodNumbers[other] else {
        return methodNumbers[index] == methodNumbers[other]
          ? KeyProblem("path", "there is a route of this path already", remedy: "join the two") : nil
      }
      if mine == theirs {
        return KeyProblem("path", "there is a route of this path and these methods already", remedy: "join the two")
      }
      if !mine.isDisjoint(with: theirs), !mine.isSubset(of: theirs), !theirs.isSubset(of: mine) {
        return KeyProblem(
          "methods", "another route of this path shares some of its methods, and neither is more specific",
          remedy: "let one of them hold for all methods of the other, or for none")
      }
      return nil
    }
    return switch routes[index].match {
    case .prefix: scopes[scope].prefixes.firstResult(at: paths[index], conflict)
    case .exact: scopes[scope].exacts.firstResult(at: paths[index], conflict)
    }
  }

  private func overlap(_ one: Int, _ other: Int) -> Bool {
    guard let mine = methodNumbers[one], let theirs = methodNumbers[other] else { return true }
    return !mine.isDisjoint(with: theirs)
  }
}
