import Crypto
import Foundation
import Testing

// Tunnels and streams.
//
// - A WebSocket of our own origin passes, both ways; one of another origin, or of none, is refused before the
//   application.
// - It ends with the session, wherever that is signed out.
// - No other upgrade is passed on: the request is answered as if it had not asked.
// - An application that answers 426 tells its client of the WebSocket that it requires.
// - Events arrive as they are sent; a long poll is waited for.
// - Bodies of any size pass through memory that stays as it was; who reads slowly is waited for.

@SystemActor
@Suite(
  "Tunnels and streams",
  .site(
    ending: """
      [[route]]
      path = "/open/"
      access = "public"
      """, upstream: StreamingApplication.answer))
struct TunnelTests {
  private let site: Site

  init() throws {
    site = try Site.current
    site.upstream.forget()
  }

  /// Asks for an upgrade on a connection of its own.
  private func upgrade(
    _ target: String = "/socket", to proto: String = "websocket", origin: String?, cookie: String? = nil,
    more: String = ""
  ) throws -> TCPConnection {
    let connection = try site.gateway.connect()
    var lines = [
      "GET \(target) HTTP/1.1", "Host: \(site.gateway.client.authority)", "Connection: keep-alive, Upgrade",
      "Upgrade: \(proto)", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
    ]
    if let origin { lines.append("Origin: \(origin)") }
    if let cookie { lines.append("Cookie: \(cookie)") }
    try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + more)
    return connection
  }

  /// A WebSocket that is open.
  private func socket(of visitor: Visitor) throws -> TCPConnection {
    let cookie = try visitor.cookieHeader(for: site.origin + "/")
    let connection = try upgrade(origin: site.origin, cookie: cookie)
    let head = try MessageHead(connection.read(through: "\r\n\r\n"))
    guard head.startLine.hasPrefix("HTTP/1.1 101") else { throw HarnessError.malformed(head.startLine) }
    return connection
  }

  // MARK: WebSockets

  @Test("A client learns from 426 that the application requires a WebSocket, on a connection that is kept")
  func required() throws {
    let connection = try site.gateway.connect()
    defer { connection.close() }
    for _ in 0..<2 {
      try connection.send("GET /open/required HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
      let response = try HTTPResponse.read(from: connection)
      #expect(response.status == 426)
      #expect(response.fields[all: "Connection"] == ["Upgrade"] && response.fields[all: "Upgrade"] == ["websocket"])
    }
  }

  @Test("A WebSocket of our own origin passes both ways, with the identity of its user")
  func webSocket() throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    let connection = try upgrade("/socket?whole", origin: site.origin, cookie: cookie)
    let head = try MessageHead(connection.read(through: "\r\n\r\n"))
    #expect(head.startLine.hasPrefix("HTTP/1.1 101"))
    #expect(head.fields["Upgrade"]?.lowercased() == "websocket")
    #expect(head.fields["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    let seen = try site.upstream.waitForRequest { $0.target == "/socket?whole" }
    #expect(seen.fields["Upgrade"] == "websocket")
    #expect(seen.fields["X-Forwarded-User"] == (try site.apple.subject(of: "anna")))
    #expect(!seen.fields.contains("Cookie"))
    for text in ["hello", "GET / HTTP/1.1\r\n\r\n", String(repeating: "x", count: 300_000)] {
      try connection.send(text)
      #expect(try connection.read(count: text.utf8.count) == Array(text.utf8))
    }
    // The application's end is the client's end.
    try connection.send("bye")
    try connection.waitForClose()
  }

  @Test("A WebSocket of another origin, of none or of two is refused before the application hears of it")
  func foreignOrigin() throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    let foreign: [String?] = [
      nil, "null", "", "http://evil.example", site.origin + ".evil.example", site.origin + "/", "http://localhost",
      site.origin.replacingOccurrences(of: "http:", with: "https:"), site.origin.uppercased(), site.apple.baseURL,
      site.origin + "\r\nOrigin: http://evil.example", "http://evil.example\r\nOrigin: " + site.origin,
    ]
    try site.surviving {
      for origin in foreign {
        for target in ["/socket?foreign", "/open/socket?foreign"] {
          let response = try HTTPResponse.read(from: upgrade(target, origin: origin, cookie: cookie))
          #expect(response.status == 403, "\(origin ?? "none") \(target)")
        }
      }
      #expect(!site.upstream.requests.contains { $0.target.hasSuffix("?foreign") })
    }
  }

  @Test("A WebSocket without a session is 401 and reaches nobody")
  func noSession() throws {
    #expect(try HTTPResponse.read(from: upgrade("/socket?nobody", origin: site.origin)).status == 401)
    #expect(!site.upstream.requests.contains { $0.target == "/socket?nobody" })
  }

  @Test("A WebSocket ends when its session is signed out elsewhere; another user's goes on")
  func signOut() throws {
    let anna = try site.signedIn(as: "anna")
    let ben = try site.signedIn(as: "ben")
    let ending = try (0..<6).map { _ in try socket(of: anna) }
    let staying = try socket(of: ben)
    let response = try site.gateway.client.post(
      "/.auth/sign-out", form: [],
      fields: [("Cookie", try #require(try anna.cookieHeader(for: site.origin + "/"))), ("Origin", site.origin)])
    #expect([200, 204, 303].contains(response.status))
    // On whichever loop each of them is.
    for connection in ending { try connection.waitForClose() }
    try staying.send("still here")
    #expect(try staying.read(count: 10) == Array("still here".utf8))
  }

  @Test("An answer that streams ends when its session is signed out")
  func signOutOfEvents() throws {
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    let connection = try site.gateway.connect()
    try connection.send(
      "GET /events HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nCookie: \(cookie)\r\n\r\n")
    _ = try connection.read(through: "data: first\n\n")
    _ = try site.gateway.client.post(
      "/.auth/sign-out", form: [], fields: [("Cookie", cookie), ("Origin", site.origin)])
    let rest = try connection.readToEnd()
    #expect(!String(decoding: rest, as: UTF8.self).hasSuffix("0\r\n\r\n"), "a response cut off is not a whole one")
  }

  @Test("Data after an upgrade request is refused, and nothing of it arrives")
  func earlyBytes() throws {
    let anna = try site.signedIn()
    let cookie = try anna.cookieHeader(for: site.origin + "/")
    try site.surviving {
      let smuggled = "GET /admin HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n"
      let connection = try upgrade(origin: site.origin, cookie: cookie, more: smuggled)
      #expect(try HTTPResponse.read(from: connection).status == 400)
      try connection.waitForClose()
      #expect(!site.upstream.requests.contains { $0.target == "/admin" })
    }
  }

  @Test("Another upgrade is never passed on: the request is answered as if it had not asked")
  func otherUpgrades() throws {
    for proto in ["h2c", "h2c, websocket", "websocket, h2c", "TLS/1.0", "websocket2"] {
      site.upstream.forget()
      try site.surviving {
        let connection = try upgrade("/open/plain", to: proto, origin: site.origin, more: "")
        let response = try HTTPResponse.read(from: connection)
        #expect(response.status == 200, "\(proto)")
        let seen = try site.upstream.waitForRequest { $0.target == "/open/plain" }
        for name in ["Upgrade", "Connection", "HTTP2-Settings"] { #expect(!seen.fields.contains(name), "\(proto)") }
      }
    }
  }

  @Test("The application cannot switch protocols that nobody asked to switch")
  func unaskedSwitch() throws {
    let status = try site.surviving { try site.gateway.client.get("/open/switch").status }
    #expect(status == 502)
  }

  // MARK: Streams

  @Test("Events arrive as they are sent, one by one")
  func events() throws {
    let gates = [Gate(), Gate()]
    StreamingApplication.gates.update { $0 = gates }
    defer { for gate in gates { gate.open() } }
    let connection = try site.gateway.connect()
    try connection.send("GET /open/events HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    let head = try MessageHead(connection.read(through: "\r\n\r\n"))
    #expect(head.fields["Content-Type"] == "text/event-stream")
    _ = try connection.read(through: "data: first\n\n")
    gates[0].open()
    _ = try connection.read(through: "data: second\n\n")
    gates[1].open()
    _ = try connection.read(through: "data: third\n\n")
    _ = try connection.read(through: "0\r\n\r\n")
  }

  @Test("A long poll is waited for, while others are served")
  func longPoll() throws {
    let gate = Gate()
    StreamingApplication.gates.update { $0 = [gate] }
    defer { gate.open() }
    let connection = try site.gateway.connect()
    try connection.send("GET /open/poll HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    _ = try site.upstream.waitForRequest { $0.target == "/open/poll" }
    for _ in 0..<10 { #expect(try site.gateway.client.get("/open/beside").status == 200) }
    gate.open()
    #expect(try HTTPResponse.read(from: connection).text == "at last")
  }
}

@SystemActor
@Suite("Tunnels that the application ends")
struct EndedTunnelTests {
  @Test("All that the application has sent before its end arrives, though the client goes on sending")
  func arrives() throws {
    let size = 2 << 20
    let upstream = try RawUpstream { request, connection in
      try connection.send(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: "
          + "\(StreamingApplication.accept(request))\r\n\r\n")
      // One binary frame, and a Close frame (RFC 6455, 5.2).
      var frames: [UInt8] = [0x82, 0x7F]
      for shift in 0..<8 { frames.append(UInt8(truncatingIfNeeded: size >> (56 - 8 * shift))) }
      frames += [UInt8](repeating: 0x78, count: size)
      frames += [0x88, 0x02, 0x03, 0xE8]
      try connection.send(frames, by: .seconds(60))
      connection.endSending()
      _ = try? connection.readToEnd(by: .seconds(60))
    }
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let client = try TCPConnection(port: gateway.configuration.port, receiveBuffer: 65_536)
    defer { client.close() }
    try client.openWebSocket(
      gateway.client.authority, target: "/", fields: ["Origin: http://\(gateway.client.authority)"])
    _ = try client.read(count: 10)
    for _ in 0..<size / 16_384 {
      // A masked frame of four bytes.
      try client.send([0x82, 0x84, 0, 0, 0, 0, 1, 2, 3, 4])
      #expect(try client.read(count: 16_384).allSatisfy { $0 == 0x78 })
      usleep(2_000)
    }
    #expect(try client.read(count: 4) == [0x88, 0x02, 0x03, 0xE8])
  }
}

/// An application that streams.
enum StreamingApplication {
  /// Held shut by tests that want to see half a stream.
  static let gates = Watched<[Gate]>([])

  /// Returns the response to a WebSocket's key (RFC 6455, 4.2.2).
  static func accept(_ request: RawUpstream.Request) -> String {
    let key = (request.fields["Sec-WebSocket-Key"] ?? "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    return Data(Insecure.SHA1.hash(data: Data(key.utf8))).base64EncodedString()
  }

  static let answer: RawUpstream.RequestHandler = { request, connection in
    switch request.target {
    case "/socket", "/socket?whole", "/socket?forged":
      guard request.fields["Upgrade"] == "websocket" else { return try RawUpstream.greet(request, connection) }
      try connection.send(
        """
        HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Accept: \(request.target.hasSuffix("forged") ? "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" : accept(request))\r\n\r\n
        """)
      while true {
        let bytes = try connection.readSome(by: .seconds(600))
        if bytes.isEmpty || bytes == Array("bye".utf8) { return connection.close() }
        try connection.send(bytes)
      }
    case "/events", "/open/events":
      try connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: first\n\n\r\n"
      )
      if request.target == "/events" {
        _ = try connection.readSome(by: .seconds(600))
        return
      }
      let held = gates.current
      try held[0].wait()
      try connection.send("e\r\ndata: second\n\n\r\n")
      try held[1].wait()
      try connection.send("d\r\ndata: third\n\n\r\n0\r\n\r\n")
    case "/open/required":
      try connection.send(
        RawUpstream.response("426 Upgrade Required", fields: ["Connection: Upgrade", "Upgrade: websocket"]))
    case "/open/poll":
      try gates.current[0].wait()
      try connection.send(RawUpstream.response(body: "at last"))
    case "/waiting": _ = try connection.readSome(by: .seconds(600))
    case "/open/switch":
      try connection.send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
    default: try RawUpstream.greet(request, connection)
    }
  }
}
