import RandomTesting
import Testing
import WebFormats

@testable import AccessPolicy

// Random tables and random requests.
//
// - The tries decide as the linear table does, by host, path, match and method, for every reading of a path.
// - A route that says only path, upstream or unauthenticated never changes who may pass any request.
// - The effective settings of a route, which `cordon check --explain` prints, are those by which its requests are
//   decided, for each method and on each host.
@Suite("Properties of routes")
struct RoutePropertyTests {
  @Test("The tries decide as the linear table does", arguments: 0..<8)
  func oracle(seed: UInt64) throws {
    var random = RandomRoutes(seed: seed)
    random.hasCookielessSegments = true
    for _ in 0..<60 {
      let (access, routes, table) = try random.table()
      let linear = LinearRoutes(
        access: access, routes: routes, groups: RandomRoutes.groups, upstreams: RandomRoutes.upstreams)
      for _ in 0..<80 {
        let request = random.request()
        let (expected, found) = (linear.answer(request), answer(of: table, request))
        guard expected != found else { continue }
        Issue.record(
          "\(request), \(String(decoding: request.path, as: UTF8.self)) of \(routes): \(found), not \(expected)")
        return
      }
    }
  }

  @Test("A route that says only path, upstream or unauthenticated changes nobody's access", arguments: 0..<8)
  func transparent(seed: UInt64) throws {
    var random = RandomRoutes(seed: 100 + seed)
    var compared = 0
    for _ in 0..<60 {
      let (access, routes, table) = try random.table()
      var added = random.route()
      added.access = nil
      added.conditions = AccessConditions()
      added.methods = nil
      added.networks = []
      added.maxAge = nil
      added.tokens = nil
      added.preflight = nil
      guard
        let other = try? RouteTable(
          access: access, routes: routes + [added], groups: RandomRoutes.groups, hosts: RandomRoutes.hosts)
      else { continue }
      for user in RandomRoutes.users {
        #expect(table.couldAdmit(user) == other.couldAdmit(user), "\(added) in \(routes)")
      }
      for _ in 0..<80 {
        let request = random.request()
        var (before, after) = (answer(of: table, request), answer(of: other, request))
        before.upstream = nil
        before.unauthenticated = .automatic
        after.upstream = nil
        after.unauthenticated = .automatic
        compared += 1
        guard before != after else { continue }
        Issue.record("\(added) in \(routes) changes \(request) from \(before) to \(after)")
        return
      }
    }
    #expect(compared > 1_000)
  }

  @Test("Requests are decided by the effective settings of their route, for each method", arguments: 0..<8)
  func effectiveSettings(seed: UInt64) throws {
    var random = RandomRoutes(seed: 300 + seed)
    random.isPlain = true
    var (compared, differing) = (0, 0)
    for _ in 0..<100 {
      let (access, routes, table) = try random.table()
      let hosts = try EffectiveHost.all(
        access: access, routes: routes, groups: RandomRoutes.groups, hosts: RandomRoutes.hosts)
      for host in hosts {
        let name = host.host.map { RandomRoutes.hosts[$0].origin.authority }
        for route in host.routes {
          let settings = routes[route.index]
          differing += route.settings.parts.count > 1 ? 1 : 0
          for method in ["GET", "HEAD", "POST", "PURGE", "PUT"] {
            let parts = parts(of: route.settings, method)
            guard RandomRoutes.holds(settings, for: method) else {
              #expect(parts.isEmpty, "\(method) of \(route)")
              continue
            }
            let path = settings.path + (settings.match == .exact ? "" : "other")
            var found = answer(of: table, LinearRoutes.Request(path: Array(path.utf8), method: method, host: name))
            // Whether a route with methods lies over the path is not a setting.
            found.dropsMethodOverride = false
            compared += 1
            guard parts.map({ answer(of: $0.value) }) != [found] else { continue }
            Issue.record("\(method) \(path) on \(name ?? "public_url") is decided by \(found), not by \(route)")
            return
          }
        }
      }
    }
    #expect(compared > 1_000 && differing > 20, "\(compared) compared, \(differing) routes that differ by method")
  }

  private func parts(
    of settings: ByMethod<EffectiveRoute>, _ method: String
  ) -> [ByMethod<EffectiveRoute>.Part] {
    let named = settings.parts.filter { $0.methods.named.contains(method) }
    return named.isEmpty ? settings.parts.filter(\.methods.includesOthers) : named
  }

