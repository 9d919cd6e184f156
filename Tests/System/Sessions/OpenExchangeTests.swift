import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// Exchanges that are open when their session ends, or when their request would no longer be let through.
//
// - Lifetime, idle time-out, the end of the grace and a reload end WebSockets and streams, over HTTP/1.1 and HTTP/2.
// - A WebSocket is told by a Close frame with 1008; a request without a response is refused; a response is cut off.
// - What counts as use of a session: data frames from the client; not pings, not what the application sends.
// - Whoever only holds a WebSocket open is checked with Apple all the same, and is signed out when Apple says so.
// - A request without a session on a public route goes on, until a reload closes the route to it.

@SystemActor
@Suite("Open exchanges end with their session")
struct OpenExchangeTests {
  private static let hour = 3_600
  /// A Close frame with status 1008, "policy violation" (RFC 6455, 7.4.1).
  private static let forbidden: [UInt8] = [0x88, 0x02, 0x03, 0xF0]
  /// Frames of a client, masked with zeroes.
  private static let data: [UInt8] = [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]
  private static let ping: [UInt8] = [0x89, 0x80, 0, 0, 0, 0]

  private func site(adjust: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Site {
    try Site(fakeClock: true, upstream: StreamingApplication.answer) {
      $0.acceptHTTP2()
      $0["listen", "workers"] = "2"
      $0["log", "format"] = "\"json\""
      $0["session", "lifetime"] = "\"400h\""
      $0["session", "idle_timeout"] = "\"300h\""
      $0.ending = "[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
      adjust(&$0)
    }
  }

  private func cookie(_ visitor: Visitor, _ site: Site) throws -> String {
    try #require(try visitor.cookieHeader(for: site.origin + "/"))
  }

  private func events(
    _ target: String = "/events", of visitor: Visitor? = nil, _ site: Site, more: String = ""
  ) throws -> TCPConnection {
    let connection = try site.gateway.connect()
    let fields = (try visitor.map { "Cookie: \(try cookie($0, site))\r\n" } ?? "") + more
    try connection.send("GET \(target) HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\(fields)\r\n")
    _ = try connection.read(through: "data: first\n\n")
    return connection
  }

  /// A client of HTTP/2.
  private func client(_ scenario: String..., of visitor: Visitor, _ site: Site) throws -> ServerProcess {
    try ServerProcess(
      "/usr/bin/python3",
      [
        Machine.packageRoot.appending(path: "Tests/System/HTTP2/client.py").path,
        "\(site.gateway.configuration.port)",
      ] + scenario + ["origin:\(site.origin)", "cookie:\(try cookie(visitor, site))"])
  }

  /// A client of HTTP/2 that has said that its stream has begun.
  private func stream(_ scenario: String, _ path: String, of visitor: Visitor, _ site: Site) throws -> ServerProcess {
    let process = try client(scenario, path, of: visitor, site)
    _ = try process.waitForLine(containing: "\"begun\": true")
    return process
  }

  private struct End: Decodable {
    var fields: [[String]]?
    var reset: Int?
    var done: Bool
    var body: String?
  }

  /// The end of the stream of an HTTP/2 client.
  private func end(of process: ServerProcess) throws -> End {
    let exit = try process.waitForExit()
    try process.waitForEndOfOutput()
    guard exit == .code(0), let line = process.standardOutput.split(separator: "\n").last else {
      throw HarnessError.malformed(process.standardError)
    }
    return try JSONDecoder().decode(End.self, from: Data(line.utf8))
  }

  private func expectForbidden(_ socket: TCPConnection, _ comment: Comment? = nil) throws {
    #expect(try socket.readToEnd() == Self.forbidden, comment)
  }

  private func expectCutOff(_ events: TCPConnection, _ comment: Comment? = nil) throws {
    let rest = String(decoding: try events.readToEnd(), as: UTF8.self)
    #expect(!rest.hasSuffix("0\r\n\r\n"), comment)
  }

  private func reload(_ site: Site, _ change: (inout GatewayConfiguration) -> Void) throws {
    var configuration = site.gateway.configuration
    change(&configuration)
    let words = "configuration reloaded"
    let before = String(decoding: site.gateway.log, as: UTF8.self).components(separatedBy: words).count - 1
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try site.gateway.waitForLog(words, count: before + 1)
  }

  @Test("A session's lifetime ends its WebSockets and streams in both versions of HTTP, and nobody else's")
  func lifetime() throws {
    let site = try site {
      $0["session", "lifetime"] = "\"1h\""
      $0["session", "idle_timeout"] = "\"1h\""
    }
    defer { site.stop() }
    StreamingApplication.gates.update { $0 = [Gate(), Gate()] }
    defer { for gate in StreamingApplication.gates.current { gate.open() } }
    let anna = try site.signedIn()
    let (socket, events) = (try site.gateway.webSocket(of: anna, site), try events(of: anna, site))
    let stranger = try self.events("/open/events", site)
    let tunnel = try stream("listen", "/socket", of: anna, site)
    defer { tunnel.stop() }
    let answer = try stream("hang", "/events", of: anna, site)
    defer { answer.stop() }
    try site.setClock(secondsAhead: Self.hour - 60)
    // In use, so that it does not end for being idle.
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    let ben = try site.signedIn(as: "ben")
    let other = try site.gateway.webSocket(of: ben, site)
    try site.setClock(secondsAhead: Self.hour + 60)
    try expectForbidden(socket)
    try expectCutOff(events)
    let ended = try end(of: tunnel)
    #expect(ended.done && ended.body?.unicodeScalars.map { UInt8($0.value) } == Self.forbidden)
    let cut = try end(of: answer)
    #expect(!cut.done && cut.reset != nil)
    try other.send(Self.data)
    #expect(try other.read(count: Self.data.count) == Self.data)
    for gate in StreamingApplication.gates.current { gate.open() }
    _ = try stranger.read(through: "0\r\n\r\n")
  }

  @Test("A request that the application has not answered when its session ends gets 401, in both versions of HTTP")
  func unanswered() throws {
    let site = try site {
      $0["session", "lifetime"] = "\"1h\""
      $0["session", "idle_timeout"] = "\"1h\""
    }
    defer { site.stop() }
    let anna = try site.signedIn()
    let http1 = try site.gateway.connect()
    let fields = "Host: \(site.gateway.client.authority)\r\nCookie: \(try cookie(anna, site))"
    try http1.send("GET /waiting HTTP/1.1\r\n\(fields)\r\n\r\n")
    let http2 = try client("get", "/waiting", of: anna, site)
    defer { http2.stop() }
    try poll("both requests upstream") {
      site.upstream.requests.filter { $0.target == "/waiting" }.count == 2 ? () : nil
    }
    try site.setClock(secondsAhead: Self.hour + 60)
    let refused = try HTTPResponse.read(from: http1)
    #expect(refused.status == 401 && refused.head.fields["WWW-Authenticate"] == "Bearer", "\(refused.text)")
    #expect(refused.text.contains("sign_in_required"))
    let end = try end(of: http2)
    #expect(end.fields?.first == [":status", "401"] && end.done && end.body?.contains("sign_in_required") == true)
    // The connection serves the next request.
    try http1.send("GET /open/page HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: http1).status == 200)
  }

  @Test("An idle session loses its WebSocket though it pings and is sent to; data frames keep a session in use")
  func idle() throws {
    let site = try site { $0["session", "idle_timeout"] = "\"1h\"" }
    defer { site.stop() }
    let busy = try site.gateway.webSocket(of: try site.signedIn(), site)
    let idle = try site.gateway.webSocket(of: try site.signedIn(as: "ben"), site)
    try site.setClock(secondsAhead: Self.hour * 2 / 3)
    try busy.send(Self.data)
    // The application's echo is what it sends.
    try idle.send(Self.ping)
    #expect(try busy.read(count: Self.data.count) == Self.data)
    #expect(try idle.read(count: Self.ping.count) == Self.ping)
    try site.setClock(secondsAhead: Self.hour * 4 / 3)
    try expectForbidden(idle)
    try busy.send(Self.data)
    #expect(try busy.read(count: Self.data.count) == Self.data)
  }

  @Test("A user with nothing but an open WebSocket is revalidated when due, and signed out when Apple says so")
  func revalidation() throws {
    let site = try site()
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try site.setClock(secondsAhead: 36 * Self.hour)
    // Told by the gateway, not by Apple: before that the clock of the test must not move on.
    try site.gateway.waitForLog("\"verdict\":\"good\"")
    #expect(try site.apple.checks(of: "anna", kind: "refresh") == 1)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try site.apple.revoke("anna")
    try site.setClock(secondsAhead: 72 * Self.hour)
    try expectForbidden(socket)
    #expect(try site.apple.tokenRequests("refresh_token").count == 2)
  }

  @Test("The end of the revalidation grace ends an open WebSocket")
  func grace() throws {
    let site = try site()
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try site.apple.fault("token", "status", ["grant_type": "refresh_token", "status": 503])
    try site.setClock(secondsAhead: 36 * Self.hour)
    try site.gateway.waitForLog("\"verdict\":\"unavailable\"")
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try site.setClock(secondsAhead: 200 * Self.hour)
    try expectForbidden(socket)
  }

  @Test("The end of the store's outage grace ends an open WebSocket")
  func outageGrace() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try site {
      $0["store", "url"] = "\"\(url)\""
      $0["store", "outage_grace"] = "\"6s\""
    }
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try server.stop()
    try expectForbidden(socket)
  }

  @Test("A reload ends what its request would no longer be let through for, and nothing else")
  func reloadedRules() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let (socket, events) = (try site.gateway.webSocket(of: anna, site), try events(of: anna, site))
    try reload(site) {
      $0.ending += "\n[[route]]\npath = \"/events\"\nallow_emails = [\"somebody.else@example.com\"]\n"
    }
    try expectCutOff(events)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try reload(site) { $0.ending += "\n[[route]]\npath = \"/socket\"\naccess = \"deny\"\n" }
    try expectForbidden(socket)
  }

