/// Checks routes one after the other and lays their prefixes out.
struct RouteTableBuilder {
  private(set) var rules: [AccessRules] = []
  private(set) var upstreams: [String?] = [nil]
  private(set) var prefixes: [RoutePrefix] = []
  private(set) var bytes: [UInt8] = []
  private(set) var problems: [RouteProblem] = []
  private var added: [(route: RouteSettings, loose: [UInt8])] = []

  mutating func add(_ route: RouteSettings, at index: Int) {
    let exact = Array(route.path.utf8)
    let loose = Self.loose(exact)
    if let complaint = Self.complaint(about: exact) ?? complaint(about: route, loose: loose) {
      problems.append(RouteProblem(route: index, message: "route \"\(route.path)\": \(complaint)"))
      return
    }
    added.append((route, loose))
    let access: RouteDecision.Access
    switch route.access {
    case .public: access = .public
    case .signedIn: access = .signedIn
    case .deny: access = .deny
    case .rules(let list):
      access = .rules(rules.firstIndex(of: list) ?? rules.count)
      if access == .rules(rules.count) { rules.append(list) }
    }
    let middle = bytes.count + exact.count
    var decision = RouteDecision(access: access, unauthenticated: route.unauthenticated, route: index)
    decision.upstream = place(of: route.upstream)
    prefixes.append(
      RoutePrefix(exact: bytes.count..<middle, loose: middle..<(middle + loose.count), decision: decision))
    bytes += exact + loose
  }

  private mutating func place(of upstream: String?) -> Int {
    if let place = upstreams.firstIndex(where: { Array(($0 ?? "").utf8) == Array((upstream ?? "").utf8) }) {
      return place
    }
    upstreams.append(upstream)
    return upstreams.count - 1
  }

  /// What is wrong with a prefix by itself.
  private static func complaint(about prefix: [UInt8]) -> String? {
    let beginsSegmentWithColon = zip(prefix, prefix.dropFirst()).contains {
      $0 == UInt8(ascii: "/") && $1 == UInt8(ascii: ":")
    }
    if beginsSegmentWithColon || prefix.contains(UInt8(ascii: "*")) {
      return "a path is a prefix, not a pattern; leave \"*\" and \"/:\" out (\"/public/\" rules everything below it)"
    }
    switch PathJudgement.judge(prefix.span) {
    case .canonical: return nil
    case .refused(.notAbsolute): return "a path begins with \"/\"; write \"/public/\", for instance"
    case .refused(.delimiter): return "a route knows no query and no fragment; leave \"?\" or \"#\" and the rest out"
    case .refused(.dotSegment): return "\".\" and \"..\" never reach a route; write the path they lead to"
    case .ambiguous(.rawNonASCII), .refused(.controlByte):
      return "spaces and letters beyond ASCII arrive percent-encoded; write them so (\"%C3%A9\" for \"é\")"
    case .ambiguous(.emptySegment), .ambiguous(.leadingDoubleSlash): return "write one slash for two"
    case .ambiguous, .refused:
      return "servers read this path in more than one way; write plain letters without \";\", \"\\\" and the "
        + "percent-encodings of letters, digits, \"/\" and control bytes"
    }
  }

  /// What is wrong with a route beside those before it.
  private func complaint(about route: RouteSettings, loose: [UInt8]) -> String? {
    if case .rules(let list) = route.access, let complaint = list.complaint { return complaint }
    if added.contains(where: { $0.route.path.utf8.elementsEqual(route.path.utf8) }) {
      return "there is a route of this path already; join the two"
    }
    let twin = added.first { $0.loose == loose && $0.route.access != route.access }?.route.path
    return twin.map {
      "differs from \"\($0)\" only in case, spelling or the last slash, and an application may take them for the "
        + "same; give both the same access"
    }
  }

  /// Decoded once and in lower case, without the trailing slash.
  private static func loose(_ prefix: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < prefix.count, let (byte, next) = PathByte.decoded(prefix.span, at: index) {
      result.append(PathByte.folded(byte))
      index = next
    }
    if result.last == UInt8(ascii: "/") { result.removeLast() }
    return result
  }
}
