import Foundation
import TemporaryDirectoryTesting
import Testing

// Who may pass: `[access]`, and what routes inherit.
//
// - A route that states only path, unauthenticated or upstream opens nothing; a list of its own decides alone.
// - Conditions add up, and do not concern public routes; `match = "exact"` holds for one path.
// - `verify` and a reload hold to it. A text that is not exactly one address is named by no list.
// - Another reading of a path has to be admitted, too: other case, full-width letters.
// - A request that acts on a folder has to be admitted by the routes below it, as far as its Depth reaches.

@SystemActor
@Suite("Inherited access", .serialized)
struct AccessTests {
  private static let reports = try? RawUpstream { _, connection in
    try connection.send(RawUpstream.response(body: "reports", length: 7))
  }

  /// A gateway whose list names Anna, and routes beneath it.
  private static func site(_ routes: String, access: [String: String?] = [:]) throws -> Site {
    let reports = try #require(Self.reports)
    return try Site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.0/8\"]"
      $0["access", "allow_emails"] = "[\"anna.bergstrom@example.com\"]"
      for (key, value) in access { $0["access", key] = value }
      $0.ending = "[[upstreams]]\nname = \"reports\"\nurl = \"http://127.0.0.1:\(reports.port)\"\n" + routes
    })
  }

  private func status(_ visitor: Visitor, _ site: Site, _ path: String) throws -> Int {
    try visitor.fetch(site.origin + path).status
  }

  @Test("A route that states only unauthenticated or upstream opens nothing of what [access] keeps")
  func holeByUnauthenticated() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/api/"
      unauthenticated = "401"
      [[route]]
      path = "/reports/"
      upstream = "reports"
      [[route]]
      path = "/reports/own/"
      upstream = "default"
      [[route]]
      path = "/ben/"
      allow_emails = ["ben@example.org"]
      [[route]]
      path = "/both/"
      access = "signed-in"
      [[route]]
      path = "/open/"
      access = "public"
      """)
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    for path in ["/x", "/api/x", "/reports/x", "/reports/own/x"] {
      #expect(try status(anna, site, path) == 200, "\(path)")
      #expect(try status(ben, site, path) == 403, "\(path)")
      for (visitor, status) in [(anna, 200), (ben, 403)] {
        let verified = try visitor.fetch(site.own("verify"), fields: [("X-Original-URI", path)])
        #expect(verified.status == status, "verify of \(path)")
      }
    }
    #expect(try status(ben, site, "/ben/x") == 200 && status(anna, site, "/ben/x") == 403)
    #expect(try status(ben, site, "/both/x") == 200 && status(anna, site, "/both/x") == 200)
    #expect(try site.gateway.client.get("/open/x").status == 200)
    #expect(try anna.fetch(site.origin + "/reports/x").text == "reports")
    #expect(try anna.fetch(site.origin + "/reports/own/x").text != "reports")
    #expect(try site.gateway.client.get("/api/x", fields: [("Sec-Fetch-Mode", "navigate")]).status == 401)
  }

  @Test("A denied address is refused whatever list names it, and a route holds for its methods only")
  func deniedAndMethods() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/ben/"
      allow_emails = ["ben@example.org"]
      [[route]]
      path = "/all/"
      access = "signed-in"
      [[route]]
      path = "/open/"
      access = "public"
      [[route]]
      path = "/reports/"
      methods = ["GET"]
      access = "signed-in"
      upstream = "reports"
      [[route]]
      path = "/reports/"
      access = "deny"
      """, access: ["deny_emails": "[\"Ben@Example.ORG\"]"])
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    for path in ["/x", "/ben/x", "/all/x"] { #expect(try status(ben, site, path) == 403, "\(path)") }
    #expect(try status(ben, site, "/open/x") == 200)
    #expect(try status(anna, site, "/all/x") == 200 && status(anna, site, "/ben/x") == 403)
    let reports = site.origin + "/reports/x"
    #expect(try anna.fetch(reports).text == "reports")
    for (method, status) in [("POST", 403), ("get", 501), ("PURGE", 403)] {
      #expect(try anna.fetch(reports, method: method).status == status, "\(method)")
    }
  }

  @Test("The same beneath the list of a route for /")
  func holeBeneathRoot() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/"
      allow_emails = ["ben@example.org"]
      [[route]]
      path = "/api/"
      unauthenticated = "401"
      [[route]]
      path = "/reports/"
      upstream = "reports"
      """)
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    for path in ["/x", "/api/x", "/reports/x"] {
      #expect(try status(ben, site, path) == 200, "\(path)")
      #expect(try status(anna, site, path) == 403, "\(path)")
    }
  }

  @Test("Conditions add up and concern no public route; an exact route holds for one path")
  func conditions() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/"
      match = "exact"
      access = "public"
      [[route]]
      path = "/verified/"
      require_claims = ["email_verified=true"]
      [[route]]
      path = "/everybody/"
      access = "signed-in"
      """, access: ["allow_emails": nil, "private_email": "\"deny\""])
    defer { site.stop() }
    try site.apple.add(user: ["id": "hans", "first_name": "H", "last_name": "S", "email": "hans@example.com"])
    let (anna, hans) = (try site.signedIn(as: "anna"), Visitor())
    try hans.signIn(site, as: "hans", hideEmail: true)
    for path in ["/x", "/verified/x", "/everybody/x"] {
      #expect(try status(anna, site, path) == 200, "\(path)")
      #expect(try status(hans, site, path) == 403, "\(path)")
    }
    #expect(try status(hans, site, "/") == 200)
    #expect(try site.gateway.client.get("/").status == 200)
    #expect(try site.gateway.client.get("/x").status == 401)
  }

  @Test("A reload of [access] holds from the next request on")
  func reload() throws {
    let site = try Self.site("[[route]]\npath = \"/api/\"\nunauthenticated = \"401\"\n")
    defer { site.stop() }
    let ben = try site.signedIn(as: "ben")
    #expect(try status(ben, site, "/api/x") == 403)
    var configuration = site.gateway.configuration
    // A stranger's sign-in left no refresh token: once admitted, it is repeated.
    for (list, expected) in [("[\"ben@example.org\"]", 401), ("[\"anna.bergstrom@example.com\"]", 403)] {
      configuration["access", "allow_emails"] = list
      _ = try configuration.install(in: site.gateway.directory)
      site.gateway.process.signal(SIGHUP)
      try poll("the reload") { try status(ben, site, "/api/x") == expected ? () : nil }
      guard expected == 401 else { continue }
      try ben.signIn(site, as: "ben")
      #expect(try status(ben, site, "/api/x") == 200)
    }
  }

  @Test(
    "A text that is not exactly one address is named by no list",
    arguments: [
      "a@evil.example,anna@example.com", "a@evil.example;b@example.com", "a@evil.example b@example.com",
      "a@@example.com", "a@evil.example#@example.com", "\"a@evil.example\"@example.com",
    ])
  func severalAddresses(email: String) throws {
    let site = try Self.site("", access: ["allow_email_domains": "[\"example.com\"]"])
    defer { site.stop() }
    try site.apple.add(user: [
      "id": "mallory", "first_name": "M", "last_name": "L", "email": "m@example.com",
      "claims": ["email": email, "email_verified": true] as [String: Any],
    ])
    let mallory = try site.signedIn(as: "mallory")
    #expect(try status(mallory, site, "/x") == 403)
    #expect(try status(try site.signedIn(as: "anna"), site, "/x") == 200)
  }

  @Test("Another reading of a path has to be admitted, too, also in full-width letters")
  func otherReadings() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/"
      access = "public"
      [[route]]
      path = "/admin"
      access = "deny"
      [[route]]
      path = "/one/"
      allow_emails = ["anna.bergstrom@example.com", "ben@example.org"]
      [[route]]
      path = "/one/two/"
      allow_emails = ["anna.bergstrom@example.com"]
      """)
    defer { site.stop() }
    for path in [
      "/%ef%bd%81dmin", "/%EF%BC%A1%EF%BC%A4min/x", "/%F0%9D%93%AAdmin", "/%E2%92%B6dmin", "/ADMIN", "/admin%EF%BC%9Bx",
    ] {
      #expect(try site.gateway.client.get(path).status == 403, "\(path)")
    }
    #expect(try site.gateway.client.get("/%E4%BB%80%E4%B9%88%EF%BC%88x%EF%BC%89").status == 200, "signs in a title")
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    for path in ["/one/TWO/x", "/ONE/two/x"] {
      #expect(try status(anna, site, path) == 200, "both lists name her: \(path)")
      #expect(try status(ben, site, path) == 403, "\(path)")
    }
    #expect(try status(ben, site, "/one/x") == 200)
  }

  @Test("A folder is deleted, copied and listed by users whom the routes below it admit, as far as Depth reaches")
  func folders() throws {
    let site = try Self.site(
      """
      [[route]]
      path = "/dav/"
      access = "signed-in"
      [[route]]
      path = "/dav/board/"
      allow_emails = ["ben@example.org"]
      """)
    defer { site.stop() }
    let (anna, ben) = (try site.signedIn(as: "anna"), try site.signedIn(as: "ben"))
    func status(
      _ visitor: Visitor, _ method: String, _ path: String, _ fields: [(String, String)] = []
    ) throws -> Int {
      try visitor.fetch(site.origin + path, method: method, fields: fields).status
    }
    for method in ["DELETE", "MOVE", "COPY", "PROPFIND"] {
      for path in ["/dav/", "/dav", "/DAV/"] {
        #expect(try status(anna, method, path) == 403, "\(method) \(path)")
      }
      #expect(try status(ben, method, "/dav/") == 200, "\(method)")
      #expect(try status(anna, method, "/dav/own/") == 200, "\(method)")
    }
    for method in ["GET", "PUT", "PROPPATCH"] { #expect(try status(anna, method, "/dav/") == 200, "\(method)") }
    for (depth, expected) in [("0", 200), ("1", 200), ("infinity", 403), ("0, 0", 403)] {
      #expect(try status(anna, "PROPFIND", "/dav/", [("Depth", depth)]) == expected, "\(depth)")
    }
    #expect(try status(anna, "PROPFIND", "/dav/board/", [("Depth", "1")]) == 403)
    for (destination, expected) in [("/dav/own/b", 200), ("/dav/", 403), ("/dav/board", 403)] {
      let fields = [("Depth", "0"), ("Destination", site.origin + destination)]
      #expect(try status(anna, "COPY", "/dav/own/a", fields) == expected, "\(destination)")
    }
    // What reaches the application keeps its Depth, and names no other method.
    #expect(try status(anna, "POST", "/dav/", [("X-HTTP-Method-Override", "DELETE"), ("Depth", "0")]) == 200)
    let received = try #require(site.upstream.requests.last)
    #expect(received.fields["X-HTTP-Method-Override"] == nil && received.fields["Depth"] == "0")
  }
}
