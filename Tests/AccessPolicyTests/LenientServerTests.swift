import RandomTesting
import Testing
import WebFormats

@testable import AccessPolicy

// Paths that lenient servers take for one below a restricted route, and those that only look like it.
//
// - Addresses of ordinary applications are decided by their own route, whatever route is restricted elsewhere.
// - No spelling that some server reads as a path below a restricted route is laxer than that route.
@Suite("Restricted routes and lenient servers")
struct LenientServerTests {
  @Test(
    "A restricted route elsewhere does not close an ordinary address",
    arguments: [
      "/wiki/Home", "/job/app/job/feature%252Flogin/", "/wiki/To_be_continued%E2%80%A6",
      "/files/Quarterly%20report%E2%80%A6.pdf", "/wiki/%E2%80%A6and_more", "/x/50%25ab", "/files/100%2520report.pdf",
      "/files/100%2525", "/%2525", "//wiki/Home", "//job/app/job/feature%252Flogin/", "//x/y/z", "//", "///", "/caf%E9",
      "//x//y", "//wiki//Home", "//a//b//c//metricsx", "/%2Fx//y%2Fz",
      "/files/caf%E9/x", "/files/%E9t%E9", "/gr%FCn", "/wiki/%EF%BC%85", "/wiki/100%EF%BC%85", "/a%2Fb", "/a//b",
      "/%2Fhome%2Fada", "/x%253Fy", "/x%253By", "/x%255Cy", "/metricsx", "/x%252Fmetrics", "//metricsx",
      "/wiki/metrics%E2%80%A6", "/wiki%2Fmetrics", "/metrics-%E2%80%A6", "/C%253A/x",
      "/x;a=b%2Fc/y", "/x;a=metrics%2Fmetrics", "/x;a%2Fmetrics",
      "/(S(x))/wiki/Home", "/(S(lit3py55t21z5v55vlm25s55))/", "/wiki/(A(b)F(c))/Home", "/(S(x))", "/wiki/(S(x))tail",
      "/(S(x))/wiki/a%2Fb", "/(S(x))/caf%E9/x", "/%28S(x))/wiki//Home", "/(metrics)/x", "/(S(metrics))/x",
      "/(S(x))metricsx", "/metricsx/(S(x))", "/wiki/f(S(x))/metrics",
      "/wiki/C++", "/wiki/C%2B%2B", "/metric+s", "/+metrics", "/a+b/metrics", "/wiki/+/metrics", "/metrics+x",
    ])
  func admitted(path: String) throws {
    for table in try Self.tables(of: "/metrics") { #expect(decide(path, table).access == .signedIn) }
  }

  @Test(
    "A path that some server takes for a restricted one is restricted",
    arguments: [
      // Decoded twice, three times, in another way.
      "/%252Fmetrics", "/%256Detrics", "/%256DETRICS/x", "/metrics%252Fx", "/metrics%253Bx", "/metrics%253Fx",
      "/metrics%2520", "/metrics%252E", "/metrics%2500", "/metrics%255Cx", "/x%252F..%252Fmetrics",
      "/x/%252e%252e/metrics", "/x/%2e%252e/metrics", "/x/..%252Fmetrics", "/x%255C..%255Cmetrics",
      "/x/..%253B/metrics", "/%25256Detrics", "/x/%25252e%25252e/metrics", "/%25%36Detrics",
      "/%25u006Detrics", "/%25%EF%BC%96Detrics", "/x%25EF%25BC%258Fmetrics", "/%25EF%25BD%258Detrics",
      "/x/%25c0%25ae%25c0%25ae/metrics", "/x/%E2%2580%25A5/metrics",
      // A parameter that is dropped before what is encoded in it is read.
      "/;a%2Fb/metrics", "/;a%5Cb/metrics", "/;a%3Fb/metrics", "/;a%23b/metrics", "/metrics;a%2Fb",
      "/metrics;a%2Fb/x", "/%3Ba%2Fb/metrics", "/%EF%BC%9Ba%5Cb/metrics", "/;a%252Fb/metrics", "/;a%5Cb%2Fmetrics",
      "//x;a%2Fb/metrics", "/;a%2Fb/;c%2Fd/metrics", "/;a/x/metrics", "/;/x/metrics", "/%3Ba/x/metrics",
      "/;a%EF%BC%9Fb/metrics", "/%EF%BC%9Ba%EF%BC%9Fb/metrics", "/;a/;b/x/metrics",
      // An authority.
      "//metrics", "///metrics", "//x/metrics", "///x/metrics", "//user@x:80/METRICS", "//x//metrics",
      "//x//y/metrics", "//x//y//z/metrics", "/%2Fx%2F%2Fy/metrics", "/%2Fx/metrics", "/%5Cx/metrics",
      "/%252Fx/metrics", "//x%2Fmetrics", "//x%5Cmetrics",
      "//x%2Fy/metrics", "//x%5Cy%2Fz/metrics", "//a%5Cb%2Fmetrics", "//x/%6Detrics", "//x/%256Detrics",
      "//x/metrics;y", "//x%252Fmetrics", "//x%252Fy/metrics",
      // Characters that become ASCII.
      "/x/%E2%80%A5/metrics", "/a/%EF%BC%8E%EF%BC%8E/metrics", "/a/.%EF%BC%8E/metrics", "/a/%EF%BC%8E%2e/metrics",
      "/a/%EF%BC%8E%252e/metrics", "/metrics%E2%80%A6", "/metrics%EF%BC%8E/x", "/%E2%80%A6/metrics",
      "/x%EF%BC%8Fmetrics", "/%EF%BC%856Detrics", "/%EF%BC%85%36Detrics", "/metrics%EF%BC%9Bx",
      "/a/%EF%BC%8E%EF%BC%8E%EF%BC%9Bx/metrics", "/a/%EF%BC%8E%EF%BC%8E:x/metrics", "/%EF%BD%8Detrics",
      "/a/..%EF%BC%8Fmetrics", "/x%E2%88%95metrics",
      // Bytes that are not UTF-8: overlong, dropped, replaced, or some letter.
      "/%C0%AEx", "/x/%C0%AE%C0%AE/metrics", "/x%C0%AFmetrics", "/x/%E0%80%AE%E0%80%AE/metrics",
      "/x/%F0%80%80%AE./metrics", "/x/%F8%80%80%80%AE./metrics", "/m%E9trics", "/m%C9TRICS", "/met%E9rics",
      "/metrics%E9", "/metrics%E9/x", "/metrics.%E9", "/metrics;%E9", "/metric%DF", "/%E9metrics",
      "/x/%A3%AE%A3%AE/metrics",
      "/x/.%E9./metrics", "/x/..%E9/metrics", "/x/%B7%B7/metrics", "/x/%B7/metrics", "/%ED%A0%80metrics",
      "/x/%E0N%AE/metrics", "//x/m%E9trics",
      // The spellings that were always read.
      "/%6Detrics", "/METRICS", "/Metrics/x", "/metrics;x", "/metrics%3Bx", "/metrics.", "/metrics%20/x",
      "/metrics:$DATA", "/metrics%3Fx", "/metrics%2Fx", "/x/..:y/metrics",
      // A segment that ASP.NET removes.
      "/(S(lit3py55t21z5v55vlm25s55))/metrics", "/(S(x))/METRICS/x", "/(A(a)S(b)F(c))/metrics", "/(S())/metrics",
      "/(s(x))/metrics", "/%28S%28x%29%29/metrics", "/(S(x))%2Fmetrics", "/(S(x))%5Cmetrics", "/(S(a;b))/metrics",
      "/(S(x))/metrics%2Fx", "/(S(x))//metrics",
      "/%2528S(x))/metrics", "/(S(x%2529)/metrics", "/(S(x))/%256Detrics", "//(S(x))/metrics", "//h/(S(x))/metrics",
      "/;a/(S(x))/metrics", "/(S(x));a/metrics", "/(S(a))/(S(b))/metrics",
      "/met/(S(x))rics", "/met%2F(S(x))rics/x", "/m/(S(x))%65trics", "/(S(x))metrics", "/%25/(S(x))6Detrics",
      "/x/(S(y))../metrics", "/x/(S(y))%2e./metrics", "/x%5C(S(y))../metrics", "/x/(S(y))..+/metrics",
      "/(S(/(S(x))y))/metrics",
      // A space of forms.
      "/metrics+", "/METRICS++/x", "/metrics%2B/x", "/metrics.+/x", "/metrics+:$DATA", "/metrics%252B", "/+/metrics",
      "/metrics%EF%BC%8B", "/x/..+/metrics", "/x/..%2B/metrics", "/x/%2e%2e+/metrics", "/x/..%252B/metrics",
    ])
  func restricted(path: String) throws {
    for table in try Self.tables(of: "/metrics") {
      let access = decide(path, table).access
      #expect(access == .deny || access == .rules([0]), "\(access)")
    }
  }

  @Test(
    "A path with control bytes or dot segments is refused",
    arguments: ["/metrics%00", "/x/..%2Fmetrics", "/x/%2e%2e/metrics", "/x/..;y/metrics", "//x/../metrics"])
  func refused(path: String) throws {
    for table in try Self.tables(of: "/metrics") { #expect(decide(path, table).access == .deny) }
  }

  @Test("A path with a segment that ASP.NET removes stays public where the path without it is public")
  func publicCookieless() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/public/", access: .public), RouteSettings(path: "/public/inner/", access: .deny),
    ])
    for path in ["/public/(S(x))/page", "/public/(S(x))/", "/public/(A(b)F(c))/a/b", "/public/a/(S(x))b"] {
      let decision = decide(path, table)
      #expect(decision.access == .public && decision.otherReading == .none, "\(path)")
    }
    // Ambiguous in another way as well, or public only without the segment, or only with it.
    for path in [
      "/public/(S(x))/a;b", "/public/(S(x;y))/a", "/public/(S(x))//a", "/public/(S(x))/caf%E9", "/public%2F(S(x))/a",
      "/(S(x))/public/a", "/public/(S(x))",
    ] {
      #expect(decide(path, table).access == .signedIn, "\(path)")
    }
    for path in [
      "/public/(S(x))/inner/a", "/public/in/(S(x))ner/a", "/public/(S(x))../a", "/public/(S(a))/(S(b))/c",
    ] {
      let decision = decide(path, table)
      #expect(decision.access == .deny && decision.otherReading == .stricterThanPublic, "\(path)")
    }
  }

  @Test("A path that may be anywhere without the segment that ASP.NET removes gets the default at least")
  func cookielessAnywhere() throws {
    let table = try RouteTable(routes: [RouteSettings(path: "/public/", access: .public)])
    for path in ["/public/(S(x))../a", "/public/(S(x))/(S(y))../a", "/public/(S(x))%2e%2e/a"] {
      #expect(decide(path, table).access == .signedIn, "\(path)")
    }
  }

  @Test("A route whose name has a space holds where a form writes it as a plus sign, and the other way round")
  func spaceOfForms() throws {
    for name in ["my%20files", "my+files", "my%2Bfiles"] {
      let table = try RouteTable(routes: [
        RouteSettings(path: "/", access: .public), RouteSettings(path: "/\(name)/", access: .deny),
      ])
      for path in ["/my%20files/x", "/my+files/x", "/My%2bFiles", "/my+files+/x"] {
        #expect(decide(path, table).access == .deny, "\(path) of \(name)")
      }
      for path in ["/myfiles/x", "/my+file/x", "/my++files/x"] {
        #expect(decide(path, table).access == .public, "\(path) of \(name)")
      }
    }
  }

  @Test("A folder's exact route holds where a segment follows that servers drop as a whole")
  func droppedSegment() throws {
    var folder = RouteSettings(path: "/a/", access: .deny)
    folder.match = .exact
    let table = try RouteTable(routes: [RouteSettings(path: "/", access: .public), folder])
    for path in ["/a/", "/a/%20", "/a/+", "/a//%20%20", "/A/+"] {
      #expect(decide(path, table).access == .deny, "\(path)")
    }
    for path in ["/a/b", "/a/+b", "/a/%20/b"] { #expect(decide(path, table).access == .public, "\(path)") }
  }

  @Test("A route for exactly a file holds for what follows its name, too, which scripts get as PATH_INFO")
  func pathInfo() throws {
    var script = RouteSettings(path: "/login.php", access: .deny)
    script.match = .exact
    let table = try RouteTable(routes: [RouteSettings(path: "/", access: .public), script])
    for path in [
      "/login.php", "/login.php/", "/login.php/x", "/login.php/x/y.css", "/LOGIN.PHP/x", "/login.php;a/x",
      "/login.php%2Fx", "//login.php/x", "/login.php%20/x", "/login%2Ephp/x",
    ] {
      #expect(decide(path, table).access == .deny, "\(path)")
    }
    #expect(decide("/login.php/x", table).otherReading == .stricterThanPublic)
    for path in ["/login.phpx", "/login.ph", "/login", "/x/login.php/y", "/login.php.bak/x"] {
      #expect(decide(path, table).access == .public, "\(path)")
    }
  }

  @Test("A route for what follows a file's name admits as it says, beside a stricter one for exactly the file")
  func statedPathInfo() throws {
    var script = RouteSettings(path: "/index.php", access: .deny)
    script.match = .exact
    var login = RouteSettings(path: "/index.php/login", access: .public)
    login.match = .exact
    let shares = RouteSettings(path: "/index.php/s/", access: .public)
    var images = RouteSettings(path: "/index.php/s/images/")
    images.upstream = "default"
    let open = RouteSettings(path: "/", access: .public)
    let table = try RouteTable(routes: [open, script, login, shares, images])
    for path in ["/index.php/login", "/index.php/s/", "/index.php/s/x", "/index.php/s/images/x"] {
      #expect(decide(path, table).access == .public && decide(path, table).otherReading == .none, "\(path)")
    }
    for path in [
      "/index.php", "/index.php/", "/index.php/x", "/index.php/login/x", "/index.php/S/x", "/INDEX.PHP/s/x",
      "/index.php;a/s/x", "/index.php/s%2Fx", "//index.php/s/x",
    ] {
      #expect(decide(path, table).access == .deny, "\(path)")
    }
    // A route that states no access for every method, or an exact one that states more, changes nothing.
    var some = shares
    some.methods = ["GET"]
    for route in [some, RouteSettings(path: "/index.php/s/")] {
      let table = try RouteTable(routes: [open, script, route])
      #expect(decide("/index.php/s/x", table).access == .deny, "\(route)")
    }
    script.access = .signedIn
    script.networks = [try #require(NetworkPrefix("10.0.0.0/8"))]
    let narrow = try RouteTable(routes: [open, script, shares])
    #expect(decide("/index.php/s/x", narrow).access == .signedIn)
  }

  @Test("A route for exactly a name without an extension, or a public one, changes nothing for what is below it")
  func noPathInfo() throws {
    for name in ["/login", "/.env", "/v1.0", "/login."] {
      var route = RouteSettings(path: name, access: .deny)
      route.match = .exact
      let table = try RouteTable(routes: [RouteSettings(path: "/", access: .public), route])
      #expect(decide(name, table).access == .deny && decide(name + "/x", table).access == .public, "\(name)")
    }
    var open = RouteSettings(path: "/index.php", access: .public)
    open.match = .exact
    let table = try RouteTable(routes: [open])
    #expect(decide("/index.php", table).access == .public && decide("/index.php/x", table).access == .signedIn)
  }

  @Test("A plus sign in a name stays public where no route is restricted that another reading reaches")
  func publicPlus() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/wiki/", access: .public), RouteSettings(path: "/wiki/C/private", access: .deny),
      RouteSettings(path: "/c", access: .deny),
    ])
    for path in ["/wiki/C++", "/wiki/C++/x", "/wiki/C%2B%2B", "/wiki/a+b", "/wiki/+", "/wiki/+.pdf"] {
      let decision = decide(path, table)
      #expect(decision.access == .public && decision.otherReading == .none, "\(path)")
    }
    for path in ["/wiki/C++/private", "/c++", "/C+/x"] { #expect(decide(path, table).access == .deny, "\(path)") }
  }

  @Test("Of two routes that differ by plus signs at the end, the one without them holds for both paths")
  func trailingPlus() throws {
    func table(_ plain: RouteSettings.Access, _ plus: RouteSettings.Access) throws -> RouteTable {
      try RouteTable(routes: [
        RouteSettings(path: "/wiki/C/", access: plain), RouteSettings(path: "/wiki/C++/", access: plus),
      ])
    }
    let paths = ["/wiki/C++/x", "/wiki/C%2B%2B/x", "/wiki/C++/"]
    let strict = try table(.deny, .public)
    #expect(decide("/wiki/C/x", strict).access == .deny)
    for path in paths { #expect(decide(path, strict).access == .deny, "\(path)") }
    let lax = try table(.public, .deny)
    #expect(decide("/wiki/C/x", lax).access == .public)
    for path in paths { #expect(decide(path, lax).access == .deny, "\(path)") }
    let both = try table(.public, .public)
    for path in ["/wiki/C++/x", "/wiki/C++/"] { #expect(decide(path, both).access == .public, "\(path)") }
    // Written with escapes it is another path for many servers, which only the route for "/" is for.
    #expect(decide("/wiki/C%2B%2B/x", both).access == .signedIn)
  }

  @Test("A route for exactly \"/\" holds for an authority without a path")
  func exactRoot() throws {
    var route = RouteSettings(path: "/", access: .deny)
    route.match = .exact
    let table = try RouteTable(routes: [route])
    for path in ["//", "//x", "//x/", "/%2Fx"] { #expect(decide(path, table).access == .deny, "\(path)") }
    #expect(decide("//x/y", table).access == .signedIn)
  }

  @Test("An ambiguous path is not public, and the decision says that another reading made it stricter")
  func reason() throws {
    let table = try RouteTable(routes: [
      RouteSettings(path: "/", access: .public), RouteSettings(path: "/metrics", access: .deny),
    ])
    for path in ["/x;y", "//x", "/x%252Fy", "/caf%E9", "/METRICS", "/x/%252e%252e/y"] {
      let decision = decide(path, table)
      #expect(decision.access != .public && decision.otherReading == .stricterThanPublic, "\(path)")
    }
    for path in ["/metrics", "/x", "/x%E2%80%A6", "/metrics/%EF%BC%85"] {
      #expect(decide(path, table).otherReading == .none, "\(path)")
    }
    let restricted = try RouteTable(routes: [RouteSettings(path: "/metrics", access: .deny)])
    let denied = decide("/x/%252e%252e/y", restricted)
    #expect(denied.otherReading == .stricter)
    #expect(decide("/x%252Fy", restricted).otherReading == .none)
  }

  @Test("A path has few further readings, each no longer than itself")
  func readings() {
    var random = SeededNumbers(seed: 5)
    for _ in 0..<2_000 {
      let path = Array(Self.path(&random).utf8)
      let readings = PathReadings(of: path.span)
      #expect(readings.paths.count <= PathReadings.limit)
      #expect(readings.paths.allSatisfy { $0.path.count <= path.count })
    }
  }

  @Test("No path that a lenient server reads as one below a restricted route is open", arguments: 0..<8)
  func property(seed: UInt64) throws {
    var random = SeededNumbers(seed: 300 + seed)
    let routes = ["/metrics", "/x/metrics/", "/m", "/x/y"]
    let tables = try routes.map { route in
      (
        place: Array(route.split(separator: "/").joined(separator: "/").utf8),
        tables: try Self.tables(of: route, root: .public)
      )
    }
    var compared = 0
    for _ in 0..<250 {
      let path = Self.path(&random)
      let bytes = Array(path.utf8)
      if case .refused = PathClassification.classify(bytes.span) { continue }
      var readings: [(LenientServer, ArraySlice<UInt8>)] = []
      for (place, tables) in tables {
        let open = tables.filter { table in
          switch decide(path, table).access {
          case .public, .signedIn: true
          case .rules, .signOut, .deny: false
          }
        }
        guard !open.isEmpty else { continue }
        compared += 1
        if readings.isEmpty { readings = LenientServer.all.map { ($0, $0.reading(of: bytes).dropFirst()) } }
        for (server, found) in readings {
          guard found.starts(with: place), found.count == place.count || found[found.startIndex + place.count] == 0x2F
          else { continue }
          Issue.record("\(path) is open, and \(server) reads \(String(decoding: found, as: UTF8.self))")
          return
        }
      }
    }
    #expect(compared > 200)
  }

  /// A path of a few words and of what servers read in different ways.
  private static func path(_ random: inout SeededNumbers) -> String {
    var path = "/"
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      path += (Int.random(in: 0..<2, using: &random) == 0 ? words : signs).randomElement(using: &random) ?? ""
    }
    return path
  }

  private static let words = [
    "metrics", "METRICS", "m", "etrics", "met", "rics", "x", "x/y", "x/metrics", "/metrics", "/", "/", "y", "host",
  ]
  private static let signs = [
    "/", "//", "%2F", "%2f", "%5C", "%252F", "%255C", "%25252F", ";", ";a", "%3B", "%253B", ".", "..", "%2E", "%252e",
    "%EF%BC%8E", "\u{FF0E}", "%E2%80%A5", "%E2%80%A6", "%25EF%25BC%258E", "%EF%BC%85", "%25", "2e", "2F", "6D",
    "%25%36D", "%25u002e", "%C0%AE", "%C0%AF", "%25C0%25AF", "%E9", "%FC", "%A3%AE", "%DF", "%E0", "%C3%A9", "%20",
    "%2520", "%3F", "%253F", "%23", ":", ":$DATA", "%6D", "%6d", "%256D", "%EF%BD%8D", "%F0%9D%93%B6", "%EF%BC%8F",
    "%EF%BC%9B", "%C2%A0", "\u{2026}", "%B7", "%25E9", "%25ab", "@", "%40",
    "+", "+", "%2B", "%252B", "%EF%BC%8B", "/(S(x))", "/(S(x))", "/(A(b)F(c))/", "(S(", "))", "%28S(", "/%28s(x%29)",
    ";%2F", ";%5C", ";a%3F", "%E2%84%85", "%CD%BE", "%EF%BC%9A", "%EF%BC%9F", "%E3%80%80", "%EF%BC%BC", "%252e%252e",
  ]

  /// Tables in which a route is denied, and in which it is for one user.
  private static func tables(of route: String, root: RouteSettings.Access? = nil) throws -> [RouteTable] {
    var lists = AccessLists()
    lists.subjects = ["boss"]
    return try [RouteSettings.Access.deny, .lists(lists)].map { access in
      try RouteTable(
        routes: [RouteSettings(path: route, access: access)]
          + (root.map { [RouteSettings(path: "/", access: $0)] } ?? [])
      )
    }
  }

  private func decide(_ path: String, _ table: RouteTable) -> RouteDecision {
    let bytes = Array(path.utf8)
    return table.match(bytes.span, .classify(bytes.span))
  }
}
