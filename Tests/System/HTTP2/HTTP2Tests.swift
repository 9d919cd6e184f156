import Foundation
import Testing

// HTTP/2 from outside, by a client that shares no code with the gateway (client.py, on Python's h2).
//
// - A signed-in request carries the same identity as over HTTP/1.1; cookie crumbs are one line without ours.
// - Many requests at once are answered each with its own; bodies and trailers pass.
// - A WebSocket passes both ways, and only from our own origin; an application that does not switch is not a tunnel.
// - Streams end with their session; the connection and other users' streams go on.
// - A client that gives up requests without end is disconnected; a drain lets what is under way finish.
//
// Sections of RFC 9113 and hostile frames: Tests/HTTPWireTests/HTTP2, without sockets.

@SystemActor
@Suite("HTTP/2", .serialized, .http2Site)
struct HTTP2Tests {
  /// The result of a request, as client.py prints it.
  struct Answer: Decodable {
    var fields: [[String]]
    var interim: [[[String]]]
    var body: String
    var trailers: [[String]]
    var done: Bool
    var reset: Int?

    var status: String? { fields.first { $0[0] == ":status" }?[1] }
  }

  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  private func start(_ arguments: [String], port: UInt16? = nil) throws -> ServerProcess {
    // Debian's, whose packages the tests install: another Python may come first on the path.
    try ServerProcess(
      "/usr/bin/python3",
      [
        Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path,
        "\(port ?? site.gateway.configuration.port)",
      ]
        + arguments)
  }

  private func run<Result: Decodable>(
    _ arguments: String..., port: UInt16? = nil, as type: Result.Type = Result.self
  ) throws -> Result { try run(arguments, port: port) }

  private func run<Result: Decodable>(
    _ arguments: [String], port: UInt16? = nil, as type: Result.Type = Result.self
  ) throws -> Result {
    let process = try start(arguments, port: port)
    defer { process.stop() }
    let exit = try process.waitForExit()
    try process.waitForEndOfOutput()
    guard exit == .code(0) else { throw HarnessError.malformed(process.standardError) }
    return try JSONDecoder().decode(type, from: Data(process.standardOutput.utf8))
  }

  private func cookie(of visitor: Visitor) throws -> String {
    try #require(try visitor.cookieHeader(for: site.origin + "/"))
  }

  @Test("A signed-in request brings its identity, and the crumbs of its cookies as one line without ours")
  func identity() throws {
    let anna = try site.signedIn()
    let answer: Answer = try run(
      "get", "/hours?week=3", "cookie:a=1", "cookie:\(try cookie(of: anna))", "cookie:b=2",
      "x-forwarded-user:somebody else")
    #expect(answer.status == "200")
    let seen = try site.upstream.waitForRequest { $0.target == "/hours?week=3" }
    #expect(seen.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "anna")])
    #expect(seen.fields[all: "Cookie"] == ["a=1; b=2"])
    #expect(seen.fields[all: "Host"] == [site.gateway.client.authority])
  }

