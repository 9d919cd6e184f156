/// Lays the routes out that can hold for requests to one host.
struct RouteTreeBuilder {
  /// The parts of a ``RouteTree``.
  struct Parts {
    var exact = ByteTrie()
    var loose = ByteTrie()
    var places: [RouteTree.Place] = []
    var placeOfNode: [Int32] = []
    var entries: [RouteTree.LooseEntry] = []
    var firstEntry: [Int32] = []
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
  /// The host if it is one of its own, whose routes stand before those of every host; nil for that of `public_url`.
  private let host: NamedHost?
  private var exact = ByteTrie()
  /// The place of each node of `exact`; -1 if there is none.
  private var placeOfNode: [Int32] = [-1]
  private var places: [(path: [UInt8], exact: [Int], prefix: [Int])] = []

  /// - Parameter host: nil for the host of `public_url`.
  init(_ checked: CheckedRoutes, host: NamedHost?) {
    self.checked = checked
    self.host = host
    for index in checked.indexes(for: host?.name) { add(checked.routes[index], at: index) }
  }

  private mutating func add(_ route: RouteSettings, at index: Int) {
    let path = Array(route.path.utf8)
    let node = exact.insert(path)
    while placeOfNode.count < exact.nodeCount { placeOfNode.append(-1) }
    if placeOfNode[node] < 0 {
      placeOfNode[node] = Int32(places.count)
      places.append((path, [], []))
    }
    let place = Int(placeOfNode[node])
    switch route.match {
    case .exact: places[place].exact.append(index)
    case .prefix: places[place].prefix.append(index)
    }
  }

  // MARK: Chains

  /// The routes that hold for a request, the most specific one first.
  /// - Parameter withExact: whether routes for exactly the path are among them, or the path stands for what is below
  ///   it.
  func chain(at path: [UInt8], withExact: Bool, method: Int) -> [Int] {
    var chain: [Int] = []
    for place in prefixes(of: path) { chain += places[place].prefix }
    if withExact, let place = place(of: path) { chain += places[place].exact }
    chain.removeAll { !checked.holds($0, for: method) }
    if chain.count > 1 { chain.sort { checked.isMoreSpecific($0, than: $1, isNamedHost: host != nil) } }
    return chain
  }

  /// The effective settings of a route, by the first of its methods.
  func effectiveRoute(of index: Int) -> EffectiveRoute {
    let route = checked.routes[index]
    let method = checked.methodNumbers[index]?.min() ?? checked.methods.other
    return effective(chain(at: Array(route.path.utf8), withExact: route.match == .exact, method: method))
  }

  /// Whether a route decides anything: whether any setting of a request for its own path comes from it.
  func hasEffect(_ index: Int) -> Bool {
    let route = checked.routes[index]
    let methods = checked.methodNumbers[index].map { Array($0) } ?? Array(0...checked.methods.other)
    return methods.contains { method in
      effective(chain(at: Array(route.path.utf8), withExact: route.match == .exact, method: method))
        .comes(fromRoute: index)
    }
  }

  /// The effective settings of requests without a route.
  var effectiveDefault: EffectiveRoute { effective([]) }

  private func effective(_ chain: [Int]) -> EffectiveRoute {
    EffectiveRoute(chain, of: checked.routes, checked.access, host: host)
  }

  /// The places with prefixes that a path lies under.
  private func prefixes(of path: [UInt8]) -> [Int] {
    var result: [Int] = []
    var node = 0
    for (index, byte) in path.enumerated() {
      node = exact.child(of: node, byte)
      guard node >= 0 else { break }
      let place = Int(placeOfNode[node])
      guard place >= 0, !places[place].prefix.isEmpty else { continue }
      if index + 1 == path.count || byte == UInt8(ascii: "/") || path[index + 1] == UInt8(ascii: "/") {
        result.append(place)
      }
    }
    return result
  }

  private func place(of path: [UInt8]) -> Int? {
    var node = 0
    for byte in path {
      node = exact.child(of: node, byte)
      if node < 0 { return nil }
    }
    return placeOfNode[node] < 0 ? nil : Int(placeOfNode[node])
  }

  // MARK: Parts

