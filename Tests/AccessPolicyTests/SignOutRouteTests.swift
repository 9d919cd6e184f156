import Testing
import WebFormats

@testable import AccessPolicy

@Suite("Routes that sign out")
struct SignOutRouteTests {
  private func access(
    _ path: String, _ table: RouteTable, method: String = "GET", host: RouteTable.Host = .publicURL
  ) -> RouteDecision.Access {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span), method: Array(method.utf8).span, host: host).access
  }

  @Test("A sign-out route holds for its path and what lies below it, also spelled in another way")
  func matching() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/logout", access: .signOut),
    ])
    for path in ["/logout", "/logout/", "/logout/all", "/LOGOUT", "/%6Cogout", "/logout;x=1"] {
      #expect(access(path, table) == .signOut, "\(path)")
    }
    #expect(access("/logout2", table) == .signedIn && access("/open/x", table) == .public)
  }

  @Test("A path that could be anywhere is not taken for a sign-out")
  func anywhere() throws {
    let table = try RouteTable(routes: [RouteSettings(path: "/logout", access: .signOut)])
    #expect(access("//x", table) == .signedIn)
  }

  @Test("No condition of [access] holds on a sign-out route, and a denial for every host stays one")
  func conditions() throws {
    var settings = AccessSettings()
    settings.networks = [try #require(NetworkPrefix("10.0.0.0/8"))]
    settings.conditions.denied.subjects = ["1"]
    var logout = RouteSettings(path: "/logout", access: .signOut)
    let path = Array("/logout".utf8)
    let table = try RouteTable(access: settings, routes: [logout])
    let decision = table.match(path.span, .canonical, method: Array("POST".utf8).span)
    #expect(decision.access == .signOut && decision.networks.isEmpty && decision.denials.isEmpty)
    logout.host = .named("wiki.example.com")
    var denied = RouteSettings(path: "/", access: .deny)
    denied.host = .all
    let host = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"), upstream: "default")
    let hosts = try RouteTable(routes: [logout, denied], hosts: [host])
    let name = Array("wiki.example.com".utf8)
    let scope = hosts.host(named: name.span)
    #expect(access("/logout", hosts, host: try #require(scope)) == .deny)
  }

  @Test("A sign-out route can be for one method, and admits no token")
  func methods() throws {
    var logout = RouteSettings(path: "/session", access: .signOut)
    logout.methods = ["DELETE", "POST"]
    let table = try RouteTable(routes: [logout], groups: ["machines"])
    #expect(access("/session", table, method: "POST") == .signOut)
    #expect(access("/session", table, method: "GET") == .signedIn)
    #expect(table.evaluateToken(inGroupNamed: "machines", by: .signOut) == .denied(.notListed))
  }

  @Test("A more specific route below a sign-out route cannot have conditions")
  func conditionsBelow() {
    var below = RouteSettings(path: "/logout/all")
    below.conditions.denied.subjects = ["1"]
    #expect {
      _ = try RouteTable(routes: [RouteSettings(path: "/logout", access: .signOut), below])
    } throws: { error in
      let problem = (error as? RouteTableError)?.problems.first
      return problem?.key == "deny_subjects" && problem?.problem.contains("access = \"sign-out\"") == true
    }
  }
}