  @Test("A path in full-width letters is decided as the path in plain ones, or stricter", arguments: 0..<4)
  func fullWidth(seed: UInt64) throws {
    var random = RandomRoutes(seed: 200 + seed)
    for _ in 0..<60 {
      let (_, routes, table) = try random.table()
      for _ in 0..<40 {
        var request = random.request()
        let plain = answer(of: table, request)
        request.path = request.path.flatMap { byte -> [UInt8] in
          let isLetter = (0x61...0x7A).contains(byte | 0x20)
          return isLetter && random.one(of: [true, false])
            ? Array("\(Unicode.Scalar(0xFEE0 + UInt32(byte))!)".utf8) : [byte]
        }
        guard case .refused = PathClassification.classify(request.path.span) else {
          let found = answer(of: table, request)
          #expect(
            found.who.strictness >= plain.who.strictness,
            "\(String(decoding: request.path, as: UTF8.self)) of \(routes): \(found), plain \(plain)")
          continue
        }
      }
    }
  }

  /// The answer that effective settings lead to.
  private func answer(of settings: EffectiveRoute) -> LinearRoutes.Answer {
    let conditions = settings.conditions.map(\.value)
    let isPublic = settings.access.value == .public
    func rules(_ lists: AccessLists?, _ conditions: [AccessConditions]) -> AccessRules {
      AccessRules(lists: lists, conditions: conditions, groups: RandomRoutes.groups)
    }
    let who: LinearRoutes.Who =
      switch settings.access.value {
      case .public: .everybody
      case .signedIn: conditions.isEmpty ? .signedIn : .admittedBy([rules(nil, conditions)])
      case .lists(let lists): .admittedBy([rules(lists, conditions)])
      case .signOut, .deny: .nobody
      }
    // On a public path those of [access] are judged apart from the decision.
    let denials = isPublic ? settings.conditions.filter { $0.source != .access }.map(\.value) : []
    return LinearRoutes.Answer(
      who: who, unauthenticated: settings.unauthenticated.value, upstream: settings.upstream.value,
      networks: settings.networks.isEmpty ? [] : [NetworkCondition(settings.networks.map(\.value))],
      maxAge: settings.maxAge.value, acceptsTokens: settings.tokens.value,
      passesPreflights: isPublic || settings.preflight.value == .pass,
      denials: denials.isEmpty ? [] : [rules(nil, denials)]
    ).normalized
  }

  private func answer(of table: RouteTable, _ request: LinearRoutes.Request) -> LinearRoutes.Answer {
    guard let host = request.host.map({ table.host(named: Array($0.utf8).span) }) ?? .publicURL else {
      Issue.record("the table does not know \(request)")
      return LinearRoutes.Answer(who: .nobody, unauthenticated: .automatic)
    }
    let decision = table.match(
      request.path.span, .classify(request.path.span), method: Array(request.method.utf8).span, depth: request.depth,
      host: host)
    let who: LinearRoutes.Who =
      switch decision.access {
      case .public: .everybody
      case .signedIn: .signedIn
      case .signOut, .deny: .nobody
      case .rules(let rules): .admittedBy(Set((0..<rules.count).map { table.rules[rules[$0]] }))
      }
    return LinearRoutes.Answer(
      who: who, unauthenticated: who == .nobody ? .automatic : decision.unauthenticated,
      upstream: table.upstreams[decision.upstream],
      networks: Set((0..<decision.networks.count).map { table.networks[decision.networks[$0]] }),
      maxAge: decision.maxAge, acceptsTokens: decision.acceptsTokens,
      dropsMethodOverride: decision.dropsMethodOverride, passesPreflights: decision.passesPreflights,
      denials: Set((0..<decision.denials.count).map { table.rules[decision.denials[$0]] })
    ).normalized
  }
}

/// Tables and requests from a few words, so that they meet.
private struct RandomRoutes {
  static let groups = ["g2", "g1"]
  static let users = (1...4).map { Principal(subject: "\($0)") } + [Principal(subject: "5", isPrivateEmail: true)]

  /// The further hosts; routes name the first two of them.
  static let upstreams = ["one": "x", "two": "default", "three": "y", "four": "y"]
  static let hosts = upstreams.sorted { $0.key < $1.key }.compactMap { name, upstream in
    (try? PublicOrigin(parsing: "https://\(name)")).map { HostSettings(origin: $0, upstream: upstream) }
  }

  /// Whether paths are short, have one reading only and end with a slash, and more routes name methods.
  var isPlain = false
  /// Whether paths of requests have segments that ASP.NET removes.
  var hasCookielessSegments = false

  private var generator: SeededNumbers

  init(seed: UInt64) { generator = SeededNumbers(seed: seed &+ 77) }

  mutating func one<Element>(of elements: [Element]) -> Element { elements.randomElement(using: &generator)! }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

