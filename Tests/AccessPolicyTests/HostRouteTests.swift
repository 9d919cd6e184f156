import Testing

@testable import AccessPolicy

// Several hosts: each has its own routes before those for every host, and its own upstream behind them.
@Suite("Routes of several hosts")
struct HostRouteTests {
  @Test("Every host is found by its authority, with or without routes, and no other is")
  func found() throws {
    var route = RouteSettings(path: "/private/", access: .deny)
    route.host = .named("wiki.example.com")
    let table = try RouteTable(routes: [route], hosts: hosts())
    for name in ["wiki.example.com", "tickets.example.com:8443", "plain.example.com"] {
      #expect(isKnown(name, to: table), "\(name)")
    }
    for name in ["app.example.com", "tickets.example.com", "wiki.example.co", "wiki.example.com.", ""] {
      #expect(!isKnown(name, to: table), "\(name)")
    }
  }

  @Test("The upstream comes from the most specific route that states one, then from the host, then by default")
  func upstream() throws {
    var own = RouteSettings(path: "/static/")
    own.host = .named("wiki.example.com")
    own.upstream = "files"
    var standard = RouteSettings(path: "/static/old/")
    standard.host = .named("wiki.example.com")
    standard.upstream = RouteSettings.defaultUpstream
    var everywhere = RouteSettings(path: "/health")
    everywhere.host = .all
    everywhere.upstream = "health"
    var ofPublicURL = RouteSettings(path: "/")
    ofPublicURL.upstream = "shop"
    let table = try RouteTable(routes: [own, standard, everywhere, ofPublicURL], hosts: hosts())
    #expect(try upstream("/x", "wiki.example.com", table) == "wiki")
    #expect(try upstream("/static/x", "wiki.example.com", table) == "files")
    #expect(try upstream("/static/old/x", "wiki.example.com", table) == nil)
    #expect(try upstream("/health", "wiki.example.com", table) == "health")
    #expect(try upstream("/x", "tickets.example.com:8443", table) == "tickets")
    #expect(try upstream("/x", "plain.example.com", table) == nil)
    #expect(try upstream("/health", "plain.example.com", table) == "health")
    #expect(try upstream("/x", nil, table) == "shop")
    // The upstream of a host is among those that are watched, though no route names it.
    #expect(Set(table.upstreams.compactMap { $0 }) == ["wiki", "files", "health", "tickets", "shop"])
  }

  @Test("Routes without a host say nothing about other hosts, and those for every host do")
  func scopes() throws {
    var everywhere = RouteSettings(path: "/metrics", access: .deny)
    everywhere.host = .all
    let table = try RouteTable(
      routes: [RouteSettings(path: "/", access: .public), RouteSettings(path: "/admin/", access: .deny), everywhere],
      hosts: hosts())
    for host in ["wiki.example.com", "plain.example.com"] {
      #expect(try decide("/", host, table).access == .signedIn, "\(host)")
      #expect(try decide("/admin/", host, table).access == .signedIn, "\(host)")
      #expect(try decide("/metrics", host, table).access == .deny, "\(host)")
    }
    #expect(try decide("/", nil, table).access == .public)
    #expect(try decide("/metrics", nil, table).access == .deny)
    #expect(table.hasRestrictions)
  }

  @Test("The deny lists of [access] hold on every host, also where a route of the host admits everybody signed in")
  func denied() throws {
    var access = AccessSettings()
    access.conditions.denied.subjects = ["mallory"]
    var own = RouteSettings(path: "/", access: .signedIn)
    own.host = .named("wiki.example.com")
    let table = try RouteTable(access: access, routes: [own], hosts: hosts())
    for host in ["wiki.example.com", "tickets.example.com:8443", "plain.example.com", nil] {
      guard case .rules(let rules) = try decide("/x", host, table).access, rules.count == 1 else {
        Issue.record("\(host ?? "public_url") has no rules")
        continue
      }
      let rule = table.rules[rules[0]]
      #expect(rule.evaluate(Principal(subject: "mallory")) { _ in [] } != .allowed)
      #expect(rule.evaluate(Principal(subject: "ada")) { _ in [] } == .allowed)
    }
    #expect(table.isDenied(Principal(subject: "mallory")))
  }

