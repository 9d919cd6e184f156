import Foundation
import Testing

// Limits and time-outs, and what the gateway says when one is reached.
//
// - Every error of the gateway's own is a page for who accepts pages, and JSON for everybody else.
// - How long a head, a field list and a target may be is for the configuration to say.
// - A slow head, a silent body and a trickling one are ended with 408; a fast one beside them is not.
// - More connections than the limit are told 503 at once, and the others are served on.
// - A process without descriptors serves again when there are some.

@SystemActor
@Suite("Limits and time-outs")
struct LimitsTests {
  /// Answers by target: as usual, not at all, or by closing.
  private static let moody: RawUpstream.RequestHandler = { request, connection in
    switch request.target {
    case "/silent": _ = try connection.readSome()
    case "/gone": connection.close()
    default: try RawUpstream.greet(request, connection)
    }
  }

  /// A request and the status of its response; `{}` marks the place of further fields.
  private static let own: [(status: Int, request: String)] = [
    (400, "GET /%zz HTTP/1.1\r\nHost: HOST\r\n{}\r\n"), (400, "GET / HTTP/1.1\r\nHost: HOST\r\nA : b\r\n{}\r\n"),
    (408, "GET / HTTP/1.1\r\nHost: HOST\r\n{}X-Never-"),
    (408, "POST / HTTP/1.1\r\nHost: HOST\r\n{}Content-Length: 5\r\n\r\nab"),
    (413, "POST / HTTP/1.1\r\nHost: HOST\r\n{}Content-Length: 10001\r\n\r\n"),
    (
      413,
      "POST / HTTP/1.1\r\nHost: HOST\r\n{}Transfer-Encoding: chunked\r\n\r\n2711\r\n" + long(10_001) + "\r\n0\r\n\r\n"
    ),
    (414, "GET /\(long(9_000)) HTTP/1.1\r\nHost: HOST\r\n{}\r\n"),
    (421, "GET / HTTP/1.1\r\nHost: other.example\r\n{}\r\n"),
    (431, "GET / HTTP/1.1\r\nHost: HOST\r\n{}X-Long: \(long(40_000))\r\n\r\n"),
    (501, "POST / HTTP/1.1\r\nHost: HOST\r\n{}Transfer-Encoding: gzip, chunked\r\n\r\n"),
    (502, "GET /gone HTTP/1.1\r\nHost: HOST\r\n{}\r\n"), (504, "GET /silent HTTP/1.1\r\nHost: HOST\r\n{}\r\n"),
  ]

  private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("Our own errors are a page for people and JSON for programs, with the request's identifier")
  func ownErrors() throws {
    let upstream = try RawUpstream(Self.moody)
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { configuration in
      configuration["listen.limits", "body_size"] = "10000"
      configuration["listen.timeouts", "head"] = "\"1500ms\""
      configuration["listen.timeouts", "body_progress"] = "\"1500ms\""
      configuration.ending += """
        [[upstreams]]
        name = "silent"
        url = "http://127.0.0.1:\(upstream.port)"
        [upstreams.timeouts]
        first_byte = "500ms"
        [[route]]
        path = "/silent"
        access = "public"
        upstream = "silent"
        """
    }
    defer { gateway.stop() }
    for (status, text) in Self.own {
      for (accept, type) in [
        ("text/html", "text/html"), ("application/json", "application/json"), (nil, "application/json"),
      ] {
        try gateway.surviving {
          let connection = try gateway.connect()
          let request = text.replacingOccurrences(of: "HOST", with: gateway.client.authority)
            .replacingOccurrences(of: "{}", with: accept.map { "Accept: \($0)\r\n" } ?? "")
          try? connection.send(request)
          let response = try HTTPResponse.read(from: connection)
          let shown = "\(status) for \(accept ?? "nothing"): \(request.prefix(60))"
          #expect(response.status == status, "\(shown)")
          #expect(response.fields["Content-Type"]?.hasPrefix(type) == true, "\(shown)")
          let identifier = try #require(response.fields["X-Request-Id"])
          // What the gate itself refuses by the host or the path names no identifier in its text.
          if status != 421, !request.hasPrefix("GET /%") { #expect(response.text.contains(identifier), "\(shown)") }
          if type == "application/json" { #expect(try response.json()["error"] is String, "\(shown)") }
        }
      }
    }
    // Nothing of what was refused before it was whole has arrived.
    #expect(upstream.requests.allSatisfy { ["/honest", "/gone", "/silent"].contains($0.target) })
  }

  @Test(
    "A client that reads only after the whole of its upload gets the response that refused it",
    arguments: ["Content-Length: 33554432\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n2000000\r\n"])
  func refusedUpload(framing: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen.limits", "body_size"] = "10000" }
    defer { gateway.stop() }
    let connection = try gateway.connect()
    defer { connection.close() }
    try connection.send("POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\(framing)")
    // Longer in all than the gateway waits for a client that sends nothing.
    for _ in 0..<8 {
      try connection.send([UInt8](repeating: 0x78, count: 4 * 1_048_576))
      usleep(400_000)
    }
    #expect(try HTTPResponse.read(from: connection).status == 413)
  }

  @Test("The limits of a head are those of the configuration, and what keeps to them passes")
  func heads() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { configuration in
      configuration["listen.limits", "head_size"] = "\"2KiB\""
      configuration["listen.limits", "field_count"] = "10"
      configuration["listen.limits", "target_length"] = "500"
    }
    defer { gateway.stop() }
    let fields = { (count: Int, length: Int) in (0..<count).map { ("X-\($0)", Self.long(length)) } }
    // With Host and Connection there are two fields more.
    for (target, more, status) in [
      (499, fields(8, 100), 200), (501, [], 414), (1, fields(9, 1), 431), (1, fields(1, 1_800), 200),
      (1, fields(1, 2_100), 431),
    ] {
      let response = try gateway.client.get("/" + Self.long(target - 1), fields: more)
      #expect(response.status == status, "\(target) \(more.count)")
    }
    #expect(upstream.requests.count == 2)
  }

  @Test("A head that is too large with the gateway's own fields is refused with 431, a smaller one passes")
  func largestHead() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen.limits", "head_size"] = "\"65535B\"" }
    defer { gateway.stop() }
    for (length, status) in [(64_000, 200), (65_400, 431)] {
      let start = "GET / HTTP/1.1\r\nHost: localhost:\(gateway.configuration.port)\r\nX-Long: "
      let connection = try gateway.connect()
      try connection.send(start + Self.long(length - start.utf8.count) + "\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == status, "\(length)")
    }
    #expect(upstream.requests.count == 1)
  }

