import Testing

@testable import AccessPolicy

// What a route does not state it inherits, decided for each request: by host, path, match and method.
@Suite("Inheritance of routes")
struct RouteInheritanceTests {
  @Test("A route that says only path, upstream or unauthenticated keeps the list above it")
  func transparent() throws {
    var api = RouteSettings(path: "/api/")
    api.unauthenticated = .unauthorized
    var reports = RouteSettings(path: "/reports/")
    reports.upstream = "reports"
    var own = RouteSettings(path: "/reports/own/")
    own.upstream = RouteSettings.defaultUpstream
    let routes = [RouteSettings(path: "/", access: .lists(subjects("a"))), api, reports, own]
    let table = try RouteTable(routes: routes)
    for path in ["/", "/x", "/api/x", "/reports/x", "/reports/own/x", "/REPORTS/x"] {
      #expect(decide(path, table).access == .rules([0]), "\(path)")
    }
    #expect(decide("/api/x", table).unauthenticated == .unauthorized)
    #expect(decide("/x", table).unauthenticated == .automatic)
    #expect(table.upstreams[decide("/reports/x", table).upstream] == "reports")
    #expect(table.upstreams[decide("/reports/own/x", table).upstream] == nil)
  }

  @Test("[access] holds where no route states a list or access")
  func access() throws {
    var access = AccessSettings()
    access.lists = subjects("a")
    access.unauthenticated = .unauthorized
    let routes = [
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/all/", access: .signedIn),
      RouteSettings(path: "/b/", access: .lists(subjects("b"))), RouteSettings(path: "/b/plain/"),
    ]
    let table = try RouteTable(access: access, routes: routes)
    #expect(decide("/x", table) == RouteDecision(access: .rules([0]), unauthenticated: .unauthorized))
    #expect(decide("/open/x", table).access == .public)
    #expect(decide("/open/x;y", table).access == .rules([0]), "an ambiguous path gets nothing laxer than the default")
    #expect(decide("/all/x", table).access == .signedIn)
    #expect(decide("/b/x", table).access == decide("/b/plain/x", table).access)
    #expect(decide("/b/x", table).access != decide("/x", table).access)
  }

  @Test("Conditions add up along the chain, and there are none on public routes")
  func conditions() throws {
    var access = AccessSettings()
    access.conditions.privateEmail = .deny
    var school = RouteSettings(path: "/school/")
    school.conditions.requirements = [ClaimRequirement(claim: "org_id", values: ["1"])]
    let open = RouteSettings(path: "/school/open/", access: .public)
    let table = try RouteTable(access: access, routes: [school, open])
    let teacher = Principal(subject: "t", isPrivateEmail: false)
    let hidden = Principal(subject: "h", isPrivateEmail: true)
    func decision(_ path: String, _ applicant: Principal, organization: String) -> AccessDecision? {
      guard case .rules(let rules) = decide(path, table).access, rules.count == 1 else { return nil }
      return table.rules[rules[0]].evaluate(applicant) { $0 == "org_id" ? [organization] : [] }
    }
    #expect(decision("/x", teacher, organization: "2") == .allowed)
    #expect(decision("/x", hidden, organization: "1") == .denied(.emailHidden))
    #expect(decision("/school/x", teacher, organization: "1") == .allowed)
    #expect(decision("/school/x", teacher, organization: "2") == .denied(.claimNotMet))
    #expect(decision("/school/x", hidden, organization: "1") == .denied(.emailHidden))
    #expect(decide("/school/open/x", table).access == .public)
  }

  @Test("Exact before prefix, longer before shorter")
  func match() throws {
    var landing = RouteSettings(path: "/", access: .public)
    landing.match = .exact
    var report = RouteSettings(path: "/reports/today", access: .public)
    report.match = .exact
    let routes = [
      landing, report, RouteSettings(path: "/", access: .lists(subjects("a"))),
      RouteSettings(path: "/reports/", access: .deny),
    ]
    let table = try RouteTable(routes: routes)
    #expect(decide("/", table).access == .public && decide("/x", table).access == .rules([0]))
    #expect(decide("/reports/today", table).access == .public)
    for path in ["/reports/today/", "/reports/Today", "/reports/today;x", "/reports/today/x", "/reports/"] {
      #expect(decide(path, table).access == .deny, "\(path)")
    }
  }

