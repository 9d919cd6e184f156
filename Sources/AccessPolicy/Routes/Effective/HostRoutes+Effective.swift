/// The effective settings of each route, and the routes below each.
extension HostRoutes {
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

  /// The numbers of the methods that a route holds for, as far as routes at its place name them.
  private func namedMethods(of index: Int, at place: Int, withExact: Bool) -> Set<Int> {
    if let own = checked.methodNumbers[index] { return own }
    var named: Set<Int> = []
    forEachRoute(at: place, withExact: withExact) { named.formUnion(checked.methodNumbers[$0] ?? []) }
    return named
  }

  /// The place of a route that can hold for requests to the host.
  private func place(of index: Int) -> Int {
    guard let node = paths.node(of: checked.paths[index]) else { preconditionFailure("a route of another host") }
    return Int(placeOfNode[node])
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
        node = paths.child(of: node, path[place])
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
}
