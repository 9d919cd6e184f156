import Foundation
import Testing

// Paths: what is matched is what is forwarded, byte for byte, or the request is refused.
//
// - The longest canonical prefix wins; a deny rule holds for everybody; a 401 route never redirects.
// - A path that servers read in more than one way never gets a laxer rule: not from a public route, not past a denied
//   one.
// - What no honest client sends is refused, and not one byte of it goes upstream.

@SystemActor
@Suite(
  "Paths", .serialized,
  .site(
    ending: """
      [[route]]
      path = "/public/"
      access = "public"
      [[route]]
      path = "/public/inner/"
      access = "signed-in"
      [[route]]
      path = "/admin"
      access = "deny"
      [[route]]
      path = "/api/"
      unauthenticated = "401"
      """))
struct PathTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  /// Sends exactly these bytes as the target, and answers the status; nil if the connection was closed without one.
  private func status(of target: [UInt8], cookie: String? = nil) throws -> Int? {
    let connection = try site.gateway.connect()
    let fields = ["Host: \(site.gateway.client.authority)"] + (cookie.map { ["Cookie: \($0)"] } ?? [])
    try connection.send(
      Array("GET ".utf8) + target + Array(" HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8))
    return try? HTTPResponse.read(from: connection).status
  }

  // MARK: Routes

  @Test("A public route is open to everybody, and only below its own path")
  func publicRoute() throws {
    #expect(try status(of: Array("/public/a".utf8)) == 200)
    #expect(try status(of: Array("/public/".utf8)) == 200)
    site.upstream.forget()
    for path in ["/publicity", "/public", "/", "/other", "/public/inner/a", "/PUBLIC/a"] {
      #expect(try status(of: Array(path.utf8)) == 401, "\(path)")
    }
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A denied route is closed to everybody")
  func deniedRoute() throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    site.upstream.forget()
    for path in ["/admin", "/admin/", "/admin/users?x=1"] {
      #expect(try status(of: Array(path.utf8), cookie: cookie) == 403, "\(path)")
      #expect(try status(of: Array(path.utf8)) == 403, "\(path)")
    }
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A 401 route answers a navigation with 401, not with a redirect")
  func apiRoute() throws {
    let response = try site.gateway.client.get("/api/things", fields: [("Sec-Fetch-Mode", "navigate")])
    #expect(response.status == 401)
    #expect(response.location == nil)
  }

  // MARK: Two readings

  /// Targets that some server reads as a path below `/admin` or the root.
  private nonisolated static let climbing = [
    "/public/../admin", "/public/../private", "/public/%2e%2e/private", "/public/%2E%2E/private",
    "/public/.%2e/private",
    "/public/..%2fprivate", "/public/..%2Fprivate", "/public/%2e%2e%2fprivate", "/public/..;/private",
    "/public/..;a=b/private", "/public/;/../private", "/public/..\\private", "/public\\..\\private",
    "/public/..%5cprivate",
    "/public/%5c../private", "/public/./../private", "/public/x/../../private", "/public//../private",
    "/public/%252e%252e/private", "/public/%252e%252e%252fprivate", "/public/..%252fprivate",
    "/public/%c0%ae%c0%ae/private",
    "/public/%c0%af../private", "/public/%u002e%u002e/private", "/public/..%00/private", "/public/..%0d%0a/private",
    "/public/\u{FF0E}\u{FF0E}/private", "/public/%ef%bc%8e%ef%bc%8e/private", "/public/.../private",
    "/public/.. /private",
    "/public/..%20/private", "/public/%2e%2e", "/public/..", "/public/..?/x", "/public/../", "/./private", "//private",
    "/%2fprivate", "/public;/../private", "/public/%23/../private", "/public/inner%2fa", "/public//inner/a",
    "/public/./inner/a", "/public/%69nner/a", "/public/inner;x/a", "/public/x/..%2finner/a",
  ]

  @Test("No path climbs out of a public route", arguments: climbing)
  func climbingOut(target: String) throws {
    try site.surviving {
      let status = try status(of: Array(target.utf8))
      #expect([nil, 302, 400, 401, 403].contains(status), "\(target)")
      #expect(site.upstream.requests.isEmpty, "\(target)")
    }
  }

  /// Targets that some server reads as `/admin`.
  private nonisolated static let aroundDeny = [
    "/%61dmin", "/%61%64%6d%69%6e/x", "/a%64min/", "//admin", "///admin/x", "/./admin", "/x/../admin",
    "/x/%2e%2e/admin",
    "/public/../admin/x", "/public/%2e%2e/admin", "/admin;x/y", "/admin;", "/;/admin", "/;x=1/admin", "/%2fadmin",
    "/admin%2fx", "/admin%2Fx", "/\\admin", "/x\\..\\admin", "/admin\\x", "/%252561dmin", "/%2561dmin", "/admin%00",
    "/admin%3fx",
    "/admin%23x", "/admin%20", "/admin.", "/admin./x", "/ADMIN/x", "/Admin", "/admin%2e", "/\u{FF41}dmin",
    "/public/..;/admin",
    "//x/admin", "/admin%09", "/admin%c0%af", "http://\u{0}/admin",
  ]

  @Test("No path leads a signed-in user around a denied route", arguments: aroundDeny)
  func aroundTheDenied(target: String) throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    site.upstream.forget()
    try site.surviving {
      let status = try status(of: Array(target.utf8), cookie: cookie)
      #expect([nil, 400, 403, 404, 421].contains(status), "\(target)")
      #expect(site.upstream.requests.isEmpty, "\(target)")
    }
  }

  @Test(
    "A denied route elsewhere does not close the ordinary addresses of applications",
    arguments: [
      "/job/app/job/feature%252Flogin/", "/wiki/To_be_continued%E2%80%A6", "/x/50%25ab", "/files/100%2520report.pdf",
      "//wiki/Home", "/caf%E9", "/wiki/%EF%BC%85", "/a%2Fb", "/x;a=b%2Fc/y",
    ])
  func ordinary(target: String) throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    #expect(try status(of: Array(target.utf8), cookie: cookie) == 200)
  }

  // MARK: Refused for everybody

  private nonisolated static let refused: [[UInt8]] = [
    Array("/a%00b".utf8), Array("/a%0d%0ab".utf8), Array("/a%".utf8), Array("/a%2".utf8), Array("/a%zz".utf8),
    Array("/a#b".utf8), Array("/a\\b".utf8), Array("a".utf8), Array("".utf8), Array("*".utf8), Array("/a/../b".utf8),
    Array("/a\u{0}b".utf8), Array("/a\u{7F}b".utf8), Array("/a b".utf8), Array("/a\tb".utf8), Array("/a\rb".utf8),
    Array("http://localhost:1/x".utf8), Array("http://evil.example/x".utf8), Array("ftp://localhost/x".utf8),
    Array("localhost:80".utf8),
  ]

  @Test("Paths that no honest client sends are refused also of a signed-in user", arguments: refused.indices)
  func refusedTargets(index: Int) throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    site.upstream.forget()
    try site.surviving {
      let status = try status(of: Self.refused[index], cookie: cookie)
      #expect([nil, 400, 421].contains(status))
      #expect(site.upstream.requests.isEmpty)
    }
  }

  @Test(
    "An odd path with a single reading arrives byte for byte from a signed-in user",
    arguments: [
      "/a%20b", "/%E5%8D%83", "/a%40b", "/a+b", "/a:b", "/a@b", "/a,b", "/a'b", "/a(b)", "/a!$&*=b", "/~a", "/a%2Bb",
      "/a?b=../c", "/a?b=%00", "/a?b=//c;d\\e", "/a?%", "/a?b?c", "/a.b", "/.well-known/x", "/a..b", "/..a",
    ])
  func odd(target: String) throws {
    let anna = try site.signedIn()
    site.upstream.forget()
    let status = try status(of: Array(target.utf8), cookie: anna.cookieHeader(for: site.origin + "/"))
    #expect(status == 200)
    #expect(site.upstream.requests.map(\.target) == [target])
  }

  @Test("A target or a head that is too long is refused")
  func tooLong() throws {
    try site.surviving {
      #expect(try status(of: Array("/public/".utf8) + [UInt8](repeating: 0x61, count: 10_000)) == 414)
      let connection = try site.gateway.connect()
      let field = "X-Long: \(String(repeating: "a", count: 40_000))"
      try? connection.send("GET /public/ HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\(field)\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == 431)
      let many = (0..<200).map { "X-\($0): 1" }.joined(separator: "\r\n")
      let other = try site.gateway.connect()
      try? other.send("GET /public/ HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\(many)\r\n\r\n")
      #expect(try HTTPResponse.read(from: other).status == 431)
      #expect(site.upstream.requests.isEmpty)
    }
  }

  @Test(
    "Nobody guesses our own pages' paths into the application",
    arguments: [
      "/.auth/nothing", "/.auth/", "/.auth", "/.auth/session/", "/.auth//session", "/.auth/../x", "/.auth/%73ession",
      "/.AUTH/session", "/.auth;x/session",
    ])
  func gatewayPaths(target: String) throws {
    let status = try status(of: Array(target.utf8))
    #expect(status != 200)
    #expect(site.upstream.requests.isEmpty)
  }
}
