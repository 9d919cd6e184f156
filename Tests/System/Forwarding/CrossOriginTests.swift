import Foundation
import Testing

// Response headers of the configuration, and CORS preflights.

@SystemActor
@Suite("Response headers and preflights")
struct CrossOriginTests {
  private static let headersForCaches = ["CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "Surrogate-Control"]

  private static func site() throws -> Site {
    try Site(
      upstream: { request, connection in
        let own = request.target == "/own" ? "X-Frame-Options: SAMEORIGIN\r\n" : ""
        let body = request.headText
        try connection.send("HTTP/1.1 200 OK\r\n\(own)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      },
      adjust: {
        $0.acceptHTTP2()
        $0["headers", "Strict-Transport-Security"] = "\"max-age=31536000\""
        $0["headers", "X-Frame-Options"] = "\"DENY\""
        for name in Self.headersForCaches { $0["headers", name] = "\"max-age=600\"" }
        $0.ending = """
          [[route]]
          path = "/own"
          access = "public"
          [[route]]
          path = "/api/"
          preflight = "pass"

          """
      })
  }

  @Test("Configured response headers are on every response; what the application sets stays, caches keep no page")
  func headers() throws {
    let site = try Self.site()
    defer { site.stop() }
    let client = site.gateway.client
    for (target, status) in [("/own", 200), ("/x", 401), ("/.auth/sign-in", 200), ("/.auth/nothing", 404)] {
      let response = try client.get(target)
      #expect(response.status == status, "\(target)")
      #expect(response.fields[all: "Strict-Transport-Security"] == ["max-age=31536000"], "\(target)")
      #expect(response.fields[all: "X-Frame-Options"] == [target == "/own" ? "SAMEORIGIN" : "DENY"], "\(target)")
      for name in Self.headersForCaches {
        #expect(response.fields[all: name] == (target == "/own" ? ["max-age=600"] : []), "\(target)")
      }
    }
    let redirect = try client.get("/x", fields: [("Accept", "text/html")])
    #expect(redirect.status == 302 && redirect.fields["X-Frame-Options"] == "DENY")
    #expect(redirect.fields[all: "X-Robots-Tag"] == ["noindex, nofollow"], "crawlers begin no sign-in")
    let run = try ServerProcess.run(
      "/usr/bin/python3",
      [
        Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path,
        "\(site.gateway.configuration.port)", "get", "/own",
      ])
    #expect(run.exit == .code(0) && run.standardOutput.contains("max-age=31536000"), "\(run)")
  }

  @Test("A redirecting listener answers every request with 308 to the same path at public_url, and asks nobody")
  func redirectingListener() throws {
    let port = try FreePort.take()
    let site = try Site(adjust: {
      $0["headers", "X-Frame-Options"] = "\"DENY\""
      $0.ending = Self.redirectingListener(port)
    })
    defer { site.stop() }
    var client = HTTPClient(port: port)
    client.authority = "anything.example"
    for (method, target) in [("GET", "/a/b?c=d&e"), ("POST", "/.auth/callback"), ("HEAD", "//evil.example/x")] {
      let response = try client.send(method, target, body: method == "POST" ? [1, 2, 3] : nil)
      #expect(response.status == 308 && response.location == site.origin + target, "\(target)")
      #expect(response.fields["X-Frame-Options"] == "DENY")
      #expect(response.fields["Cache-Control"] == "no-store")
    }
    #expect(site.upstream.requests.isEmpty)
    #expect(try site.gateway.client.get("/x").status == 401, "the main listener serves as ever")
  }

  private static func redirectingListener(_ port: UInt16) -> String {
    "[[listener]]\nname = \"plain\"\naddress = \"127.0.0.1:\(port)\"\nredirect = true\n"
  }

  @Test("A redirecting listener leads to the host that is asked for, on any port, and to public_url from other hosts")
  func redirectToHost() throws {
    let port = try FreePort.take()
    let site = try Site(adjust: {
      $0.ending = Self.redirectingListener(port)
      try? $0.addHosts(["wiki", "tickets"])
    })
    defer { site.stop() }
    for (authority, origin) in [
      ("wiki.localhost", site.origin(of: "wiki")), ("WIKI.localhost:80", site.origin(of: "wiki")),
      ("tickets.localhost:\(port)", site.origin(of: "tickets")), ("localhost", site.origin),
      ("evil.wiki.localhost", site.origin), ("wiki.localhost.evil.example", site.origin),
      ("localhost:\(port)", site.origin),
    ] {
      let response = try HTTPClient(port: port, authority: authority).get("/page?y=1")
      #expect(response.status == 308 && response.location == origin + "/page?y=1", "\(authority)")
    }
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("A CORS preflight reaches the application without an identity and without a method override")
  func preflight() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let fields = [
      ("Origin", "https://other.example"), ("Access-Control-Request-Method", "PUT"), ("Cookie", cookie),
      ("X-HTTP-Method-Override", "DELETE"), ("Authorization", "Basic eDp5"),
    ]
    let client = site.gateway.client
    let passed = try client.send("OPTIONS", "/api/x", fields: fields)
    #expect(passed.status == 200 && passed.text.hasPrefix("OPTIONS /api/x"), "\(passed)")
    #expect(!passed.text.contains("X-Forwarded-User") && !passed.text.contains("Override"), "\(passed.text)")
    #expect(!passed.text.contains("Cookie") && !passed.text.contains("Authorization"), "\(passed.text)")
    #expect(try client.send("OPTIONS", "/x", fields: Array(fields.prefix(2))).status == 401)
    #expect(try client.send("PUT", "/api/x", fields: Array(fields.prefix(1)), body: []).status == 401)
  }
}
