import Foundation
import Testing

// HTTP/2 clients that wear the gateway out, wait for ever, or take nothing (hostile.py, with frames of its own making).
//
// - A hundred thousand streams given up at once, and every flood of frames that carry nothing: told to calm down,
//   others are served meanwhile, memory stays.
// - A client that takes nothing of hundreds of answers holds a budget for each connection, not each answer.
// - A head, a body, a connection and an answer that do not go on are ended in their time; so is a socket nobody reads.
// - A tunnel that is announced with a length leaves no connection behind that swallows the next request.
// - What the gateway answers itself: 421, 413, 100. How it ends: what is under way is finished, nothing new begins.

@SystemActor
@Suite("HTTP/2 under attack", .serialized)
struct HTTP2HostileTests {
  private nonisolated static let file = Machine.packageRoot.appending(path: "Tests/System/HTTP2/hostile.py").path
  private nonisolated static let large = [UInt8](repeating: 0x78, count: 4 << 20)
  private nonisolated static let gate = Watched(false)

  private nonisolated static let answer: RawUpstream.RequestHandler = { request, connection in
    switch request.target {
    case "/public/large":
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(large.count)\r\n\r\n")
      try connection.send(large, by: .seconds(60))
    case "/public/wait":
      try gate.take("the gate to open", by: .seconds(60)) { $0 ? () : nil }
      try connection.send(RawUpstream.response(body: "at last"))
    default: try RawUpstream.greet(request, connection)
    }
  }