  @Test("A reload ends a request whose Destination its user may no longer write to")
  func reloadedDestination() throws {
    let site = try site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let events = try ["/files/a", "\(site.origin)/closed/a"].map {
      try self.events(of: anna, site, more: "Destination: \($0)\r\n")
    }
    try reload(site) { $0.ending += "\n[[route]]\npath = \"/closed/\"\naccess = \"deny\"\n" }
    try expectCutOff(events[1])
    try reload(site) { $0.ending += "\n[[route]]\npath = \"/files/\"\naccess = \"deny\"\n" }
    try expectCutOff(events[0])
  }

  @Test("A reload ends streams without a session whose client is not in the networks that it adds to a public route")
  func reloadedNetworks() throws {
    let route = "[[route]]\npath = \"/\"\naccess = \"public\"\n"
    let site = try site { $0.ending = route }
    defer { site.stop() }
    let (events, socket) = (try self.events("/events", site), try anonymousSocket(site))
    try reload(site) { $0.ending = route + "networks = [\"127.0.0.0/8\", \"::1\"]\n" }
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try reload(site) { $0.ending = route + "networks = [\"10.0.0.0/8\"]\n" }
    try expectCutOff(events)
    try expectForbidden(socket)
    #expect(try site.gateway.client.get("/events").status == 403)
  }

