import WebFormats

@testable import AccessPolicy

/// The oracle of ``RouteTable``: every route is asked for every request, in the words of the documentation.
struct LinearRoutes {
  let access: AccessSettings
  let routes: [RouteSettings]
  var groups: [String] = []
  /// The upstreams of the further hosts by their names.
  var upstreams: [String: String] = [:]

  struct Request {
    var path: [UInt8]
    var method: String
    /// nil: the host of `public_url`.
    var host: String?
    /// The value of `Depth`.
    var depth = RequestDepth.everything

    /// The depth of a request with this method.
    var reach: RequestDepth {
      switch method {
      case "DELETE", "MOVE", "REPORT", "SEARCH": .everything
      case "COPY", "LOCK": depth == .resource ? .resource : .everything
      case "PROPFIND": depth
      default: .resource
      }
    }
  }

  struct Answer: Equatable {
    var who: Who
    /// ``automatic`` where nobody passes.
    var unauthenticated: RouteSettings.Unauthenticated
    var upstream: String?
    var networks: Set<NetworkCondition> = []
    var maxAge = 0
    var acceptsTokens = false
    var dropsMethodOverride = false
    var passesPreflights = false
    /// The deny lists that make users nobody on a public path.
    var denials: Set<AccessRules> = []

    /// Without what has no effect where nobody passes, or everybody.
    var normalized: Answer {
      var result = self
      if who == .nobody {
        result = Answer(who: .nobody, unauthenticated: .automatic, upstream: upstream)
      } else if who == .everybody {
        (result.maxAge, result.acceptsTokens, result.passesPreflights) = (0, false, true)
      }
      return result
    }
  }

  enum Who: Hashable {
    case everybody, signedIn, nobody
    case admittedBy(Set<AccessRules>)

    var strictness: Int {
      switch self {
      case .everybody: 0
      case .signedIn: 1
      case .admittedBy: 2
      case .nobody: 3
      }
    }
  }

  /// The answer on the path itself, and on every path that servers read instead.
  func answer(_ request: Request) -> Answer {
    let judgement = PathClassification.classify(request.path.span)
    var answer = answer(request, judgement)
    // Where no route of the host states who may pass, no reading asks for more.
    let canRestrict = routes.contains { holds($0.host, request.host) && ($0.statesAccess || $0.methods != nil) }
    guard case .ambiguous(let ambiguity) = judgement, ambiguity.hasFurtherReadings, canRestrict else { return answer }
    let readings = PathReadings(of: request.path.span)
    if readings.couldBeAnywhere { answer = both(answer, self.answer(request, .ambiguous(.dots))) }
    for reading in readings.paths {
      var other = request
      other.path = reading.path
      answer = both(answer, self.answer(other, reading.classification))
    }
    return answer.normalized
  }

  private func answer(_ request: Request, _ judgement: PathClassification) -> Answer {
    if case .refused = judgement { return Answer(who: .nobody, unauthenticated: .automatic, upstream: nil) }
    let eligible = routes.indices.filter { holds(routes[$0].host, request.host) && holds($0, for: request.method) }
    var answer = settings(eligible.filter { contains(routes[$0], request.path) }, request)
    // What is below the path of an exact route is not that route's.
    let rest = settings(eligible.filter { routes[$0].match == .prefix && contains(routes[$0], request.path) }, request)
    let restricts = admitsOthers(both(answer, rest), than: answer)
    if request.reach != .resource { answer = both(answer, rest) }
    var isAnywhere = false
    if case .ambiguous(let ambiguity) = judgement, ambiguity != .cookieless {
      for floor in [settings([], request), settings(eligible.filter { isRoot(routes[$0]) }, request)] {
        let isStricter = floor.who.strictness > answer.who.strictness
        answer = isStricter ? both(answer, floor) : withAgeAndTokens(answer, floor)
      }
      isAnywhere = ambiguity.couldBeAnywhere
    }
    for index in eligible where routes[index].statesAccess {
      let route = routes[index]
      let isElsewhere = contains(route, request.path) || !mayContain(route, request.path)
      guard isAnywhere || !isElsewhere && !isLifted(route, request) else { continue }
      answer = both(answer, settingsAtOwnPath(of: route, eligible, request))
    }
    let everything = below(request, eligible)
    if request.reach == .everything { answer = both(answer, everything) }
    answer.dropsMethodOverride =
      request.reach == .resource && restricts || admitsOthers(both(answer, everything), than: answer)
      || routes.contains { route in
        route.methods != nil && holds(route.host, request.host)
          && (isAnywhere || contains(route, request.path) || mayContain(route, request.path)
            || isBelow(route, request.path))
      }
    return answer.normalized
  }

