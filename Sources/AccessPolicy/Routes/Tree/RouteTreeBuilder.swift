internal import WebFormats

/// Builds the tree of the routes that can hold for requests to one host.
struct RouteTreeBuilder {
  /// The parts of a ``RouteTree``.
  struct Parts {
    var exact = ByteTrie()
    var loose = ByteTrie()
    var places: [RouteTree.Place] = []
    var placeOfNode: [Int32] = []
    var entries: [RouteTree.LooseEntry] = []
    var firstEntry: [Int32] = []
    var folders: [Int32] = []
    var folderOfNode: [Int32] = []
    var rows: RouteRows
    var defaultRow: Int32 = 0
    var rootRow: Int32 = 0
    var everywhereRow: Int32 = 0
    /// Every decision that an entry leads to.
    var stating: Set<RouteDecision> = []
    /// The kinds of access that the path of a request can meet, read byte for byte.
    var reachable: Set<RouteDecision.Access> = []
  }

  private let checked: CheckedRoutes
  /// The host if it is one of its own, whose routes precede those of every host; nil for that of `public_url`.
  private let host: NamedHost?
  private var exact = ByteTrie()
  /// The place of each node of `exact`; -1 for a node without routes.
  private var placeOfNode: [Int32] = [-1]
  private var places: [Place] = []

  /// A path that has routes.
  private struct Place {
    let path: [UInt8]
    /// The routes for exactly the path, and for the path as a prefix.
    var exact: [Int] = []
    var prefix: [Int] = []
    /// The place of the longest other prefix, or file with an exact route, that the path lies under; -1 without one.
    var parent = -1
  }

  /// - Parameter host: nil for the host of `public_url`.
  init(_ checked: CheckedRoutes, host: NamedHost?) {
    self.checked = checked
    self.host = host
    for index in checked.indexes(for: host?.name) { add(index) }
    for place in places.indices { places[place].parent = parent(of: place) }
  }

  private mutating func add(_ index: Int) {
    let path = checked.paths[index]
    let node = exact.insert(path)
    while placeOfNode.count < exact.nodeCount { placeOfNode.append(-1) }
    if placeOfNode[node] < 0 {
      placeOfNode[node] = Int32(places.count)
      places.append(Place(path: path))
    }
    let place = Int(placeOfNode[node])
    switch checked.routes[index].match {
    case .exact: places[place].exact.append(index)
    case .prefix: places[place].prefix.append(index)
    }
  }

  private func parent(of place: Int) -> Int {
    let path = places[place].path
    var result = -1
    var node = 0
    for index in path.indices {
      node = exact.child(of: node, path[index])
      let above = Int(placeOfNode[node])
      guard above >= 0, above != place,
        !places[above].prefix.isEmpty || !places[above].exact.isEmpty && Self.isFile(places[above].path)
      else { continue }
      // A prefix ends with a slash, or the path goes on with one.
      if path[index] == UInt8(ascii: "/") || path[index + 1] == UInt8(ascii: "/") { result = above }
    }
    return result
  }

  // MARK: Chains

  /// The routes that hold for a request, the most specific one first.
  /// - Parameter withExact: whether routes for exactly the path are among them, or the path stands for what is below
  ///   it.
  private func chain(at place: Int, withExact: Bool, method: Int) -> [Int] {
    var chain: [Int] = []
    forEachRoute(at: place, withExact: withExact) { if checked.holds($0, for: method) { chain.append($0) } }
    if chain.count > 1 { chain.sort { checked.isMoreSpecific($0, than: $1, isNamedHost: host != nil) } }
    return chain
  }

  /// Calls a function with each route that holds at a place for any method.
  private func forEachRoute(at place: Int, withExact: Bool, _ body: (Int) -> Void) {
    if withExact { places[place].exact.forEach(body) }
    var place = place
    while place >= 0 {
      places[place].prefix.forEach(body)
      place = places[place].parent
    }
  }