  @Test("Neither another spelling of what frames a message nor a stranger's address arrives; every response has a Date")
  func strangersNames() throws {
    let answer: Answer = try run(
      "get", "/public/names", "transfer_encoding:chunked", "content_length:3", "client-ip:203.0.113.66",
      "true-client-ip:203.0.113.66", "x_client_ip:203.0.113.66")
    #expect(answer.status == "200" && answer.fields.count { $0[0] == "date" } == 1)
    let seen = try site.upstream.waitForRequest { $0.target == "/public/names" }
    for text in ["203.0.113.66", "transfer", "content_length"] { #expect(!seen.headText.lowercased().contains(text)) }
    let own: Answer = try run("get", "/.auth/session")
    #expect(own.status == "401" && own.fields.count { $0[0] == "date" } == 1)
    let posted: Answer = try run("post", "/public/echo", "5", "x-fine:1", "content-length:0005")
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
    let port = site.gateway.configuration.port
    let anna = try site.signedIn()
    let signedIn = try site.apple.authorizeNatively("ben", app: "com.example.app", nonce: "n")
    let answer = try site.gateway.client.post(
      "/.auth/native",
      json: ["identity_token": signedIn.identityToken, "authorization_code": signedIn.code, "nonce": "n"])
    let token = try #require(try answer.json()["session_token"] as? String)

    let seen: Answer = try run("get", "/with-token", "authorization:Bearer \(token)", port: port)
    #expect(seen.status == "200" && !seen.fields.contains { $0[0] == "set-cookie" })
    let request = try site.upstream.waitForRequest { $0.target == "/with-token" }
    #expect(request.fields[all: "X-Forwarded-User"] == [try site.apple.subject(of: "ben")])
    #expect(request.fields["Authorization"] == nil)

    try site.gateway.directory.write("the second secret of the tests, long enough to be one", to: "new.key")
    var both = site.gateway.configuration
    both["session", "secret_files"] = "[\"new.key\", \"session.key\"]"
    try site.gateway.restart(with: both)
    let old = try #require(anna.jar["__Host-cordon"])
    let renewed: Answer = try run("get", "/with-cookie", "cookie:__Host-cordon=\(old)", port: port)
    let line = try #require(renewed.fields.first { $0[0] == "set-cookie" }?[1])
    #expect(renewed.status == "200" && line.hasPrefix("__Host-cordon=") && !line.contains(old))
    #expect(line.contains("HttpOnly") && line.contains("Secure") && line.contains("SameSite=Lax"))
    let cookie = String(line.prefix { $0 != ";" })
    let again: Answer = try run("get", "/again", "cookie:\(cookie)", port: port)
    #expect(again.status == "200" && !again.fields.contains { $0[0] == "set-cookie" })

    let told: Answer = try run("get", "/.auth/session", "authorization:Bearer \(token)", port: port)
    let json = try JSONSerialization.jsonObject(with: Data(told.body.utf8)) as? [String: Any]
    let newToken = try #require(json?["session_token"] as? String)
    #expect(newToken != token && !told.fields.contains { $0[0] == "set-cookie" })
    let last: Answer = try run("get", "/.auth/session", "authorization:Bearer \(newToken)", port: port)
    #expect(last.status == "200" && !last.body.contains("session_token"))
  }

  @Test("Identity fields of a client never arrive, in any spelling, as a field or as a trailer")
  func impostor() throws {
    let anna = try site.signedIn()
    let cookie = "cookie:\(try cookie(of: anna))"
    let names = [
      "x-forwarded-user", "x_forwarded_user", "x.forwarded.user", "x-forwarded_email", "x-identity-assertion",
      "x-forwarded-for", "x-real-ip", "forwarded", "x-original-url", "x_rewrite_url", "proxy", "x-request-id",
    ]
    let lies = names.map { "\($0):mallory" }
    for (target, cookies) in [("/lies", [cookie]), ("/public/lies", [])] {
      let arguments = ["get", target] + lies + cookies
      let process = try start(arguments)
      defer { process.stop() }
      #expect(try process.waitForExit() == .code(0))
      let seen = try site.upstream.waitForRequest { $0.target == target }
      #expect(!seen.headText.contains("mallory"), "\(seen.headText)")
      #expect(seen.fields.contains("X-Forwarded-User") == !cookies.isEmpty)
    }
    for name in names + ["cookie", "set-cookie", "content-length", "host", "authorization", "te"] {
      site.upstream.forget()
      let answer: Answer = try run("post", "/public/trailer", "5", "\(name):mallory")
      // Where the protocol forbids it the stream is broken off.
      guard answer.reset == nil else { continue }
      let seen = try site.upstream.waitForRequest { $0.target == "/public/trailer" }
      #expect(!String(decoding: seen.headBytes + seen.bodyBytes, as: UTF8.self).contains("mallory"), "\(name)")
    }
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
        $0.ending = "[[route]]\npath = \"/\"\naccess = \"public\"\n"
      })
    defer { site.stop() }
    let port = site.gateway.configuration.port
    for (method, target, status, length) in [
      ("HEAD", "/there", "200", "\("upstream saw HEAD /there".utf8.count)"), ("GET", "/nothing", "204", nil),
      ("GET", "/same", "304", "100"), ("HEAD", "/.auth/sign-in", "200", nil),
    ] as [(String, String, String, String?)] {
      let answer: Answer = try run("ask", method, target, port: port)
      #expect(answer.status == status && answer.done && answer.body.isEmpty, "\(method) \(target)")
      if let length { #expect(answer.fields.contains(["content-length", length]), "\(method) \(target)") }
    }
    let hints: Answer = try run("get", "/hints", port: port)
    #expect(hints.body == "final" && hints.status == "200")
    #expect(hints.interim == [[[":status", "103"], ["link", "</a>"]]])
    // All of it over one connection to the application: none of these answers left anything behind.
    #expect(Set(site.upstream.requests.map(\.connection)).count == 1)
  }

