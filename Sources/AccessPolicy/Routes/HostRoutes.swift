internal import WebFormats

/// The routes that can hold for requests to one host, by their paths.
struct HostRoutes {
  let checked: CheckedRoutes
  /// The host if it is one of its own, whose routes precede those of every host; nil for that of `public_url`.
  private let host: NamedHost?
  /// The paths that have routes.
  private(set) var paths = ByteTrie()
  /// The place of each node of `paths`; -1 for a node without routes.
  private(set) var placeOfNode: [Int32] = [-1]
  private(set) var places: [Place] = []

  /// A path that has routes.
  struct Place {
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
    let node = paths.insert(path)
    while placeOfNode.count < paths.nodeCount { placeOfNode.append(-1) }
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
      node = paths.child(of: node, path[index])
      let above = Int(placeOfNode[node])
      guard above >= 0, above != place,
        !places[above].prefix.isEmpty || !places[above].exact.isEmpty && Self.isFile(places[above].path)
      else { continue }
      // A prefix ends with a slash, or the path goes on with one.
      if path[index] == UInt8(ascii: "/") || path[index + 1] == UInt8(ascii: "/") { result = above }
    }
    return result
  }

  /// Whether a path ends with what looks like the name of a file: a dot within it, before a letter. Servers that run
  /// scripts (PHP, CGI, ASP.NET) answer `/login.php/x` with `/login.php`, and pass the rest as PATH_INFO (RFC 3875,
  /// 4.1.5).
  static func isFile(_ path: [UInt8]) -> Bool {
    let name = path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]
    return name.indices.dropFirst().dropLast().contains { index in
      name[index] == UInt8(ascii: ".") && name[index + 1].isASCIILetter
    }
  }

  // MARK: Chains

  /// The routes that hold for a request, the most specific one first.
  /// - Parameter withExact: whether routes for exactly the path are among them, or the path stands for what is below
  ///   it.
  func chain(at place: Int, withExact: Bool, method: Int) -> [Int] {
    var chain: [Int] = []
    forEachRoute(at: place, withExact: withExact) { if checked.holds($0, for: method) { chain.append($0) } }
    if chain.count > 1 { chain.sort { checked.isMoreSpecific($0, than: $1, isNamedHost: host != nil) } }
    return chain
  }

  /// Calls a function with each route that holds at a place for any method.
  func forEachRoute(at place: Int, withExact: Bool, _ body: (Int) -> Void) {
    if withExact { places[place].exact.forEach(body) }
    var place = place
    while place >= 0 {
      places[place].prefix.forEach(body)
      place = places[place].parent
    }
  }

  /// The effective settings of requests that these routes hold for, as ``chain(at:withExact:method:)`` orders them.
  func effective(_ chain: [Int]) -> EffectiveRoute {
    EffectiveRoute(chain, of: checked.routes, checked.access, host: host)
  }

  /// The effective settings of requests without a route.
  var effectiveDefault: EffectiveRoute { effective([]) }
}