  /// The settings of requests for a route's own path.
  private func settingsAtOwnPath(of route: RouteSettings, _ eligible: [Int], _ request: Request) -> Answer {
    let place = Array(route.path.utf8)
    let chain = eligible.filter { other in
      routes[other].match == .exact
        ? route.match == .exact && place == Array(routes[other].path.utf8)
        : contains(routes[other], place)
    }
    return settings(chain, request)
  }

  /// The answer that every route admits whose path is below that of a request.
  private func below(_ request: Request, _ eligible: [Int]) -> Answer {
    var answer = Answer(who: .everybody, unauthenticated: .automatic, upstream: nil, passesPreflights: true)
    for index in eligible where routes[index].statesAccess {
      guard isBelow(routes[index], request.path) else { continue }
      answer = both(answer, settingsAtOwnPath(of: routes[index], eligible, request))
    }
    return answer
  }

  /// Whether a route's path is below that of a request, read leniently.
  private func isBelow(_ route: RouteSettings, _ path: [UInt8]) -> Bool {
    var own = Array(route.path.utf8)
    if own.last == 0x2F { own.removeLast() }
    return own.indices.contains { place in
      own[place] == 0x2F && isAtEnd(of: RouteSettings(path: String(decoding: own[..<place], as: UTF8.self)), path)
    }
  }

  private func admitsOthers(_ one: Answer, than other: Answer) -> Bool {
    let (one, other) = (one.normalized, other.normalized)
    return one.who != other.who || one.networks != other.networks || one.maxAge != other.maxAge
      || one.acceptsTokens != other.acceptsTokens || one.denials != other.denials
  }

  /// Whether an exact route for a file does not hold for what is behind the file's name, because the access there is
  /// with every method that of a route whose path lies there.
  private func isLifted(_ file: RouteSettings, _ request: Request) -> Bool {
    let path = Array(file.path.utf8)
    guard file.match == .exact, isFile(file.path), request.path.starts(with: path + [0x2F]),
      !isAtEnd(of: file, request.path),
      routes.allSatisfy({ other in
        other.match != .exact || other.path != file.path || !holds(other.host, request.host) || other.statesOnlyAccess
      })
    else { return false }
    let methods = Set(routes.flatMap { $0.methods ?? [] }).union(["HEAD", "another"])
    return methods.allSatisfy { method in
      let chain = routes.indices.filter { index in
        holds(routes[index].host, request.host) && holds(index, for: method) && contains(routes[index], request.path)
      }.map { routes[$0] }.sorted { isBefore($0, $1, request) }.filter { $0.access != nil }
      let common = request.host == nil ? nil : chain.first { $0.host == .all }
      let source = common?.access == .deny ? common : chain.first
      return (source?.path.utf8.count ?? 0) > path.count
    }
  }

  private func isRoot(_ route: RouteSettings) -> Bool { route.path == "/" && route.match == .prefix }

  private func both(_ one: Answer, _ other: Answer) -> Answer {
    var result = one
    if other.who != .everybody, other.unauthenticated == .unauthorized { result.unauthenticated = .unauthorized }
    if case .admittedBy(let mine) = one.who, case .admittedBy(let theirs) = other.who {
      let all = mine.union(theirs)
      result.who = all.count > RuleIndexes.limit ? .nobody : .admittedBy(all)
    } else if other.who.strictness > one.who.strictness {
      result.who = other.who
    }
    // A user whom a deny list of one reading names is nobody there, so a reading that asks for a user refuses that one.
    let denials = one.denials.union(other.denials)
    result.denials = []
    switch result.who {
    case .everybody: result.denials = denials
    case .signedIn: if !denials.isEmpty { result.who = .admittedBy(denials) }
    case .admittedBy(let rules): result.who = .admittedBy(rules.union(denials))
    case .nobody: break
    }
    if case .admittedBy(let rules) = result.who, rules.count > RuleIndexes.limit { result.who = .nobody }
    if denials.count > RuleIndexes.limit { result.who = .nobody }
    result.dropsMethodOverride = one.dropsMethodOverride || other.dropsMethodOverride
    result.networks.formUnion(other.networks)
    if result.networks.count > NetworkIndexes.limit { result.who = .nobody }
    result.passesPreflights = one.passesPreflights && other.passesPreflights
    let (age, tokens) = ageAndTokens(one, other, result.who)
    (result.maxAge, result.acceptsTokens) = (age, tokens)
    return result
  }