  /// A table that is in order: routes that are complained of are left out.
  mutating func table() throws -> (AccessSettings, [RouteSettings], RouteTable) {
    var access = AccessSettings()
    if chance(40) { access.lists = lists() }
    if chance(25) { access.conditions = conditions() }
    if chance(20) { access.unauthenticated = .unauthorized }
    if chance(20) { access.networks = networks() }
    if chance(20) { access.maxAge = one(of: [60, 120]) }
    if chance(20) { access.tokens = true }
    var routes = (0..<Int.random(in: 0...9, using: &generator)).map { _ in route() }
    while true {
      do {
        return (access, routes, try RouteTable(access: access, routes: routes, groups: Self.groups, hosts: Self.hosts))
      } catch {
        let bad = Set(error.problems.compactMap(\.route))
        guard !bad.isEmpty else { throw error }
        routes = routes.enumerated().filter { !bad.contains($0.offset) }.map(\.element)
      }
    }
  }

  mutating func route() -> RouteSettings {
    var path = ""
    for _ in 0..<Int.random(in: 0...(isPlain ? 2 : 3), using: &generator) {
      path += "/" + one(of: isPlain ? ["a", "b"] : ["a", "A", "b", "c", "a.", "b:c", "a%20", "b+c", "c.d", "%C3%A9"])
    }
    if path.isEmpty || isPlain || chance(50) { path += "/" }
    var route = RouteSettings(path: path)
    route.host = one(of: [.publicURL, .publicURL, .publicURL, .all, .named("one"), .named("two")])
    if chance(25) { route.match = .exact }
    if chance(isPlain ? 60 : 30) {
      route.methods = one(of: [
        ["GET"], ["POST"], ["GET", "POST"], ["HEAD"], ["PURGE", "GET"], ["DELETE"], ["DELETE", "PROPFIND"],
      ])
    }
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: route.access = .public
    case 1: route.access = .signedIn
    case 2: route.access = .deny
    case 3, 4: route.access = .lists(lists())
    default: break
    }
    if route.access != .public, route.access != .deny, chance(20) { route.conditions = conditions() }
    if chance(20) { route.unauthenticated = one(of: [.automatic, .unauthorized]) }
    if chance(30) { route.upstream = one(of: ["x", "y", "default"]) }
    if chance(20) { route.networks = networks() }
    if chance(15) { route.maxAge = one(of: [0, 30, 90]) }
    if chance(15) { route.tokens = one(of: [true, false]) }
    if chance(20) { route.preflight = one(of: [.pass, .pass, .block]) }
    return route
  }

  /// Whether a route holds for a method.
  static func holds(_ route: RouteSettings, for method: String) -> Bool {
    guard let methods = route.methods else { return true }
    return methods.contains(method) || method == "HEAD" && methods.contains("GET")
  }

  private mutating func networks() -> [NetworkPrefix] {
    [NetworkPrefix(one(of: ["10.0.0.0/8", "10.1.0.0/16", "fd00::/8", "192.0.2.1", "0.0.0.0/0", "::/0"]))!]
  }

  private mutating func lists() -> AccessLists {
    var lists = AccessLists()
    if chance(70) { lists.subjects = [one(of: ["1", "2", "3", "4"])] }
    if lists.isEmpty || chance(20) { lists.groups = [one(of: Self.groups)] }
    return lists
  }

  private mutating func conditions() -> AccessConditions {
    var conditions = AccessConditions()
    if chance(50) { conditions.privateEmail = one(of: [.deny, .require]) }
    if chance(60) { conditions.requirements = [ClaimRequirement(claim: "org_id", values: [one(of: ["1", "2"])])] }
    if chance(30) { conditions.denied.subjects = [one(of: ["1", "2"])] }
    if chance(20) { conditions.denied.groups = [one(of: Self.groups)] }
    return conditions
  }

  mutating func request() -> LinearRoutes.Request {
    var path = ""
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      path += one(of: ["/", "/", "/", "/", "/", "//", "%2F", "%5c", "/;/", "/%20/"])
      path += one(of: [
        "a", "a", "A", "b", "c", "C", "a.", "b:c", "a%20", "%C3%A9", "%61", "%41", "a;x", "a.;x", "a..", "b:x", "B",
        "ab",
        "b%3Fx", "%C3%A9.", "", "%2561", "a+", "b%2Bc", "b%20c", "+", "c.d", "C.D",
      ])
    }
    if path.utf8.first != 0x2F { path = "/" + path }
    if hasCookielessSegments, chance(25) {
      let segment = one(of: ["/(S(x))", "/a/(S(x))", "/(A(x)F(y))", "/a%2F(S(x))", "/(S(x))%2e.", "/(S(x"])
      path = "\(segment)\(path.dropFirst(chance(20) ? 1 : 0))"
    }
    return LinearRoutes.Request(
      path: Array(path.utf8),
      method: one(of: ["GET", "HEAD", "POST", "PURGE", "get", "OPTIONS", "DELETE", "COPY", "PROPFIND", "PROPFIND"]),
      host: one(of: [nil, nil, "one", "two", "three", "four"]), depth: one(of: [.resource, .members, .everything]))
  }
}
