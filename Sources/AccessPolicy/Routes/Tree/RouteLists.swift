/// Lists of routes by the bytes of a path, each in the order in which its routes were added.
struct RouteLists {
  private var paths = ByteTrie()
  /// The first route of each node's list; -1 if it is empty.
  private var first: [Int] = [-1]
  /// The further routes of a node's list. Most lists have none.
  private var others: [Int: [Int]] = [:]

  /// The first result of a function that is asked about each route of a path.
  func firstResult<Result>(at path: [UInt8], _ result: (Int) -> Result?) -> Result? {
    guard let node = paths.node(of: path), first[node] >= 0 else { return nil }
    if let found = result(first[node]) { return found }
    for route in others[node] ?? [] {
      if let found = result(route) { return found }
    }
    return nil
  }

  /// Adds a route to the list of a path, unless that is full.
  mutating func add(_ route: Int, at path: [UInt8], atMost limit: Int = .max) {
    let node = paths.insert(path)
    while first.count < paths.nodeCount { first.append(-1) }
    if first[node] < 0 {
      first[node] = route
    } else if (others[node]?.count ?? 0) + 1 < limit {
      others[node, default: []].append(route)
    }
  }
}
