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
  private let hostRoutes: HostRoutes

  /// - Parameter host: nil for the host of `public_url`.
  init(_ checked: CheckedRoutes, host: NamedHost?) {
    self.checked = checked
    hostRoutes = HostRoutes(checked, host: host)
  }

  /// - Parameters:
  ///   - compiler: compiles effective settings into decisions.
  ///   - problems: receives the problems of chains of routes.
  func parts(_ compiler: inout DecisionCompiler, _ problems: inout RouteDiagnostics) -> Parts {
    var parts = Parts(rows: RouteRows(methods: checked.methods.count))
    parts.exact = hostRoutes.paths
    parts.placeOfNode = hostRoutes.placeOfNode
    parts.defaultRow = parts.rows.number(of: compiler.decision(hostRoutes.effectiveDefault))
    parts.rootRow = parts.defaultRow
    var unions = Unions(everywhere: (0...checked.methods.other).map { _ in Self.everything })
    parts.places.reserveCapacity(hostRoutes.places.count)
    parts.entries.reserveCapacity(hostRoutes.places.count)
    for (number, place) in hostRoutes.places.enumerated() {
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
      if hostRoutes.places[number].path == [UInt8(ascii: "/")] { parts.rootRow = result.prefix }
    }
    return decisions
  }

  /// The entry of a place under the lenient reading of its path.
  /// - Parameter routes: those for the place's path with one kind of match; not empty.
  private func entry(
    of routes: [Int], at number: Int, isExact: Bool, row: Int32, in loose: inout ByteTrie
  ) -> RouteTree.LooseEntry {
    let path = hostRoutes.places[number].path
    return RouteTree.LooseEntry(
      looseNode: Int32(loose.insert(checked.loosePaths[routes[0]])), place: Int32(number), isExact: isExact,
      coversPathInfo: isExact && HostRoutes.isFile(path),
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
      let place = hostRoutes.places[Int(entry.place)]
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

  /// The numbers of the decisions at a place: one, or one for each method where routes above or at it name methods.
  /// - Returns: them, and the least length of the path of a route whose `access` is in effect; 0 without such a route.
  private func decisions(
    at place: Int, isExact: Bool, _ rows: inout RouteRows, _ compiler: inout DecisionCompiler,
    _ problems: inout RouteDiagnostics
  ) -> (numbers: [Int32], accessDepth: Int32) {
    var namesMethods = false
    var depth = hostRoutes.places[place].path.count
    if checked.methods.count > 0 {
      hostRoutes.forEachRoute(at: place, withExact: isExact) { route in
        if checked.methodNumbers[route] != nil { namesMethods = true }
      }
    }
    let methods = namesMethods ? 0...checked.methods.other : checked.methods.other...checked.methods.other
    let numbers = methods.map { method in
      let chain = hostRoutes.chain(at: place, withExact: isExact, method: method)
      let effective = hostRoutes.effective(chain)
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
    var children: [[Int]] = Array(repeating: [], count: hostRoutes.places.count)
    var roots: [Int] = []
    for (number, place) in hostRoutes.places.enumerated() {
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