  @Test("Without a session a navigation is sent to sign in, anything else is told 401")
  func nobody() throws {
    let page: Answer = try run("get", "/hours", "accept:text/html")
    #expect(page.status == "302")
    let fetched: Answer = try run("get", "/hours", "accept:application/json")
    #expect(fetched.status == "401")
    let own: Answer = try run("get", "/.auth/sign-in", "accept:text/html")
    #expect(own.status == "200" && own.body.contains("</html>"))
    #expect(site.upstream.requests.isEmpty)
  }

  @Test("Many requests at once on one connection get the answer to their own path")
  func many() throws {
    struct Count: Decodable {
      var right: Int
      var of: Int
    }
    let count: Count = try run("many", "90")
    #expect(count.right == 90 && count.of == 90)
  }

  @Test("A body of any length passes in chunks, and its trailer after it")
  func body() throws {
    let answer: Answer = try run("post", "/public/upload", "700000", "x-sum:abc")
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
    let statuses: [String: Int] = try run(
      "unended", "/public/collected", "48", "\(47 * 0x10000)", port: gateway.configuration.port)
    #expect(try gateway.writtenKiB - before < 112 << 10)
    // By the number of event loops, there is room for 4 to 16 of them.
    #expect(statuses["200"] == 1 && (32...44).contains(statuses["503"] ?? 0))
    #expect(statuses["none"] == 47 - (statuses["503"] ?? 0))
    let seen = try site.upstream.waitForRequest { $0.target == "/public/collected" }
    #expect(seen.fields[all: "Content-Length"] == ["\(47 * 0x10000)"])
  }

  @Test("A WebSocket passes both ways, with the identity of its user and a key of ours")
  func webSocket() throws {
    let anna = try site.signedIn()
    let text = String(repeating: "hello", count: 20_000)
    let answer: Answer = try run(
      "websocket", "/socket", text, "origin:\(site.origin)", "cookie:\(try cookie(of: anna))",
      "sec-websocket-version:13")
    #expect(answer.status == "200")
    #expect(answer.body == text)
    #expect(!answer.fields.contains { $0[0] == "sec-websocket-accept" || $0[0] == "upgrade" })
    let seen = try site.upstream.waitForRequest { $0.target == "/socket" }
    #expect(seen.fields["Upgrade"] == "websocket")
    #expect(seen.fields[all: "Sec-WebSocket-Key"].count == 1)
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
  }

  @Test("A WebSocket with as many fields as a request may have is one")
  func webSocketWithManyFields() throws {
    let anna = try site.signedIn()
    let fields = (0..<90).map { "x-\($0):y" }
    let process = try start(
      ["websocket", "/socket", "hello", "origin:\(site.origin)", "cookie:\(try cookie(of: anna))"] + fields)
    defer { process.stop() }
    #expect(try process.waitForExit() == .code(0))
    try process.waitForEndOfOutput()
    let answer = try JSONDecoder().decode(Answer.self, from: Data(process.standardOutput.utf8))
    #expect(answer.status == "200" && answer.body == "hello")
  }

