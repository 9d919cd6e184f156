import Foundation
import Testing

// What single applications get and answer, through the real binary.
//
// - Headers with claims, Basic credentials, another Host, removed headers; spoofed ones never arrive.
// - Without a user only headers without claims are sent; what cannot be sent is left out and logged once.
// - What names the user by one upstream is not taken from clients by another one of the same application.
// - A removed path prefix: redirects and cookies get it back, other paths get 404, open exchanges are judged by it.
// - Redirects to the application's own address, and to http: of the public origin; Destination of WebDAV.
// - Bodies without a length for an application that speaks HTTP/1.0.

@SystemActor
@Suite(
  "Headers for single applications", .serialized,
  .site(
    ending: """
      [upstream.headers]
      X-Remote-User = "{email|local:example.com|lower}"
      X-Env = "prod {{1}"
      X-Forwarded-Name = "{name|latin1}"
      [upstream.basic]
      user = "{email}"
      password = "s3cret:"
      [[route]]
      path = "/public/"
      access = "public"
      """))
struct UpstreamHeaderTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  private static let credentials =
    "Basic " + Data("anna.bergstrom@example.com:s3cret:".utf8).base64EncodedString()

  @Test("A signed-in request has the headers of the template and Basic credentials, instead of the client's own")
  func signedIn() throws {
    let anna = try site.signedIn(as: "anna")
    let spoofs = [
      "X-Remote-User", "x_remote_user", "X.Remote.User", "X-Env", "x_env", "Authorization", "AUTHORIZATION",
      "X-Forwarded-Name", "x_forwarded_name",
    ]
    _ = try anna.fetch("\(site.origin)/a", fields: spoofs.map { ($0, "evil-mallory") })
    let seen = try site.upstream.waitForRequest { $0.target == "/a" }
    #expect(!seen.headText.contains("mallory"))
    #expect(seen.fields[all: "X-Remote-User"] == ["anna.bergstrom"])
    #expect(seen.fields[all: "X-Env"] == ["prod {1}"])
    #expect(seen.fields[all: "Authorization"] == [Self.credentials])
    #expect(seen.fields[all: "X-Forwarded-Email"] == ["anna.bergstrom@example.com"])
    // ISO 8859-1, and no second one of the identity headers.
    #expect(seen.headText.components(separatedBy: "X-Forwarded-Name").count == 2)
    #expect(seen.headBytes.firstRange(of: Array("X-Forwarded-Name: Anna Bergstr".utf8) + [0xF6, 0x6D, 0x0D]) != nil)
  }

  @Test("A public request without a user has the headers without claims only, and none of the client's")
  func nobody() throws {
    let fields = [("Authorization", "Basic ZXZpbA=="), ("X_Remote_User", "evil"), ("X-Env", "evil")]
    #expect(try site.gateway.client.get("/public/a", fields: fields).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/public/a" }
    #expect(seen.fields[all: "X-Env"] == ["prod {1}"])
    #expect(!seen.headText.lowercased().contains("evil") && !seen.fields.contains("Authorization"))
    #expect(!seen.headText.lowercased().contains("remote"))
  }

  @Test("An unverified address is in no header, and the log says so once")
  func unverified() throws {
    let eve = try site.signedIn(as: "eve")
    for number in 0..<3 {
      _ = try eve.fetch("\(site.origin)/eve\(number)", fields: [("X-Remote-User", "admin")])
      let seen = try site.upstream.waitForRequest { $0.target == "/eve\(number)" }
      #expect(!seen.fields.contains("X-Remote-User") && !seen.fields.contains("Authorization"))
      #expect(seen.fields.contains("X-Forwarded-User"))
    }
    let other = try site.signedIn(as: "eve")
    _ = try other.fetch("\(site.origin)/eve-again")
    _ = try site.upstream.waitForRequest { $0.target == "/eve-again" }
    let message = "header left out of requests to the application"
    try site.gateway.waitForLog(message)
    let lines = String(decoding: site.gateway.log, as: UTF8.self).components(separatedBy: "\n")
      .filter { $0.contains(message) && $0.contains("X-Remote-User") && $0.contains("the claim email is absent") }
    #expect(lines.count == 1)
  }

  @Test("verify answers none of the headers for applications")
  func verify() throws {
    let anna = try site.signedIn(as: "anna")
    let answer = try anna.fetch(site.own("verify"))
    #expect(answer.status == 200 && answer.fields.contains("X-Forwarded-Email"))
    for name in ["Authorization", "X-Env", "X-Remote-User"] { #expect(!answer.fields.contains(name), "\(name)") }
  }
}

