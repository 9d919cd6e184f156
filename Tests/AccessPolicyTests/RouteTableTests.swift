import AccessPolicy
import RandomTesting
import Testing

@Suite("Routes")
struct RouteTableTests {
  /// `/public/` public, `/app/admin/` for one subject, `/secret/` denied, `/secret/open/` public, `/api` public with
  /// 401.
  static let routes: [RouteSettings] = {
    var admin = AccessLists()
    admin.subjects = ["boss"]
    var api = RouteSettings(path: "/api", access: .public)
    api.unauthenticated = .unauthorized
    return [
      RouteSettings(path: "/public/", access: .public), RouteSettings(path: "/app/admin/", access: .lists(admin)),
      RouteSettings(path: "/secret/", access: .deny), RouteSettings(path: "/secret/open/", access: .public), api,
      RouteSettings(path: "/public/members/", access: .signedIn),
    ]
  }()

  @Test(
    "The longest canonical prefix wins, and the default is for those who are signed in",
    arguments: [
      ("/", .signedIn), ("/other", .signedIn), ("/public/", .public), ("/public/x", .public), ("/public", .signedIn),
      ("/publicx", .signedIn), ("/api", .public), ("/api/", .public), ("/api/x", .public), ("/apix", .signedIn),
      ("/app/admin/", .rules([0])), ("/app/admin/x", .rules([0])), ("/app/administrator", .signedIn),
      ("/secret/", .deny),
      ("/secret/x", .deny), ("/secret/open/x", .public), ("/secretx", .signedIn), ("/public/members/x", .signedIn),
      ("/public/user%40example.com", .public), ("/public/gr%C3%BC%C3%9Fe.html", .public),
    ] as [(String, RouteDecision.Access)])
  func longestPrefix(path: String, access: RouteDecision.Access) throws {
    #expect(try decide(path).access == access)
  }

  @Test("A refused path is denied under a public route, whatever the method", arguments: ["/../x", "/a%00", "x", "/%"])
  func refused(path: String) throws {
    let table = try RouteTable(routes: [RouteSettings(path: "/", access: .public)])
    let (path, method) = (Array(path.utf8), Array("GET".utf8))
    let classification = PathClassification.classify(path.span)
    #expect(table.match(path.span, classification, method: method.span).access == .deny)
    #expect(table.match(path.span, classification).access == .deny)
  }

  @Test("A request whose method is not known is admitted only if it would be with every method")
  func unknownMethod() throws {
    var posts = RouteSettings(path: "/", access: .deny)
    posts.methods = ["POST"]
    let table = try RouteTable(routes: [RouteSettings(path: "/", access: .public), posts])
    let (path, get) = (Array("/x".utf8), Array("GET".utf8))
    #expect(table.match(path.span, .canonical, method: get.span).access == .public)
    #expect(table.match(path.span, .canonical).access == .deny)
  }

  @Test(
    "No other spelling of a public path is public",
    arguments: [
      "/PUBLIC/x", "/Public/x", "/%70ublic/x", "/public%2Fx", "//public/x", "/public//x", "/public;/x", "/public/;x",
      "/public/x;y", "/public/%61", "/public/caf\u{E9}", "/public/%252e%252e/app", "/public/%c0%ae%c0%ae/app",
      "/public/x%2Fy", "/public/%EF%BC%8E%EF%BC%8E/app", "/public/.../app", "/public./x", "/api;x", "/api%2Fx", "/api.",
      "/public/Members/x", "/public/members./x", "/public/MEMBERS", "/public/members;x/y",
    ])
  func neverLaxer(path: String) throws {
    #expect(try decide(path).access != .public)
  }

  @Test(
    "Every other spelling of a denied path is denied",
    arguments: [
      "/SECRET/", "/Secret/x", "/secret", "/secret.", "/secret./x", "/secret../x", "/secret%20/x", "/secret.%20/x",
      "/secret;/x",
      "/secret;a=b/x", "/;x/secret/x", "/%73ecret/x", "/%53ECRET/x", "/secret%2Fx", "/secret%5Cx", "//secret/x",
      "//host/secret/x",
      "/secret//x", "/secret:$DATA/x", "/secret::$INDEX_ALLOCATION/x", "/secret%3Fx", "/secret%23", "/secret%3B/x",
      "/%2Fsecret/x", "/secret%2F", "/%73ecret/OPEN/x", "/x/%252e%252e/secret/x", "/x/%c0%ae%c0%ae/secret/x",
      "/x%EF%BC%8Fsecret", "/secret/OPEN/x", "/secret/Open/", "/secret/open",
    ])
  func neverLaxerThanDeny(path: String) throws {
    #expect(try decide(path).access == .deny)
  }

  @Test(
    "Every other spelling of a path with rules is under those rules",
    arguments: [
      "/APP/ADMIN/x", "/app/Admin", "/app/admin", "/app/admin./", "/app//admin/x", "/app/%61dmin/x", "/app;x/admin;y/z",
      "/app%2Fadmin%2Fx", "/app/admin;jsessionid=1", "/%61pp/ADMIN.",
    ])
  func neverLaxerThanRules(path: String) throws {
    #expect(try decide(path).access == .rules([0]))
  }

  @Test(
    "A longer name is not another spelling",
    arguments: [
      "/secrets", "/secret-x", "/secret.txt", "/secret%20x", "/SECRETS/x", "/app/administrator/x", "/app/admin.html",
    ])
  func otherNames(path: String) throws {
    #expect(try decide(path).access == .signedIn)
  }