  @Test("A head that comes a byte at a time is ended with 408, and harms nobody else")
  func slowHead() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen.timeouts", "head"] = "\"3s\"" }
    defer { gateway.stop() }
    try gateway.surviving {
      let slow = try (0..<20).map { _ in try gateway.connect() }
      for connection in slow { try connection.send("GET / HTTP/1.1\r\nX-Slow: ") }
      #expect(try gateway.client.get("/beside").status == 200)
      for connection in slow { #expect(try trickle("x", into: connection).status == 408) }
    }
    #expect(upstream.requests.allSatisfy { $0.target != "/" })
  }

  @Test("A body that trickles is ended with 408; one that is slow but not too slow arrives")
  func trickledBody() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { configuration in
      configuration["listen.limits", "body_rate"] = "2000"
      configuration["listen.timeouts", "body_grace"] = "\"3s\""
    }
    defer { gateway.stop() }
    let head = "POST /upload HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 100000\r\n\r\n"
    try gateway.surviving {
      let connection = try gateway.connect()
      try connection.send(head)
      #expect(try trickle("x", into: connection).status == 408)
    }
    let connection = try gateway.connect()
    try connection.send(head)
    // 1,000 bytes at most every 20 ms: 50,000 a second, and never below the rate on average.
    for _ in 0..<100 {
      try connection.send([UInt8](repeating: 0x78, count: 1_000))
      _ = try? connection.readSome(by: .seconds(0.02))
    }
    #expect(try upstream.waitForRequest { $0.target == "/upload" }.body.count == 100_000)
  }

  /// Sends `byte` again and again, until there is an answer.
  private func trickle(_ byte: String, into connection: TCPConnection) throws -> HTTPResponse {
    let limit = Deadline.standard
    while connection.received.isEmpty, !limit.hasPassed {
      try? connection.send(byte)
      _ = try? connection.receive("an answer", by: .seconds(0.05)) { buffer, _ in buffer.isEmpty ? nil : () }
    }
    return try HTTPResponse.read(from: connection)
  }

  @Test("Beyond the limit of connections the answer is 503 at once; those within it are served on")
  func connectionLimit() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["listen.limits", "connections"] = "8"
      $0["headers", "X-Own"] = "\"of [headers]\""
    }
    defer { gateway.stop() }
    let request = "GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n"
    var within: [TCPConnection] = []
    for _ in 0..<8 {
      let connection = try gateway.connect()
      try connection.send(request)
      #expect(try HTTPResponse.read(from: connection).status == 200)
      within.append(connection)
    }
    var answered = 0
    for _ in 0..<100 {
      let connection = try gateway.connect()
      try? connection.send(request)
      // When many are turned away at once, some are closed without the answer.
      guard let response = try? HTTPResponse.read(from: connection) else { continue }
      answered += 1
      #expect(response.status == 503)
      #expect(response.fields["Connection"] == "close")
      #expect(response.fields["Retry-After"] != nil)
      #expect(response.fields["X-Own"] == "of [headers]")
      #expect(try response.json()["error"] as? String == "service_unavailable")
      try connection.waitForClose()
    }
    #expect(answered > 10)
    for connection in within {
      try connection.send(request)
      #expect(try HTTPResponse.read(from: connection).status == 200)
    }
    within[0].close()
    try poll("room for another connection") { try? gateway.client.get("/").status == 200 ? () : nil }
    #expect(gateway.process.isRunning)
  }

  @Test("A process without descriptors serves again as soon as there are some")
  func descriptorExhaustion() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream, wrapper: .descriptorLimit(64))
    defer { gateway.stop() }
    let pid = gateway.process.pid
    for round in 0..<3 {
      let held = try (0..<200).map { _ in try gateway.connect() }
      for connection in held {
        try? connection.send("GET /held-\(round) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n")
      }
      // All of them are whole now, and ask for a connection to the application at once.
      for connection in held.prefix(100) { try? connection.send("\r\n") }
      for connection in held { connection.close() }
      try poll("an answer after round \(round)") { try? gateway.client.get("/honest").status == 200 ? () : nil }
    }
    #expect(gateway.process.isRunning && gateway.process.pid == pid)
  }
}