@SystemActor
@Suite("Headers for an application behind two upstreams", .serialized)
struct SharedApplicationHeaderTests {
  @Test("A header that names the user is no client's own by the upstream without it either, signed in or not")
  func spoofed() throws {
    let site = try Site(adjust: { configuration in
      configuration.ending = """
        [upstream.headers]
        X-Legacy-User = "{email|local:example.com}"
        X-Env = "prod"
        [[upstreams]]
        name = "slow"
        url = \(configuration["upstream", "url"] ?? "")
        [[route]]
        path = "/slow/"
        upstream = "slow"
        access = "public"
        """
    })
    defer { site.stop() }
    let fields = [("X-Legacy-User", "mallory"), ("x_legacy_user", "mallory"), ("X-Env", "test"), ("X-Other", "1")]
    #expect(try site.gateway.client.get("/slow/nobody", fields: fields).status == 200)
    let nobody = try site.upstream.waitForRequest { $0.target == "/slow/nobody" }
    #expect(!nobody.headText.contains("mallory"))
    // Says nothing of the user.
    #expect(nobody.fields[all: "X-Env"] == ["test"] && nobody.fields.contains("X-Other"))
    let anna = try site.signedIn(as: "anna")
    #expect(try anna.fetch("\(site.origin)/slow/anna", fields: fields).status == 200)
    let slow = try site.upstream.waitForRequest { $0.target == "/slow/anna" }
    #expect(!slow.headText.contains("mallory") && slow.fields.contains("X-Forwarded-User"))
    #expect(try anna.fetch("\(site.origin)/anna", fields: fields).status == 200)
    let own = try site.upstream.waitForRequest { $0.target == "/anna" }
    #expect(own.fields[all: "X-Legacy-User"] == ["anna.bergstrom"] && own.fields[all: "X-Env"] == ["prod"])
  }
}

@SystemActor
@Suite("Paths, hosts and redirects of single applications", .serialized)
struct UpstreamRewritingProcessTests {
  /// Answers with the header lines after `?`, which a test writes percent-encoded, one a line.
  private nonisolated static let echo: RawUpstream.RequestHandler = { request, connection in
    let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
    let lines = query.removingPercentEncoding?.components(separatedBy: "\n").filter { !$0.isEmpty } ?? []
    try connection.send(RawUpstream.response("302 Found", fields: lines))
  }

  private func site(_ settings: String, adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(upstream: Self.echo) { configuration in
      adjust(&configuration)
      let url = configuration["upstream", "url"] ?? ""
      configuration.ending = settings.replacingOccurrences(of: "URL", with: url)
    }
  }

  private func ask(_ site: Site, _ path: String, _ lines: String...) throws -> HTTPResponse {
    let query = FormEncoding.escape(lines.joined(separator: "\n"))
    return try site.gateway.client.get("\(path)?\(query)")
  }