  /// The place of a route that can hold for requests to the host.
  private func place(of index: Int) -> Int {
    guard let node = exact.node(of: checked.paths[index]) else { preconditionFailure("a route of another host") }
    return Int(placeOfNode[node])
  }

  /// The effective settings of a route, by the methods that it holds for.
  /// - Parameter names: ``CheckedRoutes/methodNames``.
  func effectiveSettings(of index: Int, _ names: [String]) -> ByMethod<EffectiveRoute> {
    effectiveSettings(of: index, withExact: checked.routes[index].match == .exact, names)
  }

  /// The settings of requests for what is below the path of an exact route, by the methods that the route holds for.
  /// Empty for a route for a prefix.
  func effectiveSettings(ofRestAt index: Int, _ names: [String]) -> ByMethod<EffectiveRoute> {
    checked.routes[index].match == .exact ? effectiveSettings(of: index, withExact: false, names) : ByMethod()
  }

  /// - Parameter isExact: whether routes for exactly the path count, too.
  private func effectiveSettings(
    of index: Int, withExact isExact: Bool, _ names: [String]
  ) -> ByMethod<EffectiveRoute> {
    let place = place(of: index)
    var result = ByMethod<EffectiveRoute>()
    func addSettings(of method: Int, for methods: MethodSet) {
      result.add(effective(chain(at: place, withExact: isExact, method: method)), for: methods)
    }
    let named = namedMethods(of: index, at: place, withExact: isExact)
    for method in named.sorted(by: { names[$0] < names[$1] }) {
      addSettings(of: method, for: MethodSet(named: [names[method]], includesOthers: false))
    }
    // Methods that no route at the place names have the same settings.
    if checked.methodNumbers[index] == nil {
      addSettings(of: checked.methods.other, for: MethodSet(named: [], includesOthers: true))
    }
    return result
  }

  /// The effective settings of requests for a route's own path, with each of these methods that it does not hold for.
  func effectiveSettings(of index: Int, withOther methods: [String]) -> ByMethod<EffectiveRoute> {
    var result = ByMethod<EffectiveRoute>()
    guard checked.methodNumbers[index] != nil else { return result }
    let (place, isExact) = (place(of: index), checked.routes[index].match == .exact)
    for name in methods {
      let method = checked.methods.number(of: Array(name.utf8).span)
      if checked.holds(index, for: method) { continue }
      result.add(
        effective(chain(at: place, withExact: isExact, method: method)),
        for: MethodSet(named: [name], includesOthers: false))
    }
    return result
  }

  /// The routes that state who is admitted below a path of their own, in the configured order.
  func statingRoutes(among indexes: [Int]) -> [Int] {
    indexes.filter { checked.routes[$0].statesAccess && !checked.loosePaths[$0].isEmpty }
  }

  /// The routes that state who is admitted below each route's path, in the order of `indexes`.
  func narrowerRoutes(than indexes: [Int]) -> [Int: [Int]] {
    var below: [Int: [Int]] = [:]
    for index in statingRoutes(among: indexes) {
      var path = checked.paths[index]
      if path.last == UInt8(ascii: "/") { path.removeLast() }
      var node = 0
      for place in path.indices {
        let isFolder = path[place] == UInt8(ascii: "/")
        // The folder without its slash, then with it.
        if isFolder { note(index, below: node, &below) }
        node = exact.child(of: node, path[place])
        if isFolder { note(index, below: node, &below) }
      }
    }
    return below
  }

  /// Notes a route as one below those whose path a node is.
  private func note(_ index: Int, below node: Int, _ result: inout [Int: [Int]]) {
    let place = Int(placeOfNode[node])
    guard place >= 0 else { return }
    for route in places[place].prefix + places[place].exact { result[route, default: []].append(index) }
  }