  private func withGateway(
    _ adjust: (inout GatewayConfiguration) -> Void = { _ in }, _ body: (GatewayProcess, RawUpstream) throws -> Void
  ) throws {
    let upstream = try RawUpstream(Self.answer)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0.acceptHTTP2()
      adjust(&$0)
    }
    defer { gateway.stop() }
    try body(gateway, upstream)
    #expect(!upstream.requests.contains { $0.target.contains("never") })
  }

  /// Lets all but one request wait for a connection to the application, and their bodies come at any rate.
  private static func makeRequestsWait(_ configuration: inout GatewayConfiguration) {
    configuration["upstream", "max_connections"] = "1"
    configuration["upstream", "queue"] = "100000"
    configuration["upstream.timeouts", "connect"] = "\"2m\""
    configuration["listen.timeouts", "body_progress"] = "\"2m\""
    configuration["listen.limits", "body_rate"] = "0"
  }

  private func start(_ gateway: GatewayProcess, _ arguments: [String]) throws -> ServerProcess {
    try ServerProcess("/usr/bin/python3", [Self.file, "\(gateway.configuration.port)"] + arguments)
  }

  /// Runs a scenario to its end.
  private func run<Answer: Decodable>(
    _ gateway: GatewayProcess, _ arguments: String..., as type: Answer.Type = Answer.self
  ) throws -> Answer {
    try last(start(gateway, arguments))
  }

  /// The last line of a scenario.
  private func last<Answer: Decodable>(_ process: ServerProcess) throws -> Answer {
    defer { process.stop() }
    let exit = try process.waitForExit(by: .seconds(60))
    try process.waitForEndOfOutput()
    guard exit == .code(0), let line = process.standardOutput.split(separator: "\n").last else {
      throw HarnessError.malformed(process.standardError)
    }
    return try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
  }

  struct End: Decodable {
    var told: Int?
    var open: Bool?
    var sent: Int?
  }

  struct Nothing: Decodable {}

  @Test("A client that gives up a hundred thousand streams is disconnected; an honest one is served, and memory stays")
  func rapidResets() throws {
    struct Resets: Decodable {
      var sent: Int
      var honest: Int
      var connections: Int
      var told: [Int]
    }
    try withGateway { gateway, upstream in
      for _ in 0..<20 { _ = try gateway.client.get("/") }
      let before = try gateway.writtenKiB
      let resets: Resets = try gateway.surviving { try run(gateway, "resets", "100000") }
      #expect(resets.sent == 100_000)
      #expect(resets.honest == resets.connections)
      #expect(resets.told == [11])
      #expect(try gateway.writtenKiB - before < 50 * 1024)
      // What is given up in the same breath costs the application nothing: these are the honest client's.
      #expect(upstream.requests.count { $0.target == "/public/reset" } < resets.sent / 100)
    }
  }

  private static let floods = [
    ["settings"], ["ping"], ["empty data"], ["padding"], ["window updates"], ["priorities"], ["unknown frames"],
    ["continuation"], ["long continuation"], ["made_resets"], ["bomb"], ["small_bomb"], ["late", "a head"],
    ["late", "an empty end"], ["late", "a head and a PING"],
  ]

  @Test("A flood is ended by a word (ENHANCE_YOUR_CALM), and the next request is served")
  func floods() throws {
    try withGateway { gateway, _ in
      let before = try gateway.writtenKiB
      for name in Self.floods {
        let end: End = try gateway.surviving { try last(start(gateway, name)) }
        #expect(end.told == 11 && end.open != true, "\(name)")
      }
      #expect(try gateway.writtenKiB - before < 20 * 1024)
    }
  }

  @Test(
    "A client that makes the gateway reset its streams is told to calm down, by whichever fault",
    arguments: [
      "more content than announced", "less content than announced", "a window of more than there can be",
      "trailers that do not end", "a capital letter in trailers",
    ])
  func madeResets(fault: String) throws {
    try withGateway { gateway, _ in
      let end: End = try gateway.surviving { try run(gateway, "made_resets", fault) }
      #expect(end.told == 11)
    }
  }

  @Test("An announced length of a tunnel hides no request in the next one's body")
  func lengthOfTunnel() throws {
    // As applications are: what is announced of a body is thrown away, whoever's bytes those are.
    let heads = Watched<[String]>([])
    let upstream = try RawUpstream(connections: { connection, _ in
      while true {
        var text = String(decoding: try connection.read(through: "\r\n\r\n", by: .seconds(600)), as: UTF8.self)
        while text.hasPrefix("\r\n") { text.removeFirst() }
        guard !text.isEmpty else { continue }
        let head = try MessageHead(Array(text.utf8))
        heads.update { $0.append(text) }
        let isThere = !head.startLine.contains("/public/nothing")
        try connection.send(RawUpstream.response(isThere ? "200 OK" : "404 Not Found", body: "x"))
        if let length = head.fields["Content-Length"].flatMap({ Int($0) }) { try connection.discard(count: length) }
      }
    })
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0.acceptHTTP2()
      $0["listen", "workers"] = "1"
    }
    defer { gateway.stop() }
    let _: Nothing = try gateway.surviving { try run(gateway, "length_of_tunnel") }
    #expect(heads.current.contains { $0.contains("POST /public/fine") })
    for head in heads.current {
      for word in ["/public/never", "/public/nothing", "mallory"] { #expect(!head.contains(word), "\(head)") }
    }
  }

  @Test("Content beyond its announced length reaches no application, however the records of TLS are cut")
  func contentBeyondItsLength() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TLSFolder()
    let gateway = try folder.gateway(
      before: upstream, ending: "\n[[route]]\npath = \"/public/\"\naccess = \"public\"\n")
    defer { gateway.stop() }
    // One record in two pieces: what it holds comes in several reads at once, with nothing sent between them.
    try folder.run(
      """
      port, peers = int(sys.argv[1]), sys.argv[2]
      sys.path.append(peers)
      from peer import *
      hidden = b"GET /private HTTP/1.1\\r\\nHost: x\\r\\nX-Forwarded-User: root\\r\\n\\r\\n"
      for first in [2000, 6000, 14000, 16000]:
        for place in [4096, 8192, 12288]:
          cut = Records(port, context(ssl.TLSVersion.TLSv1_3, alpn=["h2"]))
          peer = Peer(port, connection=cut)
          fields = lambda method, more=(): peer.fields(method, "/public/fine", more, scheme="https")
          peer.send(peer.headers(1, fields("GET")))
          peer.answered(1)
          head = peer.headers(3, fields("POST", [("content-length", "5")]), end=False)
          body = b"A" * (place - len(head) - 9) + b"hello" + hidden
          body += b"B" * (16384 - len(head) - 9 - len(body))
          cut.sendall(head + raw(DATA, 0, 3, body), first)
          peer.stream_error(3, PROTOCOL_ERROR)
          cut.socket.close()
      print("ok")
      """,
      ["\(gateway.configuration.port)", Machine.packageRoot.appending(path: "Tests/System/HTTP2").path])
    #expect(upstream.requests.contains { $0.target == "/public/fine" })
    for request in upstream.requests { #expect(request.target == "/public/fine", "\(request.head.startLine)") }
  }

  @Test("A client that never reads its socket is ended, whatever room it has promised")
  func neverReads() throws {
    try withGateway {
      $0["listen.timeouts", "write_progress"] = "\"500ms\""
    } _: { gateway, upstream in
      let process = try start(gateway, ["never_reads"])
      defer { process.stop() }
      _ = try upstream.waitForRequest { $0.target == "/public/large" }
      try poll("the gateway to close the connection") {
        try gateway.admin.get("/metrics").text.contains("cordon_client_connections_open 0\n") ? () : nil
      }
      #expect(process.isRunning)
      #expect(try gateway.client.get("/").status == 200)
    }
  }

  @Test("A client that takes nothing of hundreds of answers costs a budget a connection", arguments: [65_535, 0])
  func noReader(window: Int) throws {
    try withGateway { gateway, upstream in
      for _ in 0..<20 { _ = try gateway.client.get("/") }
      let before = try gateway.writtenKiB
      let process = try start(gateway, ["no_reader", "\(window)", "4"])
      defer { process.stop() }
      try poll("the answers to begin", by: .seconds(120)) {
        upstream.requests.count { $0.target == "/public/large" } >= 400 ? () : nil
      }
      var most = 0
      // As much as comes is there when nothing more comes.
      var last = -1
      try poll("memory to stay", by: .seconds(120)) {
        let now = try gateway.writtenKiB - before
        most = max(most, now)
        defer { last = now }
        return now == last ? () : nil
      }
      // A mebibyte for each connection, and one read of 64 KiB for each of its streams.
      #expect(most < 4 * 8 * 1024, "\(most) KiB")
      #expect(try gateway.client.get("/").status == 200)
    }
  }

  @Test("Answers that nobody takes have one limit for all connections, and honest clients are served")
  func noReaders() throws {
    try withGateway { gateway, upstream in
      for _ in 0..<20 { _ = try gateway.client.get("/") }
      let before = try gateway.writtenKiB
      let process = try start(gateway, ["no_reader", "0", "200", "16"])
      defer { process.stop() }
      try poll("the answers to begin", by: .seconds(120)) {
        upstream.requests.count { $0.target == "/public/large" } >= 3_200 ? () : nil
      }
      var most = 0
      var grewAt = Date()
      try poll("memory to stay", by: .seconds(120)) {
        let now = try gateway.writtenKiB - before
        if now > most { (most, grewAt) = (now, Date()) }
        return grewAt.timeIntervalSinceNow < -2 ? () : nil
      }
      // 64 MiB, 64 KiB for each connection, and what 3,200 requests need besides; a mebibyte each would be 300 MiB.
      #expect(most < 160 << 10, "\(most) KiB")
      #expect(try gateway.client.get("/").status == 200)
    }
  }

  @Test("Bodies that no application takes have one limit for all connections; new ones may send little meanwhile")
  func noTakers() throws {
    struct Sent: Decodable { var ended, told: Int }
    struct First: Decodable { var first: Int }
    struct Then: Decodable { var then: Int }
    try withGateway {
      Self.makeRequestsWait(&$0)
    } _: { gateway, _ in
      for _ in 0..<20 { _ = try gateway.client.get("/") }
      let before = try gateway.writtenKiB
      let takers = try start(gateway, ["no_taker", "250"])
      defer { takers.stop() }
      // 240 MB, of which 64 MiB and 64 KiB for each connection may wait.
      let sent = try JSONDecoder().decode(
        Sent.self, from: Data(takers.waitForLine(containing: "sent", by: .seconds(120)).utf8))
      #expect(sent.ended > 0 && sent.told == sent.ended)
      #expect(try gateway.writtenKiB - before < 160 << 10)
      _ = try gateway.process.waitForLine(containing: "request bodies wait for the application")
      let late = try start(gateway, ["window"])
      defer { late.stop() }
      let first = try JSONDecoder().decode(First.self, from: Data(late.waitForLine(containing: "first").utf8))
      #expect(first.first == 65_535)
      takers.stop()
      let then: Then = try last(late)
      #expect(then.then == 1 << 20)
      #expect(try gateway.client.get("/").status == 200)
    }
  }

  @Test("A byte of each of two thousand bodies that wait keeps none of the buffers that they were read into")
  func smallParts() throws {
    try withGateway {
      Self.makeRequestsWait(&$0)
    } _: { gateway, _ in
      for _ in 0..<20 { _ = try gateway.client.get("/") }
      let before = try gateway.writtenKiB
      let parts = try start(gateway, ["small_parts", "20"])
      defer { parts.stop() }
      _ = try parts.waitForLine(containing: "read", by: .seconds(120))
      #expect(try gateway.writtenKiB - before < 64 << 10)
    }
  }

  @Test("A stalled head, body, connection or response is ended")
  func timeouts() throws {
    struct Status: Decodable { var status: String }
    try withGateway {
      for key in ["head", "body_progress", "idle", "write_progress"] { $0["listen.timeouts", key] = "\"1s\"" }
    } _: { gateway, _ in
      let head: End = try gateway.surviving { try run(gateway, "half_head") }
      #expect(head.told == 11 && head.open == false)
      let idle: End = try gateway.surviving { try run(gateway, "idle") }
      #expect(idle.told == nil && idle.open == false)
      let body: Status = try gateway.surviving { try run(gateway, "half_body") }
      #expect(body.status == "408")
      let _: Nothing = try gateway.surviving { try run(gateway, "closed_window") }
    }
    // Longer than an idle connection keeps its memory.
    try withGateway {
      $0["listen.timeouts", "idle"] = "\"1500ms\""
    } _: { gateway, _ in
      let idle: End = try gateway.surviving { try run(gateway, "idle") }
      #expect(idle.told == nil && idle.open == false)
    }
    try withGateway {
      $0["listen.timeouts", "head"] = "\"3s\""
    } _: { gateway, _ in
      let head: End = try gateway.surviving { try run(gateway, "stays") }
      #expect(head.told == 11 && head.open == false)
    }
  }

  @Test("Another site is 421, a body too large 413, and a body that waits is asked for; the connection goes on")
  func ownAnswers() throws {
    struct First: Decodable { var first: String }
    try withGateway {
      $0["listen.limits", "body_size"] = "10000"
    } _: { gateway, upstream in
      let _: Nothing = try gateway.surviving { try run(gateway, "refused") }
      let first: First = try run(gateway, "expect")
      #expect(first.first == "100")
      #expect(try upstream.waitForRequest { $0.target == "/public/fine" }.body == Array("body".utf8))
    }
  }

  @Test("A gateway that ends says farewell twice, finishes what is under way, and begins nothing more")
  func drain() throws {
    struct Drain: Decodable {
      var farewells: [[Int]]
      var answered: Bool
      var late: Bool
    }
    Self.gate.update { $0 = false }
    try withGateway { gateway, upstream in
      let process = try start(gateway, ["drain"])
      _ = try upstream.waitForRequest { $0.target == "/public/wait" }
      gateway.process.signal(SIGTERM)
      _ = try process.waitForLine(containing: "told")
      Self.gate.update { $0 = true }
      let drain: Drain = try last(process)
      #expect(drain.farewells == [[0x7FFF_FFFF, 0], [1, 0]])
      #expect(drain.answered && !drain.late)
      #expect(try gateway.process.waitForExit() == .code(0))
    }
  }
}