  @Test("A prefix is removed from requests, and redirects and cookies get it back")
  func prefix() throws {
    let site = try site(
      """
      [[upstreams]]
      name = "reports"
      url = URL
      strip_prefix = "/reports"
      remove_headers = ["X-Debug"]
      host = "reports.internal"
      [[route]]
      path = "/reports"
      upstream = "reports"
      access = "public"
      """)
    defer { site.stop() }
    let answer = try ask(site, "/reports/a/b", "Location: /login", "Set-Cookie: s=1; Path=/; HttpOnly")
    #expect(answer.status == 302 && answer.fields["Location"] == "/reports/login")
    #expect(answer.fields[all: "Set-Cookie"] == ["s=1; Path=/reports; HttpOnly"])
    let ofHost = try ask(site, "/reports/a", "Set-Cookie: s=1; Domain=reports.internal; Path=/; HttpOnly")
    #expect(ofHost.fields[all: "Set-Cookie"] == ["s=1; Path=/reports; HttpOnly"])
    let seen = try site.upstream.waitForRequest { $0.target.hasPrefix("/a/b?") }
    #expect(seen.fields[all: "X-Forwarded-Prefix"] == ["/reports"])
    #expect(seen.fields[all: "Host"] == ["reports.internal"])
    #expect(seen.fields[all: "X-Forwarded-Host"] == [site.gateway.client.authority])
    #expect(
      try ask(site, "/reports", "Location: http://reports.internal/x").fields["Location"]
        == "\(site.origin)/reports/x")
    _ = try site.upstream.waitForRequest { $0.target.hasPrefix("/?") }
    _ = try site.gateway.client.get("/reports/c", fields: [("x_debug", "1"), ("X-Debugger", "2")])
    let other = try site.upstream.waitForRequest { $0.target == "/c" }
    #expect(!other.headText.contains("x_debug") && other.fields.contains("X-Debugger"))
    // Below the route in a lenient reading only: nothing of it may arrive under another name.
    site.upstream.forget()
    #expect([302, 400, 401, 404].contains(try site.gateway.client.get("/reports%2Fd").status))
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("Requests outside of the prefix are answered 404", arguments: ["/", "/x", "/applications"])
  func outside(path: String) throws {
    let site = try site("[access]\nunauthenticated = \"401\"\n") { $0["upstream", "strip_prefix"] = "\"/app\"" }
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try anna.fetch(site.origin + path).status == 404)
    #expect(try anna.fetch(site.origin + "/app/x").status == 302)
    #expect(site.upstream.requests.map(\.target) == ["/x"])
  }

  @Test("A stream below a removed prefix is judged by the path that its client asked for")
  func openExchange() throws {
    let stream: RawUpstream.RequestHandler = { _, connection in
      try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      // Longer than two reviews take; the application sets the pace.
      for _ in 0..<16 {
        try connection.send("1\r\na\r\n")
        Thread.sleep(forTimeInterval: 0.25)
      }
      try connection.send("0\r\n\r\n")
    }
    let site = try Site(upstream: stream) { configuration in
      configuration.ending = """
        [[upstreams]]
        name = "reports"
        url = \(configuration["upstream", "url"] ?? "")
        strip_prefix = "/reports"
        host = "reports.internal"
        [[route]]
        path = "/"
        access = "deny"
        [[route]]
        path = "/reports/"
        upstream = "reports"
        access = "signed-in"
        """
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    let answer = try anna.fetch("\(site.origin)/reports/stream")
    #expect(answer.status == 200 && answer.text == String(repeating: "a", count: 16))
  }

  @Test("Redirects to the application's address, and to http: of the public origin, lead to the public origin")
  func redirects() throws {
    let site = try site("[[route]]\npath = \"/\"\naccess = \"public\"\n") {
      $0["", "public_url"] = "\"https://\(GatewayConfiguration.host):\($0.port)\""
    }
    defer { site.stop() }
    let (authority, port) = (site.gateway.client.authority, site.upstream.port)
    let answer = try ask(
      site, "/a", "Location: http://\(authority)/x", "Content-Location: http://127.0.0.1:\(port)/y",
      "Refresh: 0; url=http://127.0.0.1:\(port)/z", "Link: <http://127.0.0.1:\(port)/l>")
    #expect(answer.fields["Location"] == "https://\(authority)/x")
    #expect(answer.fields["Content-Location"] == "https://\(authority)/y")
    #expect(answer.fields["Refresh"] == "0; url=https://\(authority)/z")
    #expect(answer.fields["Link"] == "<http://127.0.0.1:\(port)/l>")
    #expect(try ask(site, "/b", "Location: http://evil.example/").fields["Location"] == "http://evil.example/")
    let fields = [("Destination", "https://\(authority)/dav/new")]
    _ = try site.gateway.client.send("COPY", "/dav/old", fields: fields)
    let seen = try site.upstream.waitForRequest { $0.method == "COPY" }
    #expect(seen.fields[all: "Destination"] == ["http://\(authority)/dav/new"])
  }

  @Test("A cookie whose Domain is the application's own Host becomes one of the requested host")
  func cookieOfOwnHost() throws {
    let site = try site("[[route]]\npath = \"/\"\naccess = \"public\"\n") {
      $0["upstream", "host"] = "\"app.internal\""
    }
    defer { site.stop() }
    let cookies = ["s=1; Domain=app.internal; HttpOnly", "t=1; Domain=other.test"]
    let answer = try ask(site, "/a", "Set-Cookie: \(cookies[0])", "Set-Cookie: \(cookies[1])")
    #expect(answer.fields[all: "Set-Cookie"] == ["s=1; HttpOnly", cookies[1]])
  }

  @Test("With rewrite_redirects = false they stay")
  func redirectsOff() throws {
    let site = try site("[[route]]\npath = \"/\"\naccess = \"public\"\n") {
      $0["upstream", "rewrite_redirects"] = "false"
    }
    defer { site.stop() }
    let value = "http://127.0.0.1:\(site.upstream.port)/y"
    #expect(try ask(site, "/a", "Location: \(value)").fields["Location"] == value)
  }
}