  @Test("Body bytes that came while the session was looked up count towards the limit")
  func bodyBeforeSession() throws {
    let site = try Site(adjust: {
      $0.acceptHTTP2()
      $0["listen.limits", "body_size"] = "10000"
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = "cookie:\(try #require(try anna.cookieHeader(for: site.origin + "/")))"
    for (size, status) in [("9000", "200"), ("20000", "413")] {
      // No event loop remembers the session: the gate asks for time, and all of the body is there meanwhile.
      try site.gateway.restart()
      let answer: Answer = try run(
        "post", "/upload-\(size)", size, "x-sum:abc", cookie, port: site.gateway.configuration.port)
      #expect(answer.status == status)
    }
    #expect(site.upstream.requests.filter { $0.target.hasPrefix("/upload") }.map(\.target) == ["/upload-9000"])
  }

  @Test("END_STREAM on a client's Close frame ends one direction: the application's Close frame still comes")
  func halfClosedWebSocket() throws {
    let anna = try site.signedIn()
    let answer: Answer = try run(
      "half_close", "/socket", "origin:\(site.origin)", "cookie:\(try cookie(of: anna))")
    #expect(answer.body.unicodeScalars.map { UInt8($0.value) } == [0x88, 0x82, 0, 0, 0, 0, 0x10, 0xE1])
    #expect(answer.done && answer.reset == nil)
  }

  @Test("A hundred WebSockets on one connection leave room for requests, and may all be given up at once")
  func manyWebSockets() throws {
    struct Crowd: Decodable {
      var answer: Answer?
      var open: Int
      var again: Answer
    }
    let anna = try site.signedIn()
    let crowd: Crowd = try run(
      "crowd", "/socket", "100", "/hours", "origin:\(site.origin)", "cookie:\(try cookie(of: anna))")
    #expect(crowd.answer?.status == "200" && crowd.open == 100 && crowd.again.status == "200")
  }

  @Test("A WebSocket of another origin is refused unheard; one that is not taken up, or whose key was not read, is 502")
  func foreignWebSocket() throws {
    let anna = try site.signedIn()
    let cookie = "cookie:\(try cookie(of: anna))"
    let foreign: Answer = try run("websocket", "/socket", "x", "origin:http://evil.example", cookie)
    #expect(foreign.status == "403")
    let none: Answer = try run("websocket", "/socket", "x", cookie)
    #expect(none.status == "403")
    #expect(!site.upstream.requests.contains { $0.target == "/socket" })
    for path in ["/hours", "/socket?forged"] {
      let refused: Answer = try run("websocket", path, "x", "origin:\(site.origin)", cookie)
      #expect(refused.status == "502", "\(path)")
    }
  }

  @Test("A stream ends when its session is signed out elsewhere, and its connection goes on")
  func signOut() throws {
    struct End: Decodable {
      var reset: Int?
      var done: Bool
      var open: Bool
    }
    let anna = try site.signedIn()
    let cookie = try cookie(of: anna)
    let process = try start(["hang", "/events", "cookie:\(cookie)"])
    defer { process.stop() }
    try process.waitForLine(containing: "begun")
    _ = try site.gateway.client.post(
      "/.auth/sign-out", form: [], fields: [("Cookie", cookie), ("Origin", site.origin)])
    #expect(try process.waitForExit() == .code(0))
    try process.waitForEndOfOutput()
    let line = try #require(process.standardOutput.split(separator: "\n").last)
    let end = try JSONDecoder().decode(End.self, from: Data(line.utf8))
    // Not CANCEL, which some clients take for the regular end of a response.
    #expect(end.reset == 2 && !end.done && end.open)
  }

  @Test("A client that has given a request up gets its other responses, and requests given up at once reach nobody")
  func secondThoughts() throws {
    let answers: [Answer] = try run("second_thoughts")
    #expect(answers.map(\.status) == ["200", "200", "401"])
    let upload = try site.upstream.waitForRequest { $0.target == "/public/upload" }
    #expect(upload.body.count == 1_000)
    #expect(String(decoding: upload.bodyBytes.suffix(20), as: UTF8.self).hasSuffix("0\r\nx-sum: abc\r\n\r\n"))
    #expect(Set(site.upstream.requests.map(\.target)) == ["/public/plain", "/public/upload"])
  }

  @Test(
    "A small response is not kept waiting by a download, and one that its client puts behind it is not cut off",
    arguments: [[], ["u=0", "u=7"]])
  func beside(priorities: [String]) throws {
    struct Outcome: Decodable {
      var before: Int?
      var large: Int
      var reset: Int?
      var small: String
    }
    let size = 8 * 1_048_576
    let site = try Site(
      upstream: { request, connection in
        guard request.target == "/public/large" else { return try RawUpstream.greet(request, connection) }
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
        for _ in 0..<8 { try connection.send([UInt8](repeating: 0x78, count: 1_048_576), by: .seconds(60)) }
      },
      adjust: {
        $0.acceptHTTP2()
        $0["listen.timeouts", "write_progress"] = "\"1s\""
        $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      })
    defer { site.stop() }
    // With the protocol's window for the connection it takes longer than write_progress.
    let outcome: Outcome = try run(
      ["beside", "/public/large", "/public/small", "0.02"] + priorities, port: site.gateway.configuration.port)
    #expect(outcome.large == size && outcome.reset == nil)
    #expect(outcome.small == "upstream saw GET /public/small")
    if priorities.isEmpty { #expect(outcome.before.map { $0 < size / 4 } == true) }
  }

  @Test(
    "curl gets the response that refuses its upload, and one of the application before the upload is whole",
    arguments: [10, 100_000, 5_000_000])
  func refusedUpload(size: Int) throws {
    let site = try Site(
      upstream: { request, connection in
        guard request.target == "/public/early" else { return try RawUpstream.greet(request, connection) }
        try connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 5\r\n\r\nlarge")
      },
      adjust: {
        $0.acceptHTTP2()
        $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      })
    defer { site.stop() }
    let directory = try TemporaryDirectory()
    try Data(repeating: 0x78, count: size).write(to: URL(fileURLWithPath: "\(directory.path)/upload"))
    for (target, status) in [("/hours", "401"), ("/public/early", "413")] {
      for _ in 0..<5 {
        let curl = try ServerProcess.run(
          "/usr/bin/curl",
          [
            "--silent", "--show-error", "--http2-prior-knowledge", "--header", "Expect:", "--request", "POST",
            "--upload-file", "\(directory.path)/upload", "--output", "/dev/null", "--write-out", "%{http_code}",
            "http://localhost:\(site.gateway.configuration.port)\(target)",
          ])
        #expect(curl.exit == .code(0) && curl.standardOutput == status, "\(target): \(curl)")
      }
    }
  }

  @Test("A client that looks for its response only after the whole of its upload can send all of it")
  func patientUpload() throws {
    struct Upload: Decodable {
      var left: Int
      var status: String?
    }
    let upload: Upload = try site.surviving { try run("patient", "/hours", "2000000") }
    #expect(upload.left == 0)
    #expect(upload.status == "401")
  }

  @Test("A client that gives up requests without end gets ENHANCE_YOUR_CALM, and others are served")
  func rapidReset() throws {
    struct Resets: Decodable {
      var sent: Int
      var farewell: Int?
    }
    let resets: Resets = try site.surviving { try run("resets", "5000") }
    #expect(resets.sent < 1_000)
    #expect(resets.farewell == 11)
    try site.gateway.waitForLog("HTTP/2 connection ended, it costs too much")
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("\ncordon_client_http2_errors_total{code=\"enhance_your_calm\"} 1\n"))
  }
}

// An application that is spoken to in HTTP/2 in cleartext (server.py).

@SystemActor
@Suite("Applications in HTTP/2")
struct HTTP2UpstreamTests {
  @Test("An answer before all of the request was taken: the next request finds a connection that is free")
  func earlyAnswer() throws {
    let port = try FreePort.take()
    let script = Machine.packageRoot.appending(path: "Tests/System/HTTP2/server.py").path
    let application = try ServerProcess("/usr/bin/python3", [script, "\(port)"])
    defer { application.stop() }
    try application.waitForLine(containing: "listening")
    let site = try Site(adjust: {
      $0["listen", "workers"] = "1"
      $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\""
      $0["upstream", "protocol"] = "\"h2\""
      $0["upstream.timeouts", "first_byte"] = "\"5s\""
      $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
    })
    defer { site.stop() }
    for _ in 0..<3 {
      // More than the stream's window, and less than the gateway keeps back for an application.
      let early = try site.gateway.client.send(
        "POST", "/public/early", body: [UInt8](repeating: 0x78, count: 120_000))
      #expect(early.status == 200)
      #expect(try site.gateway.client.get("/public/echo").status == 200)
    }
  }

  @Test("A call of gRPC passes message by message, both ways, with its trailers; also one that fails at once")
  func call() throws {
    let port = try FreePort.take()
    let folder = Machine.packageRoot.appending(path: "Tests/System/HTTP2").path
    let application = try ServerProcess("/usr/bin/python3", ["\(folder)/server.py", "\(port)"])
    defer { application.stop() }
    try application.waitForLine(containing: "listening")
    let site = try Site(adjust: {
      $0.acceptHTTP2()
      $0["upstream", "url"] = "\"http://127.0.0.1:\(port)\""
      $0["upstream", "protocol"] = "\"h2\""
    })
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = "cookie:\(try #require(try anna.cookieHeader(for: site.origin + "/")))"
    for (path, count, status) in [("/echo", 20, "0"), ("/fail", 1, "5"), ("/echo", 3, "0")] {
      let run = try ServerProcess.run(
        "/usr/bin/python3",
        ["\(folder)/client.py", "\(site.gateway.configuration.port)", "call", path, "\(count)", cookie])
      let answer = try JSONDecoder().decode(HTTP2Tests.Answer.self, from: Data(run.standardOutput.utf8))
      #expect(answer.status == "200")
      #expect(answer.body.utf8.count == (status == "0" ? count * 1_000 : 0))
      #expect((answer.fields + answer.trailers).contains(["grpc-status", status]))
      #expect(answer.fields.contains(["x-te", "trailers"]))
      #expect(answer.fields.contains(["x-user", try site.apple.subject(of: "anna")]))
    }
  }
}