  private func withAgeAndTokens(_ one: Answer, _ floor: Answer) -> Answer {
    var result = one
    (result.maxAge, result.acceptsTokens) = ageAndTokens(one, floor, one.who)
    result.passesPreflights = one.passesPreflights && floor.passesPreflights
    return result
  }

  /// The smaller age; tokens, where every reading that is not public admits them.
  private func ageAndTokens(_ one: Answer, _ other: Answer, _ who: Who) -> (age: Int, tokens: Bool) {
    let ages = [one, other].filter { $0.who != .everybody && $0.maxAge > 0 }.map(\.maxAge)
    let asked = [one, other].filter { $0.who != .everybody }
    var tokens = asked.allSatisfy(\.acceptsTokens)
    if case .admittedBy = who, asked.contains(where: { $0.who == .signedIn }) { tokens = false }
    return (ages.min() ?? 0, tokens)
  }

  // MARK: Conditions

  private func holds(_ scope: RouteSettings.HostScope, _ host: String?) -> Bool {
    switch scope {
    case .publicURL: host == nil
    case .named(let name): host == name
    case .all: true
    }
  }

  private func holds(_ index: Int, for method: String) -> Bool {
    guard let methods = routes[index].methods else { return true }
    return methods.contains(method) || method == "HEAD" && methods.contains("GET")
  }

  private func contains(_ route: RouteSettings, _ path: [UInt8]) -> Bool {
    let own = Array(route.path.utf8)
    if route.match == .exact { return own == path }
    return path.starts(with: own) && (own.last == 0x2F || path.count == own.count || path[own.count] == 0x2F)
  }

  /// The settings that the chain of these routes states.
  private func settings(_ unordered: [Int], _ request: Request) -> Answer {
    let chain = unordered.map { routes[$0] }.sorted { isBefore($0, $1, request) }
    var who = chain.lazy.compactMap(\.access).first ?? access.lists.map { .lists($0) } ?? .signedIn
    if request.host != nil, chain.filter({ $0.host == .all }).lazy.compactMap(\.access).first == .deny { who = .deny }
    let conditions = (chain.map(\.conditions) + [access.conditions]).filter { !$0.isEmpty }
    let denials = who == .public ? chain.map(\.conditions).filter { !$0.denied.isEmpty }.map(\.deniesOnly) : []
    var networks = chain.map(\.networks)
    if who != .public { networks.append(access.networks) }
    networks.removeAll { $0.isEmpty }
    let upstream = chain.lazy.compactMap(\.upstream).first ?? request.host.flatMap { upstreams[$0] }
    return Answer(
      who: self.who(who, conditions),
      unauthenticated: chain.lazy.compactMap(\.unauthenticated).first ?? access.unauthenticated,
      upstream: upstream == "default" ? nil : upstream,
      networks: networks.isEmpty ? [] : [NetworkCondition(networks)],
      maxAge: who == .public ? 0 : chain.lazy.compactMap(\.maxAge).first ?? access.maxAge,
      acceptsTokens: chain.lazy.compactMap(\.tokens).first ?? access.tokens,
      passesPreflights: who == .public || chain.lazy.compactMap(\.preflight).first == .pass,
      denials: denials.isEmpty ? [] : [AccessRules(lists: nil, conditions: denials, groups: groups)])
  }

  private func who(_ access: RouteSettings.Access, _ conditions: [AccessConditions]) -> Who {
    switch access {
    case .public: .everybody
    case .signOut, .deny: .nobody
    case .signedIn:
      conditions.isEmpty ? .signedIn : .admittedBy([AccessRules(lists: nil, conditions: conditions, groups: groups)])
    case .lists(let lists): .admittedBy([AccessRules(lists: lists, conditions: conditions, groups: groups)])
    }
  }

  private func isBefore(_ a: RouteSettings, _ b: RouteSettings, _ request: Request) -> Bool {
    if request.host != nil, (a.host == .all) != (b.host == .all) { return b.host == .all }
    if a.match != b.match { return a.match == .exact }
    if a.path != b.path { return a.path.utf8.count > b.path.utf8.count }
    if (a.methods == nil) != (b.methods == nil) { return b.methods == nil }
    if (a.host == .all) != (b.host == .all) { return b.host == .all }
    return count(a) < count(b)
  }