  @Test("An ambiguous path gets nothing laxer than the route \"/\"")
  func rootRoute() throws {
    let denied = try RouteTable(routes: [
      RouteSettings(path: "/", access: .deny), RouteSettings(path: "/public/", access: .public),
    ])
    #expect(decide("/public/x", denied).access == .public)
    #expect(decide("/public/x;y", denied).access == .deny)
    #expect(decide("/x", denied).access == .deny)
    let open = try RouteTable(routes: [RouteSettings(path: "/", access: .public)])
    #expect(decide("/x", open).access == .public)
    #expect(decide("/x;y", open).access == .signedIn)
    #expect(decide("//x", open).access == .signedIn)
  }

  @Test("A path under one list of rules stays under it when it is ambiguous, also beneath rules for \"/\"")
  func rulesBeneathRules() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/", access: .lists(subjects("everybody"))),
      RouteSettings(path: "/admin/", access: .lists(subjects("boss"))),
      RouteSettings(path: "/public/", access: .public),
    ])
    #expect(decide("/admin/x;y", table).access == .rules([1]))
    #expect(decide("/public/x;y", table).access == .rules([0]))
    #expect(decide("/x", table).access == .rules([0]))
  }

  @Test("A path of which two readings stand under different lists is for users whom both admit")
  func twoLists() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/app/", access: .lists(subjects("a"))),
      RouteSettings(path: "/app/admin/", access: .lists(subjects("b"))),
    ])
    #expect(decide("/app/x", table).access == .rules([0]))
    #expect(decide("/app/admin/x", table).access == .rules([1]))
    #expect(decide("/app/ADMIN/x", table).access == .rules([0, 1]))
    #expect(decide("/.../x", table).access == .rules([0, 1]))
    #expect(table.rules == [AccessRules(lists: subjects("a")), AccessRules(lists: subjects("b"))])
  }

  @Test("The decision tells its class, and what a request without a session is answered")
  func decision() throws {
    let api = try decide("/api/x")
    #expect(api.unauthenticated == .unauthorized && api.access == .public)
    let fallback = try decide("/")
    #expect(fallback.unauthenticated == .automatic && fallback.access == .signedIn)
    let loose = try decide("/Secret/x")
    #expect(loose.access == .deny)
    #expect(try decide("/api;x") == .default)
  }

  @Test("A refused path is denied, and a table without routes has the default alone")
  func edges() throws {
    let empty = try RouteTable()
    #expect(try decide("/public/../x").access == .deny)
    #expect(decide("/x", empty).access == .signedIn)
    #expect(decide("//x;y", empty).access == .signedIn)
  }

  @Test("No spelling of generated paths is laxer than what a lenient server would see")
  func generated() throws {
    let table = try RouteTable(routes: Self.routes)
    var generator = SeededNumbers(seed: 11)
    let spell: [(Character) -> String] = [
      { String($0) }, { $0.uppercased() }, { "%" + String($0.asciiValue!, radix: 16) },
    ]
    for _ in 0..<5_000 {
      let name = "secret".map { spell.randomElement(using: &generator)!($0) }.joined()
      let suffix = ["", ".", ";x", "..", "%20", ":x", ".;x"].randomElement(using: &generator)!
      let separator = ["/", "//", "%2F", "%5c", "/;/"].randomElement(using: &generator)!
      let path = "/" + name + suffix + separator + "x"
      #expect(decide(path, table).access == .deny, "\(path)")
    }
  }

  private func subjects(_ subject: String) -> AccessLists {
    var lists = AccessLists()
    lists.subjects = [subject]
    return lists
  }

  private func decide(_ path: String) throws -> RouteDecision {
    decide(path, try RouteTable(routes: Self.routes))
  }

  private func decide(_ path: String, _ table: RouteTable) -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span))
  }
}

@Suite("Routes and the applications that serve them")
struct RouteUpstreamTests {
  private static let table: RouteTable? = {
    var reports = RouteSettings(path: "/reports/", access: .public)
    reports.upstream = "reports"
    var admin = RouteSettings(path: "/Admin/", access: .deny)
    admin.upstream = "admin"
    var more = RouteSettings(path: "/reports/more", access: .signedIn)
    more.upstream = "reports"
    return try? RouteTable(routes: [reports, admin, RouteSettings(path: "/reports/own/", access: .public), more])
  }()

  @Test(
    "The longest prefix, byte for byte, decides who serves, whatever decides on access",
    arguments: [
      ("/", nil), ("/reports/", "reports"), ("/reports/x", "reports"), ("/reports", nil), ("/REPORTS/x", nil),
      ("/reports/own/x", "reports"), ("/reports/more", "reports"), ("/Admin/x", "admin"), ("/admin/x", nil),
      ("/%41dmin/x", nil), ("//reports/x", nil), ("/reports/x//y", "reports"),
    ] as [(String, String?)])
  func serving(path: String, upstream: String?) throws {
    let table = try #require(Self.table)
    #expect(table.upstreams == [nil, "reports", "admin"])
    let bytes = Array(path.utf8)
    let decision = table.match(bytes.span, PathClassification.classify(bytes.span))
    #expect(table.upstreams[decision.upstream] == upstream)
    if path == "/admin/x" || path == "/%41dmin/x" { #expect(decision.access == .deny) }
  }

  @Test("Without routes one application serves everything")
  func empty() throws {
    let table = try RouteTable()
    #expect(table.upstreams == [nil])
    let decision = table.match(Array("/".utf8).span, .canonical)
    #expect(decision.upstream == 0)
  }
}
