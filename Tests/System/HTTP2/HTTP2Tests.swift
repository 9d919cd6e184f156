import Foundation
import TemporaryDirectoryTesting
import Testing

// HTTP/2 from outside, by a client that shares no code with the gateway (client.py, on Python's h2).
//
// - A signed-in request carries the same identity as over HTTP/1.1; cookie crumbs are one line without ours.
// - Many requests at once are answered each with its own; bodies and trailers pass.
//
// Sections of RFC 9113 and hostile frames: Tests/HTTPWireTests/HTTP2, without sockets.

@SystemActor
@Suite("HTTP/2", .serialized, .http2Site)
struct HTTP2Tests {
  private let site: Site
  private var client: HTTP2Client { HTTP2Client(site.gateway) }

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  @Test("A signed-in request brings its identity, and the crumbs of its cookies as one line without ours")
  func identity() throws {
    let anna = try site.signedIn()
    let answer: HTTP2Client.Answer = try client.run(
      "get", "/hours?week=3", "cookie:a=1", "cookie:\(try site.cookie(of: anna))", "cookie:b=2",
      "x-forwarded-user:somebody else")
    #expect(answer.status == "200")
    let seen = try site.upstream.waitForRequest { $0.target == "/hours?week=3" }
    #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "anna")])
    #expect(seen.fields[all: "Cookie"] == ["a=1; b=2"])
    #expect(seen.fields[all: "Host"] == [site.gateway.client.authority])
  }