  /// The numbers of the methods that a route holds for, as far as routes at its place name them.
  private func namedMethods(of index: Int, at place: Int, withExact: Bool) -> Set<Int> {
    if let own = checked.methodNumbers[index] { return own }
    var named: Set<Int> = []
    forEachRoute(at: place, withExact: withExact) { named.formUnion(checked.methodNumbers[$0] ?? []) }
    return named
  }

  /// The effective settings of requests without a route.
  var effectiveDefault: EffectiveRoute { effective([]) }

  private func effective(_ chain: [Int]) -> EffectiveRoute {
    EffectiveRoute(chain, of: checked.routes, checked.access, host: host)
  }

  // MARK: Parts

  /// - Parameters:
  ///   - compiler: compiles effective settings into decisions.
  ///   - problems: receives the problems of chains of routes.
  func parts(_ compiler: inout DecisionCompiler, _ problems: inout RouteDiagnostics) -> Parts {
    var parts = Parts(rows: RouteRows(methods: checked.methods.count))
    parts.exact = exact
    parts.placeOfNode = placeOfNode
    parts.defaultRow = parts.rows.number(of: compiler.decision(effectiveDefault))
    parts.rootRow = parts.defaultRow
    var unions = Unions(everywhere: (0...checked.methods.other).map { _ in Self.everything })
    parts.places.reserveCapacity(places.count)
    parts.entries.reserveCapacity(places.count)
    for (number, place) in places.enumerated() {
      var result = RouteTree.Place()
      for (routes, isExact) in [(place.prefix, false), (place.exact, true)] where !routes.isEmpty {
        let decisions = setRows(of: &result, at: number, isExact: isExact, &parts, &compiler, &problems)
        unions.addReachable(parts.rows.add(decisions), decisions, of: parts.rows.decisions)
        guard let stated = statedDecisions(of: routes, among: decisions, &parts.rows) else { continue }
        let row = parts.rows.add(stated)
        unions.addStated(row, stated, of: parts.rows.decisions)
        parts.entries.append(entry(of: routes, at: number, isExact: isExact, row: row, in: &parts.loose))
      }
      parts.places.append(result)
    }
    if parts.rootRow == parts.defaultRow {
      unions.reachable.insert(parts.rows.decisions[Int(parts.defaultRow)].access)
    }
    (parts.stating, parts.reachable) = (unions.stating, unions.reachable)
    parts.everywhereRow = parts.rows.add(unions.everywhere.map { parts.rows.number(of: $0) })
    sortEntries(of: &parts)
    addFolders(to: &parts)
    nest(&parts.places)
    return parts
  }

  /// The unions of all rows. Several places may have the same row, which is added once.
  private struct Unions {
    /// The restrictions of all entries together, by method.
    var everywhere: [RouteDecision]
    /// Every decision that an entry leads to.
    var stating: Set<RouteDecision> = []
    /// The kinds of access that the path of a request can meet, read byte for byte.
    var reachable: Set<RouteDecision.Access> = []
    var rows: Set<Int32> = []
    var statedRows: Set<Int32> = []

    /// Adds the row of a place, whose numbers are those of decisions.
    mutating func addReachable(_ row: Int32, _ numbers: [Int32], of decisions: [RouteDecision]) {
      guard rows.insert(row).inserted else { return }
      for number in numbers { reachable.insert(decisions[Int(number)].access) }
    }

    /// Adds the row of an entry, whose numbers are those of decisions, or ``RouteTree/noDecision``.
    mutating func addStated(_ row: Int32, _ numbers: [Int32], of decisions: [RouteDecision]) {
      guard statedRows.insert(row).inserted else { return }
      for method in everywhere.indices {
        let number = numbers[numbers.count == 1 ? 0 : method]
        if number == RouteTree.noDecision { continue }
        let decision = decisions[Int(number)]
        // Signing out restricts nobody: it must not apply to every path with another reading.
        if decision.access != .signOut { everywhere[method] = everywhere[method].restricted(by: decision) }
        stating.insert(decision)
      }
    }
  }