@SystemActor
@Suite("Request bodies without a length", .serialized)
struct RequestBufferTests {
  private func site(_ version: String, buffer: String? = nil) throws -> Site {
    let answer: RawUpstream.RequestHandler = { _, connection in
      try connection.send("\(version) 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n")
    }
    return try Site(upstream: answer) { configuration in
      configuration.ending = GatewayConfiguration.everythingPublic
      if let buffer { configuration["upstream", "request_buffer"] = buffer }
    }
  }

  /// Sends chunks of 1,000 bytes.
  private func put(_ site: Site, _ path: String, chunks: Int) throws -> HTTPResponse {
    let connection = try site.gateway.connect()
    try connection.send(
      "PUT \(path) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n")
    // The gateway may refuse before the end.
    try? connection.send(
      String(repeating: "3e8\r\n\(String(repeating: "x", count: 1_000))\r\n", count: chunks)
        + "0\r\nX-Trailer: 1\r\n\r\n")
    return try HTTPResponse.read(from: connection)
  }

  @Test("An application that answers HTTP/1.0 gets a length, up to 64 KiB")
  func oldApplication() throws {
    let site = try site("HTTP/1.0")
    defer { site.stop() }
    #expect(try site.gateway.client.get("/first").status == 200)
    #expect(try put(site, "/small", chunks: 60).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/small" }
    #expect(seen.fields[all: "Content-Length"] == ["60000"] && !seen.fields.contains("Transfer-Encoding"))
    #expect(seen.body.count == 60_000 && !String(decoding: seen.bodyBytes, as: UTF8.self).contains("X-Trailer"))
    let refused = try put(site, "/large", chunks: 70)
    #expect(refused.status == 411 && refused.text.contains("length_required"))
    #expect(!site.upstream.requests.contains { $0.target == "/large" })
  }

  @Test("An application that answers HTTP/1.1 gets the chunks")
  func newApplication() throws {
    let site = try site("HTTP/1.1")
    defer { site.stop() }
    #expect(try site.gateway.client.get("/first").status == 200)
    #expect(try put(site, "/chunks", chunks: 70).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/chunks" }
    #expect(seen.fields[all: "Transfer-Encoding"] == ["chunked"] && seen.body.count == 70_000)
  }

  @Test("request_buffer holds from the first request on, and \"0\" passes chunks to an HTTP/1.0 application")
  func configured() throws {
    let site = try site("HTTP/1.1", buffer: "\"100KiB\"")
    defer { site.stop() }
    #expect(try put(site, "/a", chunks: 100).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/a" }
    #expect(seen.fields[all: "Content-Length"] == ["100000"] && seen.body.count == 100_000)
    #expect(try put(site, "/b", chunks: 110).status == 411)
    let off = try self.site("HTTP/1.0", buffer: "\"0\"")
    defer { off.stop() }
    #expect(try off.gateway.client.get("/first").status == 200)
    #expect(try put(off, "/c", chunks: 1).status == 200)
    #expect(try off.upstream.waitForRequest { $0.target == "/c" }.fields.contains("Transfer-Encoding"))
  }

  @Test("Bodies that do not end have one limit for all of them: the oldest end with 503, and the newest pass")
  func unended() throws {
    let site = try site("HTTP/1.1", buffer: "\"4MiB\"")
    defer { site.stop() }
    let before = try site.gateway.writtenKiB
    let head = "PUT /a HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n"
    let chunk = "10000\r\n\(String(repeating: "x", count: 0x10000))\r\n"
    // 147 MB, in buffers of 4 MiB each.
    let bodies = try (0..<48).map { _ in
      let connection = try site.gateway.connect()
      try connection.send(head + String(repeating: chunk, count: 47))
      return connection
    }
    _ = try site.gateway.process.waitForLine(containing: "incomplete requests hold too much memory")
    #expect(try HTTPResponse.read(from: bodies[0]).status == 503)
    #expect(try site.gateway.writtenKiB - before < 112 << 10)
    try bodies[47].send("0\r\n\r\n")
    #expect(try HTTPResponse.read(from: bodies[47]).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/a" }
    #expect(seen.fields[all: "Content-Length"] == ["\(47 * 0x10000)"])
  }
}