  @Test("A denied exact path is denied in every spelling")
  func exactSpellings() throws {
    var status = RouteSettings(path: "/status", access: .deny)
    status.match = .exact
    let table = try RouteTable(routes: [status])
    for path in [
      "/status", "/STATUS", "/status/", "/status.", "/status;x", "/status%20", "/%73tatus", "//status", "/status//",
    ] {
      #expect(decide(path, table).access == .deny, "\(path)")
    }
    for path in ["/status/x", "/statuses", "/x/status"] { #expect(decide(path, table).access == .signedIn, "\(path)") }
  }

  @Test("Stated methods before none, and of nested sets the smaller; GET includes HEAD; bytes are compared")
  func methods() throws {
    var reading = RouteSettings(path: "/a/", access: .public)
    reading.methods = ["GET"]
    var changing = RouteSettings(path: "/a/", access: .lists(subjects("a")))
    changing.methods = ["GET", "POST"]
    let table = try RouteTable(routes: [RouteSettings(path: "/a/", access: .deny), changing, reading])
    func access(_ method: String) -> RouteDecision.Access { decide("/a/x", table, method: method).access }
    #expect(access("GET") == .public && access("HEAD") == .public)
    #expect(access("POST") == .rules([0]))
    for method in ["PUT", "get", "post", "GETX", ""] { #expect(access(method) == .deny, "\(method)") }
    // Beneath them each method inherits its own.
    let below = try RouteTable(routes: [
      RouteSettings(path: "/a/", access: .deny), changing, reading, RouteSettings(path: "/a/b/"),
    ])
    #expect(decide("/a/b/x", below, method: "GET").access == .public)
    #expect(decide("/a/b/x", below, method: "PUT").access == .deny)
    let bytes = Array("/a/x".utf8)
    let ofEveryMethod = table.match(bytes.span, .canonical)
    #expect(ofEveryMethod.access == .deny, "every method, where none is known")
  }

  @Test("A named host before all others, and none lifts what every host is denied")
  func hosts() throws {
    var wiki = RouteSettings(path: "/", access: .public)
    wiki.host = .named("wiki.example")
    var everywhere = RouteSettings(path: "/metrics", access: .deny)
    everywhere.host = .all
    var common = RouteSettings(path: "/shared/", access: .lists(subjects("a")))
    common.host = .all
    let own = RouteSettings(path: "/own/", access: .deny)
    let table = try RouteTable(routes: [wiki, everywhere, common, own])
    let known = table.host(named: Array("wiki.example".utf8).span)
    let host = try #require(known)
    let unknown = table.host(named: Array("other.example".utf8).span)
    #expect(unknown == nil)
    #expect(decide("/shared/x", table, host: host).access == .public, "a named host is more specific than any path")
    #expect(decide("/shared/x", table).access == .rules([0]))
    #expect(decide("/metrics", table, host: host).access == .deny && decide("/metrics", table).access == .deny)
    #expect(decide("/own/x", table, host: host).access == .public && decide("/own/x", table).access == .deny)
  }

  @Test("A route with more rules than a decision can name admits nobody")
  func manyReadings() throws {
    let routes = (1...9).map { depth in
      RouteSettings(path: String(repeating: "/a", count: depth), access: .lists(subjects("\(depth)")))
    }
    let table = try RouteTable(routes: routes)
    #expect(decide("/A/a/a/a/a/a/a/a", table).access == .rules([0, 1, 2, 3, 4, 5, 6, 7]))
    #expect(decide("/A/a/a/a/a/a/a/a/a", table).access == .deny)
    #expect(decide("/a/a/a/a/a/a/a/a/a", table).access == .rules([8]))
  }

  @Test("Method sets that are equal, or overlap without nesting, and other impossible combinations are problems")
  func problems() {
    func route(_ path: String = "/a", _ edit: (inout RouteSettings) -> Void) -> RouteSettings {
      var route = RouteSettings(path: path)
      edit(&route)
      return route
    }
    func keys(_ routes: [RouteSettings], _ access: AccessSettings = AccessSettings()) -> [String] {
      do {
        _ = try RouteTable(access: access, routes: routes)
        return []
      } catch {
        return error.problems.map { "\($0.route.map(String.init) ?? "access") \($0.key)" }
      }
    }
    #expect(keys([route { $0.methods = ["GET"] }, route { $0.methods = ["GET", "HEAD"] }]) == ["1 path"])
    #expect(keys([route { $0.methods = ["GET", "PUT"] }, route { $0.methods = ["PUT", "POST"] }]) == ["1 methods"])
    #expect(keys([route { $0.methods = ["GET"] }, route { $0.methods = ["POST"] }, route { _ in }]) == [])
    #expect(keys([route { $0.methods = [] }]) == ["0 methods"])
    #expect(keys([route { _ in }, route { $0.match = .exact }, route { $0.host = .all }]) == [])
    #expect(keys([route { $0.host = .named("x") }, route { $0.host = .named("x") }]) == ["1 path"])
    var access = AccessSettings()
    access.conditions.privateEmail = .deny
    #expect(keys([route { $0.conditions.privateEmail = .require }], access) == ["0 private_email"])
    let requirement = ClaimRequirement(claim: "org_id", values: ["1"])
    #expect(
      keys([route { $0.access = .public }, route("/a/b") { $0.conditions.requirements = [requirement] }])
        == ["1 require_claims"])
    access = AccessSettings()
    access.lists = subjects("")
    #expect(keys([], access) == ["access allow_subjects"])
  }

  @Test("Each setting of a route is reported with the place that states it")
  func effective() throws {
    var access = AccessSettings()
    access.lists = subjects("a")
    var api = RouteSettings(path: "/api/")
    api.upstream = "reports"
    let result = try EffectiveRoute.all(
      access: access, routes: [RouteSettings(path: "/o/", access: .public), api])
    let settings = result.routes.compactMap(\.only)
    try #require(settings.count == 2)
    #expect(settings[0].access == .init(.public, by: .route(0)))
    #expect(settings[1].access == .init(.lists(subjects("a")), by: .access))
    #expect(settings[1].upstream == .init("reports", by: .route(1)))
    #expect(result.elsewhere.upstream == .init(nil, by: .standard))
  }

  @Test("Settings that differ by method are reported for each group of methods, those that no route names last")
  func effectiveByMethod() throws {
    func route(_ path: String, _ methods: [String]?, _ access: RouteSettings.Access? = nil) -> RouteSettings {
      var route = RouteSettings(path: path, access: access)
      route.methods = methods
      return route
    }
    let routes = [
      route("/a/", nil, .signedIn), route("/a/", ["GET", "PUT"], .deny), route("/a/", ["PUT"], .public),
      route("/a/b/", nil), route("/a/c/", ["PATCH", "POST"]), route("/a/d/", ["PUT", "HEAD", "POST"], .signedIn),
      route("/e/", nil), route("/f/", ["PURGE"]),
    ]
    let result = try EffectiveRoute.all(access: AccessSettings(), routes: routes).routes
    func parts(_ index: Int) -> [String] {
      result[index].parts.map { part in
        let methods = part.methods.named + (part.methods.includesOthers ? ["others"] : [])
        return "\(methods.joined(separator: " ")): \(part.value.access.value)"
      }
    }
    // A route for all methods is the least specific one of its path, and PUT a smaller set than GET and PUT.
    #expect(parts(0) == ["GET HEAD: deny", "PUT: public", "others: signedIn"])
    #expect(parts(1) == ["GET HEAD: deny", "PUT: public"])
    #expect(parts(2) == ["PUT: public"])
    #expect(parts(3) == parts(0))
    #expect(parts(4) == ["PATCH POST: signedIn"])
    #expect(parts(5) == ["HEAD POST PUT: signedIn"])
    // Methods that only routes of other paths name are not told apart.
    #expect(parts(6) == ["others: signedIn"] && parts(7) == ["PURGE: signedIn"])
  }

  private func subjects(_ subject: String) -> AccessLists {
    var lists = AccessLists()
    lists.subjects = [subject]
    return lists
  }

  private func decide(
    _ path: String, _ table: RouteTable, method: String = "GET", host: RouteTable.Host = .publicURL
  ) -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span), method: Array(method.utf8).span, host: host)
  }
}
