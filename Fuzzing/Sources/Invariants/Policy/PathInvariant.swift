@testable import AccessPolicy

extension Invariant {
  /// A canonical path has one reading: decoding it changes no separator and makes no dot segment, also where `+` is a
  /// space, and decoding it once more changes nothing. An ambiguous path gets nothing laxer than the default, or than
  /// the path without the segments that ASP.NET removes, if they are the only reason. A refused one is denied, and no
  /// path that a lenient server would take for one below a restricted prefix gets less than that prefix asks for.
  static let path = Invariant("path") { bytes in
    let judgement = PathClassification.classify(bytes.span)
    for table in FixedRoutes.tables {
      let decision = table.match(bytes.span, judgement)
      switch judgement {
      case .refused: try require(decision.access == .deny, "refused, but \(decision.access)")
      case .ambiguous(.cookieless):
        let other = LenientReading.withoutCookielessSegments(bytes)
        let asked = table.match(other.span, .classify(other.span)).access
        try require(decision.access.strictness >= asked.strictness, "\(decision.access), but \(asked) without segments")
      case .ambiguous:
        try require(decision.access != .public, "ambiguous (\(judgement)), but public")
      case .canonical: break
      }
      guard case .refused = judgement else {
        for reading in LenientReading.all(of: bytes) {
          let asked = FixedRoutes.strictness(of: reading)
          try require(
            decision.access.strictness >= asked, "\(judgement), \(decision.access), but read as \(shown(reading))")
        }
        continue
      }
    }
    if judgement == .canonical { try requireOneReading(bytes) }
  }

  private static func requireOneReading(_ bytes: [UInt8]) throws(Violation) {
    guard let once = LenientReading.decoded(bytes) else { throw Violation(description: "an escape that is none") }
    if let twice = LenientReading.decoded(once) {
      try require(twice == once, "decoded twice it is \(shown(twice)), once \(shown(once))")
    }
    let separators = { (path: [UInt8]) in path.filter { $0 == 0x2F }.count }
    try require(separators(once) == separators(bytes), "decoding makes separators: \(shown(once))")
    try require(!once.contains { "\\?#;".utf8.contains($0) || $0 < 0x20 || $0 == 0x7F }, "decoded: \(shown(once))")
    try require(String(validating: once, as: UTF8.self) != nil, "decoded it is not UTF-8")
    for segment in once.split(separator: 0x2F, omittingEmptySubsequences: false).dropFirst().dropLast() {
      try require(!segment.isEmpty, "an empty segment")
    }
    for segment in once.split(separator: 0x2F) {
      let isOfDots = segment.contains(0x2E) && segment.allSatisfy { $0 == 0x2E || $0 == 0x20 || $0 == 0x2B }
      try require(!isOfDots, "a segment of dots and spaces")
      try require(LenientReading.restOfCookieless(segment) == nil, "a cookieless segment")
    }
  }
}

/// Routes for every run.
enum FixedRoutes {
  /// Prefixes that are restricted, and how strictly (2: by rules, 3: for everybody).
  private static let restricted: [(prefix: String, strictness: Int)] = [("/admin", 2), ("/api/v1", 2), ("/private", 3)]

  static let tables = [table(root: nil), table(root: .public), table(root: .deny)]

  /// The requirement of the restricted prefix that contains `path`, in lower case.
  static func strictness(of path: [UInt8]) -> Int {
    restricted.filter { route in
      path.starts(with: route.prefix.utf8)
        && (path.count == route.prefix.utf8.count
          || path[route.prefix.utf8.count] == 0x2F)
    }.map(\.strictness).max() ?? 0
  }

  private static func table(root: RouteSettings.Access?) -> RouteTable {
    var lists = AccessLists()
    lists.subjects = ["001234.abcdef.0789"]
    var routes = [
      RouteSettings(path: "/admin", access: .lists(lists)), RouteSettings(path: "/api/v1", access: .lists(lists)),
      RouteSettings(path: "/private", access: .deny), RouteSettings(path: "/public/", access: .public),
      RouteSettings(path: "/assets", access: .public), RouteSettings(path: "/home", access: .signedIn),
    ]
    if let root { routes.append(RouteSettings(path: "/", access: root)) }
    do {
      return try RouteTable(routes: routes)
    } catch {
      preconditionFailure("these routes are sound: \(error)")
    }
  }
}

