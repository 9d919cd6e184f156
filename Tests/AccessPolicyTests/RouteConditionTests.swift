import Testing
import WebFormats

@testable import AccessPolicy

// Conditions on a request beside its user: its address, the age of the sign-in, its method.
@Suite("Conditions of routes")
struct RouteConditionTests {
  private func networks(_ texts: String...) throws -> [NetworkPrefix] {
    try texts.map { try #require(NetworkPrefix($0)) }
  }

  private func decide(_ path: String, _ table: RouteTable, method: String = "GET") -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span), method: Array(method.utf8).span)
  }

  private func admits(_ table: RouteTable, _ path: String, _ address: String?) -> Bool {
    table.admits(decide(path, table), from: address.flatMap { IPAddress($0) })
  }

  @Test("The address must be in every list of networks that holds, and an unknown one is in none")
  func networksAddUp() throws {
    var access = AccessSettings()
    access.networks = try networks("10.0.0.0/8", "fd00::/8")
    var office = RouteSettings(path: "/office/")
    office.networks = try networks("10.1.0.0/16", "192.0.2.0/24")
    var open = RouteSettings(path: "/open/", access: .public)
    open.networks = try networks("192.0.2.7")
    let table = try RouteTable(access: access, routes: [office, open, RouteSettings(path: "/free/", access: .public)])
    #expect(admits(table, "/x", "10.9.9.9") && admits(table, "/x", "fd00::1") && admits(table, "/x", "::ffff:10.0.0.1"))
    #expect(!admits(table, "/x", "192.0.2.1") && !admits(table, "/x", nil))
    #expect(admits(table, "/office/x", "10.1.2.3"))
    #expect(!admits(table, "/office/x", "10.2.2.3") && !admits(table, "/office/x", "192.0.2.1"))
    #expect(admits(table, "/open/x", "192.0.2.7"), "on a public route those of [access] do not apply")
    #expect(!admits(table, "/open/x", "10.1.2.3") && !admits(table, "/open/x", nil))
    #expect(admits(table, "/free/x", nil))
    // Read leniently, the path lies under the route as well.
    #expect(!admits(table, "/OFFICE/x", "10.2.2.3") && admits(table, "/OFFICE/x", "10.1.2.3"))
    #expect(!admits(table, "/Open/x", "10.1.2.3"))
  }

  @Test("Nobody passes if more conditions hold than a decision can name")
  func manyNetworks() throws {
    let routes = try (1...5).map { depth in
      var route = RouteSettings(path: String(repeating: "/a", count: depth))
      route.networks = try networks("10.0.0.\(depth)")
      return route
    }
    let table = try RouteTable(routes: routes)
    #expect(decide("/A/a/a/a", table).networks.count == 4)
    #expect(decide("/A/a/a/a/a", table).access == .deny)
    #expect(decide("/a/a/a/a/a", table).networks.count == 1, "a chain is one condition")
  }

  @Test("The maximum age is taken from the most specific route, and of two readings the smaller counts")
  func maximumAge() throws {
    var access = AccessSettings()
    access.maxAge = 1_000
    var young = RouteSettings(path: "/young/")
    young.maxAge = 60
    var old = RouteSettings(path: "/young/old/")
    old.maxAge = 0
    let table = try RouteTable(access: access, routes: [young, old, RouteSettings(path: "/open/", access: .public)])
    #expect(decide("/x", table).maxAge == 1_000)
    #expect(decide("/young/x", table).maxAge == 60)
    #expect(decide("/young/old/x", table).maxAge == 0)
    #expect(decide("/Young/x", table).maxAge == 60)
    #expect(decide("/young/old/x;y", table).maxAge == 1_000, "an ambiguous path gets nothing laxer than the default")
    #expect(decide("/open/x", table).maxAge == 0)
  }

  @Test("Tokens are accepted where every reading accepts them")
  func tokens() throws {
    var groups = AccessLists()
    groups.groups = ["machines"]
    var api = RouteSettings(path: "/api/", access: .lists(groups))
    api.tokens = true
    var people = RouteSettings(path: "/api/people/")
    people.tokens = false
    let table = try RouteTable(routes: [api, people], groups: ["machines"])
    #expect(decide("/api/x", table).acceptsTokens)
    #expect(!decide("/x", table).acceptsTokens && !decide("/api/people/x", table).acceptsTokens)
    #expect(!decide("/api/People/x", table).acceptsTokens)
    #expect(!decide("/API/x", table).acceptsTokens, "read byte for byte it is another path")
  }

  @Test("Method overrides are dropped wherever a route with methods lies over the path, whatever decides")
  func methodOverride() throws {
    var reading = RouteSettings(path: "/a/", access: .public)
    reading.methods = ["GET"]
    var upstream = RouteSettings(path: "/b")
    upstream.methods = ["POST"]
    upstream.upstream = "x"
    let table = try RouteTable(routes: [reading, upstream, RouteSettings(path: "/a/c/", access: .signedIn)])
    for method in ["GET", "POST", "PURGE"] {
      for path in ["/a/x", "/a/c/x", "/A/x", "/b", "/b/x", "/B"] {
        #expect(decide(path, table, method: method).dropsMethodOverride, "\(method) \(path)")
      }
      #expect(!decide("/x", table, method: method).dropsMethodOverride)
    }
    #expect(decide("/B", table).access == .signedIn, "a route that states only methods restricts nobody")
  }
}
