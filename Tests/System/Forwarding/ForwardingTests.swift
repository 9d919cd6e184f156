import Foundation
import Testing

// How messages pass through: cookies, connection fields, bodies, and an application in trouble.
//
// - Our cookies never reach the application, others do; the application cannot set ours.
// - Hop-by-hop fields, and those that Connection names, stay behind; end-to-end fields arrive as they were.
// - Bodies pass in both directions as they arrive, whatever their framing.
// - Pipelined requests are answered in order; HEAD, 204 and 304 have no body; 100-continue works.
// - An application that is away, breaks off or talks nonsense costs its own request and no other.

@SystemActor
@Suite(
  "Forwarding", .serialized,
  .site(
    ending: """
      [[route]]
      path = "/open/"
      access = "public"
      """, upstream: LegacyApplication.answer))
struct ForwardingTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  private func get(_ target: String, fields: [(String, String)] = []) throws -> HTTPResponse {
    try site.gateway.client.get(target, fields: fields)
  }

  // MARK: Cookies

  @Test("Our own cookies stay at the gateway; the application's arrive")
  func requestCookies() throws {
    let anna = try site.signedIn()
    let session = try #require(anna.jar["__Host-cordon"])
    for (sent, arrives) in [
      ("a=1; __Host-cordon=\(session); b=2", "a=1; b=2"), ("__Host-cordon=\(session)", nil),
      ("__Host-cordon-attempt-abc=x; a=1", "a=1"), ("a=1; __Host-cordon-attempt-abc=x", "a=1"),
      ("__Host-cordonella=1; __Host-cordon=\(session)", "__Host-cordonella=1"), ("a=\"q\"; b", "a=\"q\"; b"),
    ] as [(String, String?)] {
      site.upstream.forget()
      _ = try get("/open/x", fields: [("Cookie", sent)])
      let seen = try site.upstream.waitForRequest()
      #expect(seen.fields["Cookie"] == arrives, "\(sent)")
      #expect(!seen.headText.contains(session))
    }
  }

  @Test("Our cookies stay at the gateway also when they come in several Cookie fields")
  func severalCookieFields() throws {
    let anna = try site.signedIn()
    let session = try #require(anna.jar["__Host-cordon"])
    let connection = try site.gateway.connect()
    try connection.send(
      """
      GET /several HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: a=1\r\n\
      cookie: __Host-cordon=\(session)\r\nCOOKIE: b=2\r\n\r\n
      """)
    let response = try HTTPResponse.read(from: connection)
    #expect(response.status == 200 || response.status == 400)
    let seen = site.upstream.requests.filter { $0.target == "/several" }
    #expect(seen.allSatisfy { !$0.headText.contains(session) })
    if response.status == 200 {
      #expect(seen.first?.fields[all: "Cookie"].joined(separator: "; ") == "a=1; b=2")
    }
  }

  @Test("The application's cookies pass, ours it cannot set")
  func responseCookies() throws {
    let response = try get("/open/cookies")
    #expect(response.setCookies == ["app=1; Path=/", "other=2; HttpOnly"])
  }

  // MARK: Fields

  @Test("Hop-by-hop fields of the request stay behind, and so do those that Connection names")
  func requestHops() throws {
    let fields = [
      ("Connection", "keep-alive, X-Hop, TE"), ("X-Hop", "1"), ("Keep-Alive", "timeout=9"), ("TE", "trailers"),
      ("Proxy-Connection", "keep-alive"), ("Proxy-Authorization", "Basic secret"), ("X-End", "2"),
      ("Accept-Encoding", "gzip"), ("Authorization", "Basic YTpi"),
    ]
    let connection = try site.gateway.connect()
    let lines = fields.map { "\($0): \($1)" }.joined(separator: "\r\n")
    try connection.send("GET /open/x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\(lines)\r\n\r\n")
    #expect(try HTTPResponse.read(from: connection).status == 200)
    let seen = try site.upstream.waitForRequest()
    for name in ["X-Hop", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization"] {
      #expect(!seen.fields.contains(name), "\(name)")
    }
    #expect(seen.fields["X-End"] == "2")
    #expect(seen.fields["Accept-Encoding"] == "gzip")
    #expect(seen.fields["Authorization"] == "Basic YTpi")
  }

  @Test("Hop-by-hop fields of the response stay behind, and so do those that its Connection names")
  func responseHops() throws {
    let response = try get("/open/hops")
    for name in ["X-Hop", "Keep-Alive", "Proxy-Connection"] { #expect(!response.fields.contains(name), "\(name)") }
    #expect(response.fields["X-End"] == "2")
    #expect(response.fields["Server"] == "legacy")
  }

  @Test("The application reads the length that was read, and no other spelling of what frames the message")
  func framingNames() throws {
    let connection = try site.gateway.connect()
    try connection.send(
      """
      POST /open/length HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nContent-Length: 0000000000005\r\n\
      Transfer_Encoding: chunked\r\nContent_Length: 3\r\ntransfer.encoding: chunked\r\nKeep_Alive: 1\r\n\
      Proxy_Connection: close\r\nX-End: 2\r\n\r\nhello
      """)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    let seen = try site.upstream.waitForRequest { $0.target == "/open/length" }
    #expect(seen.fields[all: "Content-Length"] == ["5"] && seen.body == Array("hello".utf8))
    #expect(seen.fields["X-End"] == "2")
    let head = seen.headText.lowercased()
    for name in ["transfer", "content_length", "keep_alive", "proxy_connection"] {
      #expect(!head.contains(name), "\(name)")
    }
  }

  @Test("The client gets the length that was read from the application")
  func responseLength() throws {
    let response = try get("/open/padded-length")
    #expect(response.fields[all: "Content-Length"] == ["5"] && response.text == "hello")
  }

  @Test("Every response has one Date: ours, and the application's where it lacks one")
  func date() throws {
    let form = /(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT/
    for path in [
      "/.auth/sign-in", "/.auth/nowhere", "/.auth/session", "/private", "/open/%00", "/open/x", "/open/same",
    ] {
      let response = try get(path, fields: [("Accept", "text/html")])
      let dates = response.fields[all: "Date"]
      #expect(dates.count == 1 && dates.allSatisfy { $0.wholeMatch(of: form) != nil }, "\(path): \(dates)")
    }
    #expect(try get("/open/dated").fields[all: "Date"] == ["Sun, 06 Nov 1994 08:49:37 GMT"])
  }

  @Test("The target arrives byte for byte, in origin form also when it was absolute")
  func targets() throws {
    for target in ["/open/a?b=%2F&c=%2e%2e&&d", "/open/?", "/open/a%40b+c", "/open/x?q=/../y"] {
      site.upstream.forget()
      #expect(try get(target).status == 200)
      #expect(try site.upstream.waitForRequest().target == target)
    }
    site.upstream.forget()
    let connection = try site.gateway.connect()
    try connection.send("GET \(site.origin)/open/abs HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(try site.upstream.waitForRequest().target == "/open/abs")
  }

  // MARK: Bodies

  @Test("A body with a length arrives as it is, and so does a chunked one")
  func requestBodies() throws {
    let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let response = try site.gateway.client.send("POST", "/open/x", body: body)
    #expect(response.status == 200)
    #expect(try site.upstream.waitForRequest().body.elementsEqual(body))
    site.upstream.forget()
    let connection = try site.gateway.connect()
    try connection.send(
      "POST /open/y HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n")
    for part in ["5;ext=1\r\nhello\r\n", "1\r\n,\r\n", "6\r\n world\r\n", "0\r\n\r\n"] { try connection.send(part) }
    #expect(try HTTPResponse.read(from: connection).status == 200)
    let seen = try site.upstream.waitForRequest()
    #expect(seen.body == Array("hello, world".utf8))
    #expect(!String(decoding: seen.bodyBytes, as: UTF8.self).contains("ext"))
  }

  @Test("A response passes on as it arrives: its first part is there before the last is made")
  func responseParts() throws {
    let gate = Gate()
    LegacyApplication.gate.update { $0 = gate }
    defer { gate.open() }
    let connection = try site.gateway.connect()
    try connection.send("GET /open/parts HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    _ = try connection.read(through: "\r\n\r\n")
    _ = try connection.read(through: "first")
    gate.open()
    _ = try connection.read(through: "second")
    _ = try connection.read(through: "0\r\n\r\n")
  }

  @Test("A response that ends with the connection arrives whole")
  func untilClose() throws { #expect(try get("/open/until-close").text == "all of it") }

  @Test("HEAD, 204 and 304 have no body, and the connection goes on")
  func bodiless() throws {
    let connection = try site.gateway.connect()
    for (method, target, status) in [
      ("HEAD", "/open/x", 200), ("GET", "/open/nothing", 204), ("GET", "/open/same", 304), ("GET", "/open/y", 200),
    ] {
      try connection.send("\(method) \(target) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
      let response = try HTTPResponse.read(from: connection, method: method)
      #expect(response.status == status)
      if target == "/open/y" { #expect(response.text == "upstream saw GET /open/y") }
    }
  }

  @Test("Pipelined requests are answered in their order")
  func pipelining() throws {
    let connection = try site.gateway.connect()
    let requests = (0..<8).map { "GET /open/\($0) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n" }
    try connection.send(requests.joined())
    for index in 0..<8 {
      #expect(try HTTPResponse.read(from: connection).text == "upstream saw GET /open/\(index)")
    }
  }

  @Test("A client that waits for 100 Continue gets it, or the final answer, and its body arrives")
  func expectContinue() throws {
    let connection = try site.gateway.connect()
    try connection.send(
      """
      POST /open/x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nExpect: 100-continue\r\n\
      Content-Length: 5\r\n\r\n
      """)
    let interim = try MessageHead(connection.read(through: "\r\n\r\n"))
    #expect(interim.startLine.hasPrefix("HTTP/1.1 100"))
    try connection.send("hello")
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(try site.upstream.waitForRequest().body == Array("hello".utf8))
  }

  @Test("An interim response of the application comes before the final one")
  func earlyHints() throws {
    let response = try get("/open/hints")
    #expect(response.text == "final")
    #expect(response.interim.allSatisfy { $0.startLine.contains("103") })
  }

  @Test("An HTTP/1.0 client gets an answer that it understands")
  func oldClient() throws {
    let connection = try site.gateway.connect()
    try connection.send("GET /open/until-close HTTP/1.0\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    let response = try HTTPResponse.read(from: connection)
    #expect(response.text == "all of it")
    #expect(!response.fields.contains("Transfer-Encoding"))
    try connection.waitForClose()
  }

  @Test("Connections to the application are reused, one request after the other")
  func reuse() throws {
    let connection = try site.gateway.connect()
    for index in 0..<5 {
      try connection.send("GET /open/reuse-\(index) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
      _ = try HTTPResponse.read(from: connection)
    }
    let used = Set(site.upstream.requests.filter { $0.target.hasPrefix("/open/reuse-") }.map(\.connection))
    #expect(used.count == 1)
  }

  // MARK: An application in trouble

  @Test(
    "An application that breaks off or talks nonsense is answered 502, and the next request is served",
    arguments: [
      "/open/silent-close", "/open/two-lengths", "/open/both-framings", "/open/folded", "/open/nonsense",
    ])
  func badApplication(target: String) throws {
    try site.surviving {
      let status = try get(target).status
      #expect(status == 502)
      #expect(try get("/open/next").text == "upstream saw GET /open/next")
    }
  }

  @Test("An application that breaks off midway: the client sees that the answer is not whole")
  func cutResponse() throws {
    try site.surviving {
      #expect(throws: HarnessError.self) { try get("/open/cut") }
      let next = try get("/open/next")
      #expect(next.status == 200)
    }
  }

  @Test("Bytes that the application sends after its response are never another client's response")
  func smuggledResponse() throws {
    try site.surviving {
      let connection = try site.gateway.connect()
      for target in ["/open/too-much", "/open/next", "/open/after"] {
        try connection.send("GET \(target) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
        let text = try HTTPResponse.read(from: connection).text
        #expect(text == (target == "/open/too-much" ? "ok" : "upstream saw GET \(target)"))
      }
    }
  }

  @Test("An application that is away is answered 502, and served again when it is back")
  func awayApplication() throws {
    let port = try FreePort.take()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(port)")
    configuration.ending = GatewayConfiguration.everythingPublic
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    let refused = try gateway.client.get("/")
    #expect(refused.status == 502)
    let upstream = try RawUpstream(port: port)
    defer { upstream.stop() }
    #expect(try gateway.client.get("/").status == 200)
  }
}

/// An application with every habit that a gateway meets, by target.
private enum LegacyApplication {
  /// Held shut by tests that want to see half an answer.
  static let gate = Watched<Gate>(Gate())

  static let answer: RawUpstream.RequestHandler = { request, connection in
    switch request.target {
    case "/open/cookies":
      try connection.send(
        RawUpstream.response(
          fields: [
            "Set-Cookie: app=1; Path=/", "Set-Cookie: __Host-cordon=forged; Path=/; Secure",
            "set-cookie: __host-cordon=forged; Path=/; Secure",
            "Set-Cookie: __Host-cordon-attempt-x=forged; Path=/; Secure",
            "Set-Cookie: other=2; HttpOnly",
          ], body: "x"))
    case "/open/hops":
      try connection.send(
        RawUpstream.response(
          fields: [
            "Connection: keep-alive, X-Hop", "Keep-Alive: timeout=5", "X-Hop: 1", "Proxy-Connection: close",
            "X-End: 2", "Server: legacy",
          ], body: "x"))
    case "/open/parts":
      try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
      try gate.current.wait()
      try connection.send("6\r\nsecond\r\n0\r\n\r\n")
    case "/open/padded-length": try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0005\r\n\r\nhello")
    case "/open/dated":
      try connection.send(
        "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n")
    case "/open/until-close":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it")
      connection.close()
    case "/open/nothing": try connection.send("HTTP/1.1 204 No Content\r\n\r\n")
    case "/open/same": try connection.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nContent-Length: 100\r\n\r\n")
    case "/open/hints":
      try connection.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + RawUpstream.response(body: "final"))
    case "/open/silent-close": connection.close()
    case "/open/cut":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
      connection.close()
    case "/open/two-lengths":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab")
    case "/open/both-framings":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    case "/open/folded": try connection.send("HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n")
    case "/open/nonsense": try connection.send("SMTP ready\r\n\r\n")
    case "/open/too-much":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nsmuggled")
    default: try RawUpstream.greet(request, connection)
    }
  }
}