  private func count(_ route: RouteSettings) -> Int {
    var methods = Set(route.methods ?? [])
    if methods.contains("GET") { methods.insert("HEAD") }
    return methods.count
  }

  // MARK: The lenient reading

  private func mayContain(_ route: RouteSettings, _ path: [UInt8]) -> Bool {
    let isWhole = route.match == .exact && !isFile(route.path)
    return isWhole
      ? isAtEnd(of: route, path) : reading(of: route, path)?.isAtSegmentEnd(in: path.span) ?? false
  }

  /// Whether a path is that of a route, read leniently, with nothing behind it.
  private func isAtEnd(of route: RouteSettings, _ path: [UInt8]) -> Bool {
    reading(of: route, path)?.isAtPathEnd(in: path.span) ?? false
  }

  /// The place behind a route's path in a path that begins with it; nil for any other path.
  private func reading(of route: RouteSettings, _ path: [UInt8]) -> LinearReading? {
    var expected = decoded(route.path)
    if expected.last == 0x2F { expected.removeLast() }
    var reading = LinearReading()
    for byte in expected {
      guard byte == 0x2F ? reading.takeSeparator(in: path.span) : reading.take(byte, in: path.span) else {
        return nil
      }
    }
    return reading
  }

  /// Whether a path ends with a name that has a dot, not at its beginning, and a letter behind it.
  private func isFile(_ path: String) -> Bool {
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    return name.dropFirst().split(separator: ".", omittingEmptySubsequences: false).dropFirst().contains { part in
      part.utf8.first?.isASCIILetter ?? false
    }
  }

  private func decoded(_ path: String) -> [UInt8] {
    let bytes = Array(path.utf8)
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count, let (byte, next) = PathByte.decoded(bytes.span, at: index) {
      result.append(folded(byte))
      index = next
    }
    return result
  }
}

/// The byte in lower case, and a space for `+`.
private func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte.asciiLowercased }

/// A path that is compared leniently with the path of one route, from the left.
struct LinearReading {
  private var index = 0

  /// Takes one byte, decoded and folded, if it is the expected one.
  mutating func take(_ expected: UInt8, in path: Span<UInt8>) -> Bool {
    guard index < path.count, let (byte, next) = PathByte.decoded(path, at: index),
      folded(byte) == expected
    else { return false }
    index = next
    return true
  }

  /// Takes what ends a segment: its suffix, then one or more separators, with the empty segments between them.
  mutating func takeSeparator(in path: Span<UInt8>) -> Bool {
    var taken = false
    while true {
      let end = segmentEnd(of: path, from: index)
      guard end < path.count, let (byte, next) = PathByte.decoded(path, at: end), Self.isSeparator(byte) else { break }
      index = next
      taken = true
    }
    return taken
  }

  func isAtSegmentEnd(in path: Span<UInt8>) -> Bool {
    let end = segmentEnd(of: path, from: index)
    guard end < path.count, let (byte, _) = PathByte.decoded(path, at: end) else { return end >= path.count }
    return Self.isSeparator(byte) || Self.isDelimiter(byte)
  }

  /// Returns the end of the segment if it only contains what servers drop; otherwise `start`.
  private func segmentEnd(of path: Span<UInt8>, from start: Int) -> Int {
    var position = start
    var dropsRest = false
    while position < path.count, let (byte, next) = PathByte.decoded(path, at: position) {
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"): return position
      case UInt8(ascii: ";"), UInt8(ascii: ":"): dropsRest = true
      case UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "+"): break
      default: if !dropsRest { return start }
      }
      position = next
    }
    return position
  }

  private static func isSeparator(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }
  private static func isDelimiter(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

  /// Whether nothing is left but empty segments and what servers drop.
  func isAtPathEnd(in path: Span<UInt8>) -> Bool {
    var position = self
    guard isAtSegmentEnd(in: path) else { return false }
    _ = position.takeSeparator(in: path)
    let end = position.segmentEnd(of: path, from: position.index)
    guard end < path.count, let (byte, _) = PathByte.decoded(path, at: end) else { return end >= path.count }
    return Self.isDelimiter(byte)
  }
}