/// The readings of a path by well-behaved servers: each by whole passes over it, none like the gateway's.
enum LenientReading {
  /// The path as each of them would look it up, in lower case: decoded once or twice, without a host before it.
  static func all(of path: [UInt8]) -> [[UInt8]] {
    guard let decoded = decoded(path) else { return [] }
    let twice = self.decoded(decoded) ?? decoded
    return ofDecoded(decoded) + (twice == decoded ? [] : ofDecoded(twice))
  }

  private static func ofDecoded(_ decoded: [UInt8]) -> [[UInt8]] {
    let lower = decoded.map { (0x41...0x5A).contains($0) ? $0 + 32 : $0 }
    let cut = Array(lower.prefix { $0 != 0x3F && $0 != 0x23 })
    let slashes = cut.map { $0 == 0x5C ? 0x2F : $0 }
    let collapsed = joined(segments(slashes).filter { !$0.isEmpty })
    // Java drops parameters, Windows drops streams, trailing dots and spaces, for which forms write `+`.
    let withoutParameters = joined(segments(slashes).map { $0.prefix { $0 != 0x3B } }.filter { !$0.isEmpty })
    let onWindows = joined(
      segments(slashes).map { segment in
        var name = segment.prefix { $0 != 0x3A && $0 != 0x3B }
        while let last = name.last, last == 0x2E || last == 0x20 || last == 0x2B { name.removeLast() }
        return name
      }.filter { !$0.isEmpty })
    let readings = [lower, cut, collapsed, withoutParameters, onWindows] + onASPNET(segments(slashes))
    guard slashes.starts(with: [0x2F, 0x2F]) else { return readings }
    return readings + [joined(Array(segments(collapsed).dropFirst(2)))]
  }

  /// Without cookieless segments; also where one goes on behind it, with the slash before it, and without.
  private static func onASPNET(_ segments: [ArraySlice<UInt8>]) -> [[UInt8]] {
    var (whole, joining, cutting): ([ArraySlice<UInt8>], [ArraySlice<UInt8>], [ArraySlice<UInt8>]) = ([], [], [])
    for segment in segments {
      let rest = restOfCookieless(segment)
      if let rest, rest.isEmpty { continue }
      whole.append(segment)
      if let rest, let last = joining.popLast() { joining.append(last + rest) } else { joining.append(segment) }
      // What leads up makes the path before it another.
      if rest?.elementsEqual("..".utf8) == true { _ = cutting.popLast() } else { cutting.append(rest ?? segment) }
    }
    return [whole, joining, cutting].map { joined($0.filter { !$0.isEmpty }) }
  }

  /// The path without whole cookieless segments, its bytes as they are.
  static func withoutCookielessSegments(_ path: [UInt8]) -> [UInt8] {
    let left = segments(path).dropFirst().filter { segment in
      guard let name = decoded(Array(segment)), let rest = restOfCookieless(name[...]) else { return true }
      return !rest.isEmpty
    }
    return left.isEmpty ? [0x2F] : joined(left)
  }

  /// The bytes behind the form that ASP.NET removes, `(S(x)F(y))`; nil where a segment does not begin with it.
  static func restOfCookieless(_ segment: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard segment.first == 0x28 else { return nil }
    var rest = segment.dropFirst()
    var count = 0
    while rest.count > 2, rest[rest.startIndex + 1] == 0x28, (0x61...0x7A).contains(rest[rest.startIndex] | 0x20),
      let close = rest.firstIndex(of: 0x29)
    {
      rest = rest[(close + 1)...]
      count += 1
    }
    return count > 0 && rest.first == 0x29 ? rest.dropFirst() : nil
  }

  /// Percent-decoded once; nil where a `%` begins no escape.
  static func decoded(_ path: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var index = 0
    while index < path.count {
      if path[index] == 0x25 {
        guard index + 2 < path.count, let high = digit(path[index + 1]), let low = digit(path[index + 2]) else {
          return nil
        }
        result.append(high * 16 + low)
        index += 3
      } else {
        result.append(path[index])
        index += 1
      }
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func segments(_ path: [UInt8]) -> [ArraySlice<UInt8>] {
    path.split(separator: 0x2F, omittingEmptySubsequences: false)
  }

  private static func joined(_ segments: [ArraySlice<UInt8>]) -> [UInt8] {
    segments.flatMap { [0x2F] + $0 }
  }
}