  @Test("Neither another spelling of what frames a message nor a stranger's address arrives; every response has a Date")
  func strangersNames() throws {
    let answer: HTTP2Client.Answer = try client.run(
      "get", "/public/names", "transfer_encoding:chunked", "content_length:3", "client-ip:203.0.113.66",
      "true-client-ip:203.0.113.66", "x_client_ip:203.0.113.66")
    #expect(answer.status == "200" && answer.fields.count { $0[0] == "date" } == 1)
    let seen = try site.upstream.waitForRequest { $0.target == "/public/names" }
    for text in ["203.0.113.66", "transfer", "content_length"] { #expect(!seen.headText.lowercased().contains(text)) }
    let own: HTTP2Client.Answer = try client.run("get", "/.auth/session")
    #expect(own.status == "401" && own.fields.count { $0[0] == "date" } == 1)
    let posted: HTTP2Client.Answer = try client.run("post", "/public/echo", "5", "x-fine:1", "content-length:0005")
    #expect(posted.status == "200")
    #expect(try site.upstream.waitForRequest { $0.target == "/public/echo" }.fields[all: "Content-Length"] == ["5"])
  }

  @Test("A bearer token works like the cookie and is never forwarded; both are renewed by the new secret, once")
  func bearerAndRenewal() throws {
    let site = try Site(
      upstream: { _, connection in
        try connection.send(RawUpstream.response(fields: ["Cache-Control: private"], body: "seen"))
      },
      adjust: {
        $0.acceptHTTP2()
        $0["native", "bearer"] = "true"
        $0["apple", "native_client_ids"] = "[\"com.example.app\"]"
      })
    defer { site.stop() }
    let client = HTTP2Client(site.gateway)
    let anna = try site.signedIn()
    let signedIn = try site.apple.authorizeNatively("ben", app: "com.example.app", nonce: "n")
    let answer = try site.gateway.client.post(
      "/.auth/native",
      json: ["identity_token": signedIn.identityToken, "authorization_code": signedIn.code, "nonce": "n"])
    let token = try #require(try answer.json()["session_token"] as? String)

    let seen: HTTP2Client.Answer = try client.run("get", "/with-token", "authorization:Bearer \(token)")
    #expect(seen.status == "200" && !seen.fields.contains { $0[0] == "set-cookie" })
    let request = try site.upstream.waitForRequest { $0.target == "/with-token" }
    #expect(request.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "ben")])
    #expect(request.fields["Authorization"] == nil)

    try site.gateway.directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var both = site.gateway.configuration
    both["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: both)
    let old = try #require(anna.jar["__Host-cordon"])
    let renewed: HTTP2Client.Answer = try client.run("get", "/with-cookie", "cookie:__Host-cordon=\(old)")
    let line = try #require(renewed.fields.first { $0[0] == "set-cookie" }?[1])
    #expect(renewed.status == "200" && line.hasPrefix("__Host-cordon=") && !line.contains(old))
    #expect(line.contains("HttpOnly") && line.contains("Secure") && line.contains("SameSite=Lax"))
    let cookie = String(line.prefix { $0 != ";" })
    let again: HTTP2Client.Answer = try client.run("get", "/again", "cookie:\(cookie)")
    #expect(again.status == "200" && !again.fields.contains { $0[0] == "set-cookie" })

    let told: HTTP2Client.Answer = try client.run("get", "/.auth/session", "authorization:Bearer \(token)")
    let json = try JSONSerialization.jsonObject(with: Data(told.body.utf8)) as? [String: Any]
    let newToken = try #require(json?["session_token"] as? String)
    #expect(newToken != token && !told.fields.contains { $0[0] == "set-cookie" })
    let last: HTTP2Client.Answer = try client.run("get", "/.auth/session", "authorization:Bearer \(newToken)")
    #expect(last.status == "200" && !last.body.contains("session_token"))
  }

  @Test("Identity fields of a client never arrive, in any spelling, as a field or as a trailer")
  func impostor() throws {
    let anna = try site.signedIn()
    let cookie = "cookie:\(try site.cookie(of: anna))"
    let names = [
      "x-forwarded-user", "x_forwarded_user", "x.forwarded.user", "x-forwarded_email", "x-identity-assertion",
      "x-forwarded-for", "x-real-ip", "forwarded", "x-original-url", "x_rewrite_url", "proxy", "x-request-id",
    ]
    let lies = names.map { "\($0):mallory" }
    for (target, cookies) in [("/lies", [cookie]), ("/public/lies", [])] {
      let arguments = ["get", target] + lies + cookies
      let process = try client.start(arguments)
      defer { process.stop() }
      #expect(try process.waitForExit() == .code(0))
      let seen = try site.upstream.waitForRequest { $0.target == target }
      #expect(!seen.headText.contains("mallory"), "\(seen.headText)")
      #expect(seen.fields.contains("X-Forwarded-User") == !cookies.isEmpty)
    }
    var passed: [String] = []
    for name in names + ["cookie", "set-cookie", "content-length", "host", "authorization", "te"] {
      site.upstream.forget()
      let answer: HTTP2Client.Answer = try client.run("post", "/public/trailer", "5", "\(name):mallory")
      // Where the protocol forbids it the stream is broken off.
      guard answer.reset == nil else { continue }
      passed.append(name)
      let seen = try site.upstream.waitForRequest { $0.target == "/public/trailer" }
      #expect(!String(decoding: seen.headBytes + seen.bodyBytes, as: UTF8.self).contains("mallory"), "\(name)")
    }
    #expect(passed.contains("x-forwarded-user"), "\(passed)")
  }

  @Test("HEAD, 204 and 304 have no body; an interim answer comes before the final one")
  func bodiless() throws {
    let site = try Site(
      upstream: { request, connection in
        switch request.target {
        case "/nothing": try connection.send("HTTP/1.1 204 No Content\r\n\r\n")
        case "/same":
          try connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\n")
        case "/hints":
          let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nSet-Cookie: __Host-cordon=x\r\n\r\n"
          try connection.send(hints + RawUpstream.response(body: "final"))
        default: try RawUpstream.greet(request, connection)
        }
      },
      adjust: {
        $0.acceptHTTP2()
        $0["listen", "workers"] = "1"
        $0.ending = GatewayConfiguration.everythingPublic
      })
    defer { site.stop() }
    let client = HTTP2Client(site.gateway)
    for (method, target, status, length) in [
      ("HEAD", "/there", "200", "\("upstream saw HEAD /there".utf8.count)"), ("GET", "/nothing", "204", nil),
      ("GET", "/same", "304", "100"), ("HEAD", "/.auth/sign-in", "200", nil),
    ] as [(String, String, String, String?)] {
      let answer: HTTP2Client.Answer = try client.run("ask", method, target)
      #expect(answer.status == status && answer.done && answer.body.isEmpty, "\(method) \(target)")
      if let length { #expect(answer.fields.contains(["content-length", length]), "\(method) \(target)") }
    }
    let hints: HTTP2Client.Answer = try client.run("get", "/hints")
    #expect(hints.body == "final" && hints.status == "200")
    #expect(hints.interim == [[[":status", "103"], ["link", "</a>"]]])
    // All of it over one connection to the application: none of these answers left anything behind.
    #expect(Set(site.upstream.requests.map(\.connection)).count == 1)
  }

  @Test("Without a session a navigation is sent to sign in, anything else is told 401")
  func nobody() throws {
    let page: HTTP2Client.Answer = try client.run("get", "/hours", "accept:text/html")
    #expect(page.status == "302")
    let fetched: HTTP2Client.Answer = try client.run("get", "/hours", "accept:application/json")
    #expect(fetched.status == "401")
    let own: HTTP2Client.Answer = try client.run("get", "/.auth/sign-in", "accept:text/html")
    #expect(own.status == "200" && own.body.contains("</html>"))
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("Many requests at once on one connection get the answer to their own path")
  func many() throws {
    struct Count: Decodable {
      var right: Int
      var of: Int
    }
    let count: Count = try client.run("many", "90")
    #expect(count.right == 90 && count.of == 90)
  }

  @Test("A body of any length passes in chunks, and its trailer after it")
  func body() throws {
    let answer: HTTP2Client.Answer = try client.run("post", "/public/upload", "700000", "x-sum:abc")
    #expect(answer.status == "200")
    let seen = try site.upstream.waitForRequest { $0.target == "/public/upload" }
    #expect(seen.body.count == 700_000)
    #expect(String(decoding: seen.bodyBytes.suffix(20), as: UTF8.self).hasSuffix("0\r\nx-sum: abc\r\n\r\n"))
  }

  @Test("Bodies that are collected and do not end have one limit, also on one connection: the newest passes")
  func collected() throws {
    let gateway = try GatewayProcess.open(to: site.upstream) {
      $0.acceptHTTP2()
      $0["upstream", "request_buffer"] = "\"4MiB\""
    }
    defer { gateway.stop() }
    let before = try gateway.writtenKiB
    // 147 MB, in buffers of 4 MiB each.
    let statuses: [String: Int] = try HTTP2Client(gateway).run(
      "unended", "/public/collected", "48", "\(47 * 0x10000)")
    #expect(try gateway.writtenKiB - before < 112 << 10)
    // By the number of event loops, there is room for 4 to 16 of them.
    #expect(statuses["200"] == 1 && (32...44).contains(statuses["503"] ?? 0))
    #expect(statuses["none"] == 47 - (statuses["503"] ?? 0))
    let seen = try site.upstream.waitForRequest { $0.target == "/public/collected" }
    #expect(seen.fields[all: "Content-Length"] == ["\(47 * 0x10000)"])
  }

  @Test("Body bytes that came while the session was looked up count towards the limit")
  func bodyBeforeSession() throws {
    let site = try Site(adjust: {
      $0.acceptHTTP2()
      $0["listen.limits", "body_size"] = "10000"
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = "cookie:\(try site.cookie(of: anna))"
    for (size, status) in [("9000", "200"), ("20000", "413")] {
      // No event loop remembers the session: the gate asks for time, and all of the body is there meanwhile.
      try site.gateway.restart()
      let answer: HTTP2Client.Answer = try HTTP2Client(site.gateway).run(
        "post", "/upload-\(size)", size, "x-sum:abc", cookie)
      #expect(answer.status == status)
    }
    #expect(site.upstream.requests.filter { $0.target.hasPrefix("/upload") }.map(\.target) == ["/upload-9000"])
  }
}