  /// A WebSocket of nobody on the public route.
  private func anonymousSocket(_ site: Site) throws -> TCPConnection {
    let connection = try site.gateway.connect()
    try connection.openWebSocket(site.gateway.client.authority, fields: ["Origin: \(site.origin)"])
    return connection
  }

  @Test("A secret that is taken away ends what it proved")
  func removedSecret() throws {
    let site = try site()
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try site.gateway.directory.write("the new secret, long enough to be one\n", to: "new.key")
    try reload(site) { $0["session", "secret_files"] = "[\"new.key\", \"session.key\"]" }
    // Tokens that the old one seals would be lost with it, and the reload would be refused.
    let resealed = try ServerProcess.run(
      Machine.binary("cordon"), ["store", "reseal", "--config", site.gateway.file],
      directory: site.gateway.directory.path)
    #expect(resealed.exit == .code(0), "\(resealed)")
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try reload(site) { $0["session", "secret_files"] = "[\"new.key\"]" }
    try expectForbidden(socket)
  }

  @Test("A WebSocket of HTTP/1.1 whose client half-closes after its Close frame gets the application's")
  func halfClosed() throws {
    let site = try site()
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    let close: [UInt8] = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8]
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    try socket.send(close)
    socket.endSending()
    #expect(try socket.readToEnd() == close)
  }

  @Test("A tunnel in which nothing moves ends after upstream.timeouts.tunnel")
  func silentTunnel() throws {
    let site = try site { $0["upstream.timeouts", "tunnel"] = "\"3s\"" }
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    #expect(try socket.readToEnd() == [])
  }

  @Test("A tunnel of one application ends after upstreams.timeouts.tunnel")
  func silentTunnelOfOneApplication() throws {
    let site = try site {
      $0.ending = """
        [[upstreams]]
        name = "live"
        url = \($0["upstream", "url"] ?? "")
        [upstreams.timeouts]
        tunnel = "3s"
        [[route]]
        path = "/"
        upstream = "live"
        """
    }
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    try socket.send(Self.data)
    #expect(try socket.read(count: Self.data.count) == Self.data)
    #expect(try socket.readToEnd() == [])
  }

  @Test("Sockets of clients and of applications are kept alive by the system")
  func keepAlive() throws {
    let site = try site()
    defer { site.stop() }
    let socket = try site.gateway.webSocket(of: try site.signedIn(), site)
    defer { socket.close() }
    for (local, remote) in [(site.gateway.configuration.port, nil), (nil, site.upstream.port)] as [(UInt16?, UInt16?)] {
      // Data that waits for its acknowledgement has another timer, for a moment.
      try poll("the timer of keep-alive") {
        let found = try ListedSocket.all().contains {
          $0.state == 1 && $0.timer == 2 && $0.localPort == local ?? $0.localPort
            && $0.remotePort == remote ?? $0.remotePort
        }
        return found ? () : nil
      }
    }
  }
}
