import Testing
import WebFormats

@testable import AccessPolicy

// Requests that act on a folder must be admitted by the routes below it. RoutePropertyTests compares them with every
// route on random tables; here are the cases that an operator would ask about.
@Suite("Routes below the path of a request")
struct FolderRouteTests {
  private static let staff = subjects("anna", "ben")
  private static let board = subjects("anna")

  private static func subjects(_ subjects: String...) -> AccessLists {
    var lists = AccessLists()
    lists.subjects = subjects
    return lists
  }

  /// A folder for the staff, with one for the board in it.
  private static func folders(_ more: [RouteSettings] = []) -> [RouteSettings] {
    [
      RouteSettings(path: "/dav/", access: .lists(staff)), RouteSettings(path: "/dav/board/", access: .lists(board)),
    ] + more
  }

  private func decide(
    _ method: String, _ path: String, _ table: RouteTable, depth: RequestDepth = .everything,
    host: RouteTable.Host = .publicURL
  ) -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(
      bytes.span, .classify(bytes.span), method: Array(method.utf8).span, depth: depth, host: host)
  }

  /// The users among Anna, Ben and Carl that a decision admits.
  private func admitted(_ decision: RouteDecision, _ table: RouteTable) -> [String] {
    ["anna", "ben", "carl"].filter { user in
      switch decision.access {
      case .public, .signedIn: true
      case .deny, .signOut: false
      case .rules(let rules):
        (0..<rules.count).allSatisfy { table.rules[rules[$0]].evaluate(Principal(subject: user)) == .allowed }
      }
    }
  }

  @Test("A request that acts on a folder needs the access of the folders in it, and no other request does")
  func methods() throws {
    let table = try RouteTable(routes: Self.folders())
    for method in RequestDepth.methods {
      for path in ["/dav/", "/dav", "/"] {
        #expect(admitted(decide(method, path, table), table) == ["anna"], "\(method) \(path)")
      }
      #expect(admitted(decide(method, "/dav/own/", table), table) == ["anna", "ben"], "\(method)")
      #expect(admitted(decide(method, "/dav/board/x", table), table) == ["anna"], "\(method)")
      #expect(admitted(decide(method, "/other", table), table) == ["anna", "ben", "carl"], "\(method)")
      // A longer or shorter name is another folder.
      #expect(admitted(decide(method, "/da", table), table) == ["anna", "ben", "carl"], "\(method)")
    }
    for method in ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "PROPPATCH", "MKCOL", "UNLOCK", "DELETED"] {
      #expect(admitted(decide(method, "/dav/", table), table) == ["anna", "ben"], "\(method)")
      #expect(decide(method, "/", table).access == .signedIn, "\(method)")
    }
  }

  @Test("Depth counts where the method can have it, and DELETE and MOVE are of everything")
  func depths() throws {
    func depth(_ method: String, _ field: RequestDepth) -> RequestDepth {
      RequestDepth(method: Array(method.utf8).span, field: field)
    }
    for field in [RequestDepth.resource, .members, .everything] {
      #expect(depth("PROPFIND", field) == field)
      for method in ["COPY", "LOCK"] {
        #expect(depth(method, field) == (field == .resource ? .resource : .everything), "\(method)")
      }
      for method in RequestDepth.methods where !["PROPFIND", "COPY", "LOCK"].contains(method) {
        #expect(depth(method, field) == .everything, "\(method)")
      }
      for method in ["GET", "POST", "HEAD", "PATCH", "delete", "DELET", "DELETE ", ""] {
        #expect(depth(method, field) == .resource, "\(method)")
      }
    }
  }

  @Test("Depth 0 is for the folder alone, and 1 for the names of what is in it, which its own route is asked for")
  func members() throws {
    let table = try RouteTable(
      routes: Self.folders([RouteSettings(path: "/dav/x/y/", access: .lists(Self.subjects("carl")))]))
    #expect(admitted(decide("PROPFIND", "/dav/", table, depth: .resource), table) == ["anna", "ben"])
    #expect(admitted(decide("PROPFIND", "/dav/", table, depth: .members), table) == ["anna", "ben"])
    #expect(admitted(decide("PROPFIND", "/dav/board/", table, depth: .members), table) == ["anna"])
    #expect(admitted(decide("PROPFIND", "/dav/", table, depth: .everything), table) == [])
    #expect(admitted(decide("COPY", "/dav/", table, depth: .resource), table) == ["anna", "ben"])
    #expect(admitted(decide("DELETE", "/dav/", table, depth: .resource), table) == [])
  }

  @Test(
    "A folder is found in every spelling that a server may take for it",
    arguments: ["/DAV/", "/dav;x", "/dav;x/", "/%64av", "//dav/", "/dav%2F", "/dav//", "/dav./", "//x/dav", "/dav%3Fx"])
  func readings(path: String) throws {
    var routes = Self.folders()
    routes[0].access = .signedIn
    let table = try RouteTable(routes: routes)
    #expect(admitted(decide("DELETE", path, table), table) == ["anna"])
    #expect(admitted(decide("GET", path, table), table) == ["anna", "ben", "carl"])
  }

  @Test("A denied folder is deleted by nobody, and a public one or the address for signing out changes nothing")
  func kinds() throws {
    let table = try RouteTable(
      routes: [
        RouteSettings(path: "/a/", access: .lists(Self.staff)), RouteSettings(path: "/a/closed/", access: .deny),
        RouteSettings(path: "/b/", access: .lists(Self.staff)), RouteSettings(path: "/b/open/", access: .public),
        RouteSettings(path: "/b/logout", access: .signOut),
        RouteSettings(path: "/c/", access: .public), RouteSettings(path: "/c/own/", access: .signedIn),
      ])
    #expect(decide("DELETE", "/a/", table).access == .deny)
    #expect(admitted(decide("DELETE", "/b/", table), table) == ["anna", "ben"])
    #expect(decide("DELETE", "/c/", table).access == .signedIn && decide("GET", "/c/", table).access == .public)
    #expect(decide("DELETE", "/b/logout", table).access == .signOut)
    #expect(decide("DELETE", "/c/x", table).otherReading == .none)
    #expect(decide("DELETE", "/c/", table).otherReading == .none, "the path is not ambiguous")
  }

  @Test("Networks, the age of the sign-in, denied users and tokens of a route below count as its lists do")
  func conditions() throws {
    var inner = RouteSettings(path: "/x/inner/", access: .lists(Self.staff))
    inner.networks = [try #require(NetworkPrefix("10.0.0.0/8"))]
    inner.maxAge = 60
    inner.conditions.denied.subjects = ["ben"]
    inner.tokens = false
    inner.unauthenticated = .unauthorized
    var outer = RouteSettings(path: "/x/", access: .lists(Self.staff))
    outer.tokens = true
    outer.upstream = "files"
    let table = try RouteTable(routes: [outer, inner])
    let deletion = decide("DELETE", "/x/", table)
    #expect(admitted(deletion, table) == ["anna"])
    #expect(deletion.maxAge == 60 && !deletion.acceptsTokens && deletion.unauthenticated == .unauthorized)
    #expect(!table.admits(deletion, from: nil) && table.admits(deletion, from: IPAddress("10.1.2.3")))
    #expect(table.upstreams[deletion.upstream] == "files", "the application is that of the path")
    let reading = decide("GET", "/x/", table)
    #expect(admitted(reading, table) == ["anna", "ben"] && reading.acceptsTokens && table.admits(reading, from: nil))
  }

  @Test("An exact route does not hold for what is below its path, so what holds there must admit as well")
  func exactRoutes() throws {
    var front = RouteSettings(path: "/dav/", access: .public)
    front.match = .exact
    var file = RouteSettings(path: "/dav/plan.txt", access: .lists(Self.board))
    file.match = .exact
    let table = try RouteTable(routes: [RouteSettings(path: "/dav/", access: .lists(Self.staff)), front, file])
    #expect(decide("GET", "/dav/", table).access == .public)
    #expect(admitted(decide("DELETE", "/dav/", table), table) == ["anna"])
    #expect(decide("PROPFIND", "/dav/", table, depth: .resource).access == .public)
    #expect(admitted(decide("PROPFIND", "/dav/", table, depth: .members), table) == ["anna", "ben"])
    #expect(admitted(decide("DELETE", "/dav/plan.txt", table), table) == ["anna"])
    // Where no route surrounds it, that is [access].
    var page = RouteSettings(path: "/page", access: .public)
    page.match = .exact
    let alone = try RouteTable(routes: [page])
    #expect(decide("DELETE", "/page", alone).access == .signedIn && decide("POST", "/page", alone).access == .public)
    #expect(decide("PROPFIND", "/page", alone, depth: .members).access == .signedIn, "what is in it is not its own")
    #expect(decide("PROPFIND", "/page", alone, depth: .resource).access == .public)
    // Nothing of the application is below the address for signing out.
    page.path = "/logout/page"
    let inside = try RouteTable(routes: [RouteSettings(path: "/logout/", access: .signOut), page])
    #expect(decide("DELETE", "/logout/page", inside).access == .public)
    #expect(decide("DELETE", "/logout/other", inside).access == .signOut)
  }

  @Test("A route with methods below a folder counts for these methods")
  func methodsBelow() throws {
    var inner = RouteSettings(path: "/dav/board/", access: .lists(Self.board))
    inner.methods = ["DELETE"]
    let table = try RouteTable(routes: [RouteSettings(path: "/dav/", access: .lists(Self.staff)), inner])
    #expect(admitted(decide("DELETE", "/dav/", table), table) == ["anna"])
    #expect(admitted(decide("MOVE", "/dav/", table), table) == ["anna", "ben"])
  }

  @Test("Routes of another host are not below the path")
  func hosts() throws {
    let host = HostSettings(origin: try PublicOrigin(parsing: "https://wiki.example.com"), upstream: "default")
    var wiki = RouteSettings(path: "/dav/board/", access: .lists(Self.board))
    wiki.host = .named("wiki.example.com")
    var everywhere = RouteSettings(path: "/common/closed/", access: .deny)
    everywhere.host = .all
    let table = try RouteTable(routes: [wiki, everywhere], hosts: [host])
    let found = table.host(named: Array("wiki.example.com".utf8).span)
    let scope = try #require(found)
    #expect(decide("DELETE", "/dav/", table).access == .signedIn)
    #expect(admitted(decide("DELETE", "/dav/", table, host: scope), table) == ["anna"])
    for host in [RouteTable.Host.publicURL, scope] {
      #expect(decide("DELETE", "/common/", table, host: host).access == .deny)
    }
  }

  @Test("A field with another method is removed where that method would need more than the request does")
  func methodOverride() throws {
    let table = try RouteTable(routes: Self.folders([RouteSettings(path: "/open/x/", access: .public)]))
    for path in ["/dav/", "/dav", "/", "/DAV/"] {
      #expect(decide("POST", path, table).dropsMethodOverride, "\(path)")
    }
    for path in ["/dav/x", "/dav/board/", "/open/", "/x"] {
      #expect(!decide("POST", path, table).dropsMethodOverride, "\(path)")
    }
    #expect(decide("PROPFIND", "/dav/", table, depth: .resource).dropsMethodOverride)
    #expect(!decide("DELETE", "/dav/", table).dropsMethodOverride, "it has been judged by everything already")
    var page = RouteSettings(path: "/page", access: .public)
    page.match = .exact
    #expect(decide("POST", "/page", try RouteTable(routes: [page])).dropsMethodOverride)
    page.access = .signedIn
    #expect(!decide("POST", "/page", try RouteTable(routes: [page])).dropsMethodOverride)
    let unknown = Array("/dav/".utf8)
    #expect(table.match(unknown.span, .canonical).dropsMethodOverride)
  }

  @Test("More lists below a folder than a decision can name admit nobody, and the routes themselves stay as they are")
  func manyLists() throws {
    let routes = (0..<2_000).map { number in
      RouteSettings(path: "/team\(number)/docs/", access: .lists(Self.subjects("user\(number)")))
    }
    let table = try RouteTable(routes: routes)
    #expect(decide("DELETE", "/", table).access == .deny)
    for number in [0, 7, 1_999] {
      guard case .rules(let rules) = decide("DELETE", "/team\(number)", table).access else {
        Issue.record("\(number)")
        continue
      }
      #expect(rules.count == 1)
      #expect(table.rules[rules[0]].evaluate(Principal(subject: "user\(number)")) == .allowed)
    }
    #expect(decide("GET", "/", table).access == .signedIn)
  }

  @Test("Routes below each folder are found in one pass: decisions and folders grow with the routes, not faster")
  func growth() {
    func parts(_ count: Int) -> (decisions: Int, folders: Int) {
      let routes = (0..<count).map { number in
        RouteSettings(path: "/a/b/team\(number)/docs/", access: .lists(Self.subjects("user\(number)")))
      }
      let groups = GroupNumbers([])
      let checked = CheckedRoutes(AccessSettings(), routes, groups)
      var compiler = DecisionCompiler(groups)
      var problems = checked.problems
      let parts = RouteTreeBuilder(checked, host: nil).parts(&compiler, &problems)
      return (parts.rows.decisions.count, parts.folders.count)
    }
    let (few, many) = (parts(200), parts(2_000))
    #expect(few.folders == 203 && many.folders == 2_003)
    #expect(many.decisions <= 10 * few.decisions)
  }
}