  /// Sets the rows that a place has for its path as a prefix, or for exactly its path.
  /// - Returns: the numbers of the decisions of the row.
  private func setRows(
    of result: inout RouteTree.Place, at number: Int, isExact: Bool, _ parts: inout Parts,
    _ compiler: inout DecisionCompiler, _ problems: inout RouteDiagnostics
  ) -> [Int32] {
    let (decisions, depth) = self.decisions(at: number, isExact: isExact, &parts.rows, &compiler, &problems)
    if isExact {
      let rest = self.decisions(at: number, isExact: false, &parts.rows, &compiler, &problems).numbers
      (result.exact, result.exactWithRest) = Self.exactRows(decisions, rest, &parts.rows)
      result.exactAccessDepth = depth
    } else {
      (result.prefix, result.prefixAccessDepth) = (parts.rows.add(decisions), depth)
      if places[number].path == [UInt8(ascii: "/")] { parts.rootRow = result.prefix }
    }
    return decisions
  }

  /// The entry of a place under the lenient reading of its path.
  /// - Parameter routes: those for the place's path with one kind of match; not empty.
  private func entry(
    of routes: [Int], at number: Int, isExact: Bool, row: Int32, in loose: inout ByteTrie
  ) -> RouteTree.LooseEntry {
    let path = places[number].path
    return RouteTree.LooseEntry(
      looseNode: Int32(loose.insert(checked.loosePaths[routes[0]])), place: Int32(number), isExact: isExact,
      coversPathInfo: isExact && Self.isFile(path),
      liftableLength: routes.allSatisfy { checked.routes[$0].statesOnlyAccess } ? Int32(path.count) : nil, row: row)
  }

  /// Sorts the entries by their nodes, and notes the first entry of each node.
  private func sortEntries(of parts: inout Parts) {
    parts.entries.sort { $0.looseNode < $1.looseNode }
    parts.firstEntry = [Int32](repeating: -1, count: parts.loose.nodeCount)
    for (index, entry) in parts.entries.enumerated().reversed() {
      parts.firstEntry[Int(entry.looseNode)] = Int32(index)
    }
  }

  /// Adds what lies below each folder.
  private func addFolders(to parts: inout Parts) {
    var folders = FolderRows(nodeCount: parts.loose.nodeCount, open: parts.rows.number(of: Self.everything))
    for entry in parts.entries {
      let place = places[Int(entry.place)]
      guard let route = entry.isExact ? place.exact.first : place.prefix.first else {
        preconditionFailure("an entry without a route")
      }
      folders.add(entry.row, at: checked.loosePaths[route], in: parts.loose, &parts.rows)
    }
    parts.folders = folders.folders(&parts.rows)
    parts.folderOfNode = folders.ofNode
  }

  /// The rows of a path that has an exact route.
  ///
  /// The route does not hold for what is below the path: a request that acts on it must be admitted by the other routes
  /// as well.
  /// - Parameters:
  ///   - exact: the decisions on the path itself.
  ///   - rest: those on the path without the exact route.
  /// - Returns: the row of requests for the path alone, from which a field with another method is removed where that
  ///   makes a difference, and the row of requests that act on what is below the path.
  private static func exactRows(
    _ exact: [Int32], _ rest: [Int32], _ rows: inout RouteRows
  ) -> (alone: Int32, withRest: Int32) {
    var (alone, withRest): ([Int32], [Int32]) = ([], [])
    for method in 0..<max(exact.count, rest.count) {
      var own = rows.decisions[Int(exact[exact.count == 1 ? 0 : method])]
      let below = rows.decisions[Int(rest[rest.count == 1 ? 0 : method])]
      // Requests for signing out reach nothing of the application.
      let both = own.access == .signOut || below.access == .signOut ? own : own.restricted(by: below)
      if both.admitsOthers(than: own) { own.dropsMethodOverride = true }
      alone.append(rows.number(of: own))
      withRest.append(rows.number(of: both))
    }
    return (rows.add(alone), rows.add(withRest))
  }