  @Test("A route of a host cannot lift a denial for every host")
  func denial() throws {
    var everywhere = RouteSettings(path: "/internal/", access: .deny)
    everywhere.host = .all
    var own = RouteSettings(path: "/internal/open/", access: .public)
    own.host = .named("wiki.example.com")
    let table = try RouteTable(routes: [everywhere, own], hosts: hosts())
    #expect(try decide("/internal/open/x", "wiki.example.com", table).access == .deny)
    let effective = try EffectiveHost.all(
      access: AccessSettings(), routes: [everywhere, own], hosts: hosts())
    let settings = try #require(effective[1].routes.last?.settings.only)
    #expect(settings.access == .init(.deny, by: .route(0)))
  }

  @Test("The effective settings are listed by host, with the place that states each")
  func effective() throws {
    var own = RouteSettings(path: "/x/", access: .public)
    own.host = .named("wiki.example.com")
    var everywhere = RouteSettings(path: "/y/")
    everywhere.host = .all
    everywhere.unauthenticated = .unauthorized
    let result = try EffectiveHost.all(
      access: AccessSettings(), routes: [RouteSettings(path: "/z/"), own, everywhere], hosts: hosts())
    #expect(result.map(\.host) == [nil, 0, 1, 2])
    #expect(result.map { $0.routes.map(\.index) } == [[0, 2], [1, 2], [2], [2]])
    #expect(result[1].elsewhere.upstream == .init("wiki", by: .host(0)))
    #expect(result[3].elsewhere.upstream == .init(nil, by: .host(2)))
    #expect(result[0].elsewhere.upstream == .init(nil, by: .standard))
    let settings = result[1].routes.compactMap(\.settings.only)
    try #require(settings.count == 2)
    #expect(settings[0].access == .init(.public, by: .route(1)))
    #expect(settings[1].unauthenticated == .init(.unauthorized, by: .route(2)))
  }

  @Test("A route for every host has no effect where each host states all that it states")
  func effect() throws {
    var everywhere = RouteSettings(path: "/x/", access: .signedIn)
    everywhere.host = .all
    everywhere.maxAge = 60
    func shadow(_ host: RouteSettings.HostScope, maxAge: Int?) -> RouteSettings {
      var route = RouteSettings(path: "/x/", access: .public)
      route.host = host
      route.maxAge = maxAge
      return route
    }
    func effects(_ maxAge: Int?) throws -> [Bool] {
      let scopes: [RouteSettings.HostScope] =
        try [.publicURL] + hosts().map { .named($0.origin.authority) }
      return try EffectiveHost.all(
        access: AccessSettings(), routes: [everywhere] + scopes.map { shadow($0, maxAge: maxAge) }, hosts: hosts()
      ).map { $0.routes[0].hasEffect }
    }
    #expect(try effects(30) == [false, false, false, false])
    #expect(try effects(nil) == [true, true, true, true])
  }

  private func hosts() throws -> [HostSettings] {
    try [
      ("https://wiki.example.com", "wiki"), ("https://tickets.example.com:8443", "tickets"),
      ("https://plain.example.com", RouteSettings.defaultUpstream),
    ].map { HostSettings(origin: try PublicOrigin(parsing: $0.0), upstream: $0.1) }
  }

  private func upstream(_ path: String, _ host: String?, _ table: RouteTable) throws -> String? {
    table.upstreams[try decide(path, host, table).upstream]
  }

  private func isKnown(_ name: String, to table: RouteTable) -> Bool { host(name, of: table) != nil }

  private func host(_ name: String, of table: RouteTable) -> RouteTable.Host? {
    let bytes = Array(name.utf8)
    return table.host(named: bytes.span)
  }

  private func decide(_ path: String, _ host: String?, _ table: RouteTable) throws -> RouteDecision {
    var number = RouteTable.Host.publicURL
    if let host { number = try #require(self.host(host, of: table)) }
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span), host: number)
  }
}