  /// - Parameters:
  ///   - compiler: makes decisions of what holds.
  ///   - problems: takes what is wrong with a chain of routes.
  func parts(_ compiler: inout DecisionCompiler, _ problems: inout RouteDiagnostics) -> Parts {
    var parts = Parts(rows: RouteRows(methods: checked.methods.count))
    parts.exact = exact
    parts.placeOfNode = placeOfNode
    let methods = 0...checked.methods.other
    parts.defaultRow = parts.rows.add(methods.map { _ in compiler.decision(effectiveDefault) })
    parts.rootRow = parts.defaultRow
    var everywhere = methods.map { _ in Self.everything }
    var looseNodes: [RouteTree.LooseEntry] = []
    for (number, place) in places.enumerated() {
      var result = RouteTree.Place()
      for (routes, isExact) in [(place.prefix, false), (place.exact, true)] where !routes.isEmpty {
        let decisions = decisions(at: place.path, isExact: isExact, &compiler, &problems)
        let row = parts.rows.add(decisions)
        if isExact { result.exact = row } else { result.prefix = row }
        if !isExact, place.path == [UInt8(ascii: "/")] { parts.rootRow = row }
        parts.reachable.formUnion(decisions.map(\.access))
        let namesMethods = routes.contains { checked.methodNumbers[$0] != nil }
        let stated = methods.map { method in
          routes.contains { checked.holds($0, for: method) && checked.routes[$0].statesAccess }
            ? decisions[decisions.count == 1 ? 0 : method] : namesMethods ? Self.withoutMethodOverride : nil
        }
        guard stated.contains(where: { $0 != nil }) else { continue }
        for (method, decision) in stated.enumerated() {
          guard let decision else { continue }
          // Signing out restricts nobody: it does not stand in for every path that can be read in another way.
          if decision.access != .signOut { everywhere[method] = everywhere[method].restricted(by: decision) }
          parts.stating.insert(decision)
        }
        looseNodes.append(
          RouteTree.LooseEntry(
            looseNode: Int32(parts.loose.insert(CheckedRoutes.loose(place.path))), place: Int32(number),
            isExact: isExact, row: parts.rows.add(stated)))
      }
      parts.places.append(result)
    }
    if parts.rootRow == parts.defaultRow { parts.reachable.insert(parts.rows.decisions[Int(parts.defaultRow)].access) }
    parts.everywhereRow = parts.rows.add(everywhere)
    parts.entries = looseNodes.sorted { $0.looseNode < $1.looseNode }
    parts.firstEntry = [Int32](repeating: -1, count: parts.loose.nodeCount)
    for (index, entry) in parts.entries.enumerated().reversed() {
      parts.firstEntry[Int(entry.looseNode)] = Int32(index)
    }
    nest(&parts.places)
    return parts
  }

  /// The decisions at a place: one, or one for each method where routes above or at it name methods.
  private func decisions(
    at path: [UInt8], isExact: Bool, _ compiler: inout DecisionCompiler, _ problems: inout RouteDiagnostics
  ) -> [RouteDecision] {
    var methods = Array(0...checked.methods.other)
    let namesMethods = chainNamesMethods(at: path, isExact: isExact)
    if !namesMethods { methods = [checked.methods.other] }
    return methods.map { method in
      let chain = chain(at: path, withExact: isExact, method: method)
      let effective = effective(chain)
      problems.check(effective, chain, checked)
      return compiler.decision(effective, dropsMethodOverride: namesMethods)
    }
  }

  /// The decision that asks for nothing.
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

  private func chainNamesMethods(at path: [UInt8], isExact: Bool) -> Bool {
    if checked.methods.count == 0 { return false }
    var routes = prefixes(of: path).flatMap { places[$0].prefix }
    if isExact, let place = place(of: path) { routes += places[place].exact }
    return routes.contains { checked.methodNumbers[$0] != nil }
  }

  /// Numbers the places so that those under a prefix stand together behind it.
  private func nest(_ result: inout [RouteTree.Place]) {
    var children: [[Int]] = Array(repeating: [], count: places.count)
    var roots: [Int] = []
    for (number, place) in places.enumerated() {
      if let parent = prefixes(of: place.path).last(where: { $0 != number }) {
        children[parent].append(number)
      } else {
        roots.append(number)
      }
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

/// Decisions by method, each row kept once.
struct RouteRows {
  private(set) var decisions: [RouteDecision] = []
  private(set) var table: [Int32] = []
  /// Numbers of methods.
  let stride: Int
  private var numbers: [RouteDecision: Int32] = [:]
  private var rows: [[Int32]: Int32] = [:]

  init(methods: Int) { stride = methods + 1 }

  /// - Parameter decisions: one for every method, or one for all.
  mutating func add(_ decisions: [RouteDecision?]) -> Int32 {
    let row = decisions.map { decision in decision.map { self.number(of: $0) } ?? RouteTree.noDecision }
    if let first = row.first, row.allSatisfy({ $0 == first }) { return first }
    if let known = rows[row] { return known }
    let number = ~Int32(rows.count)
    rows[row] = number
    table += row
    return number
  }

  private mutating func number(of decision: RouteDecision) -> Int32 {
    if let known = numbers[decision] { return known }
    let number = Int32(decisions.count)
    numbers[decision] = number
    decisions.append(decision)
    return number
  }
}