  /// Whether a path ends with what looks like the name of a file: a dot within it, before a letter. Servers that run
  /// scripts (PHP, CGI, ASP.NET) answer `/login.php/x` with `/login.php`, and pass the rest as PATH_INFO (RFC 3875,
  /// 4.1.5).
  private static func isFile(_ path: [UInt8]) -> Bool {
    let name = path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    return name.indices.dropFirst().dropLast().contains { index in
      name[index] == UInt8(ascii: ".") && name[index + 1].isASCIILetter
    }
  }

  /// The numbers of the decisions at a place: one, or one for each method where routes above or at it name methods.
  /// - Returns: them, and the least length of the path of a route whose `access` is in effect; 0 without such a route.
  private func decisions(
    at place: Int, isExact: Bool, _ rows: inout RouteRows, _ compiler: inout DecisionCompiler,
    _ problems: inout RouteDiagnostics
  ) -> (numbers: [Int32], accessDepth: Int32) {
    var namesMethods = false
    var depth = places[place].path.count
    if checked.methods.count > 0 {
      forEachRoute(at: place, withExact: isExact) { if checked.methodNumbers[$0] != nil { namesMethods = true } }
    }
    let methods = namesMethods ? 0...checked.methods.other : checked.methods.other...checked.methods.other
    let numbers = methods.map { method in
      let chain = chain(at: place, withExact: isExact, method: method)
      let effective = effective(chain)
      problems.check(effective, chain, checked)
      if case .route(let source) = effective.access.source {
        depth = min(depth, checked.paths[source].count)
      } else {
        depth = 0
      }
      return rows.number(of: compiler.decision(effective, dropsMethodOverride: namesMethods))
    }
    return (numbers, Int32(depth))
  }

  /// The numbers of the decisions that hold at a place for other readings of its path, too: one, or one for each method
  /// (``RouteTree/noDecision`` where its routes state nothing). Nil if they state nothing at all.
  /// - Parameters:
  ///   - routes: those for the place's path with one kind of match.
  ///   - decisions: those at the place.
  private func statedDecisions(
    of routes: [Int], among decisions: [Int32], _ rows: inout RouteRows
  ) -> [Int32]? {
    if decisions.count == 1 { return routes.contains { checked.routes[$0].statesAccess } ? decisions : nil }
    let namesMethods = routes.contains { checked.methodNumbers[$0] != nil }
    let unstated = namesMethods ? rows.number(of: Self.withoutMethodOverride) : RouteTree.noDecision
    let stated = decisions.indices.map { method in
      routes.contains { checked.holds($0, for: method) && checked.routes[$0].statesAccess }
        ? decisions[method] : unstated
    }
    return stated.contains { $0 != RouteTree.noDecision } ? stated : nil
  }

  /// The decision without any requirement.
  private static let everything: RouteDecision = {
    var decision = RouteDecision(access: .public)
    decision.passesPreflights = true
    return decision
  }()

  /// The decision for other readings of a path by a route with methods and without an admission rule.
  private static let withoutMethodOverride: RouteDecision = {
    var decision = everything
    decision.dropsMethodOverride = true
    return decision
  }()

  /// Numbers the places so that those under a prefix directly follow it.
  private func nest(_ result: inout [RouteTree.Place]) {
    var children: [[Int]] = Array(repeating: [], count: places.count)
    var roots: [Int] = []
    for (number, place) in places.enumerated() {
      if place.parent < 0 { roots.append(number) } else { children[place.parent].append(number) }
    }
    var next: Int32 = 0
    // Each place twice: when it is entered, and when all below it are numbered.
    var stack = roots.map { (place: $0, isDone: false) }
    while let (place, isDone) = stack.popLast() {
      if isDone {
        result[place].subtree = result[place].subtree.lowerBound..<next
      } else {
        result[place].subtree = next..<next
        next += 1
        stack.append((place, true))
        stack += children[place].map { ($0, false) }
      }
    }
  }
}
