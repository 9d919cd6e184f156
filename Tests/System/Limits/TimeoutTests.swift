import Foundation
import Testing

// Each time-out of the configuration, by the connection that runs into it.
//
// - Of clients: one that begins nothing, one that is idle, one that does not read.
// - Of the application: one that cannot be reached, takes no body, stops within its answer; a kept connection nobody
//   uses.

@SystemActor
@Suite("Time-outs")
struct TimeoutTests {
  private static func get(_ target: String, _ gateway: GatewayProcess) -> String {
    "GET \(target) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n"
  }

  @Test("A connection that begins nothing, and one that is idle after an answer, are closed without a word")
  func idle() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["listen.timeouts", "head"] = "\"3s\""
      $0["listen.timeouts", "idle"] = "\"3s\""
    }
    defer { gateway.stop() }
    let silent = try gateway.connect()
    let kept = try gateway.connect()
    for _ in 0..<2 {
      try kept.send(Self.get("/", gateway))
      #expect(try HTTPResponse.read(from: kept).status == 200)
    }
    #expect(try kept.readToEnd().isEmpty)
    #expect(try silent.readToEnd().isEmpty)
  }

  @Test("A client that does not read its answer is cut off, and the application's connection with it")
  func neverReads() throws {
    let left = Watched(0)
    let piece = [UInt8](repeating: 0x78, count: 1 << 20)
    let upstream = try RawUpstream { request, connection in
      guard request.target == "/large" else { return try RawUpstream.greet(request, connection) }
      defer { left.update { $0 += 1 } }
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n")
      // Longer than the test waits: without the gateway's time-out no connection breaks in time.
      while true { try connection.send(piece, by: .seconds(600)) }
    }
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["listen.timeouts", "write_progress"] = "\"500ms\"" }
    defer { gateway.stop() }
    try gateway.surviving {
      let clients = try (0..<5).map { _ in
        let client = try TCPConnection(port: gateway.configuration.port, receiveBuffer: 4_096)
        try client.send(Self.get("/large", gateway))
        return client
      }
      try left.take("the application's connections to break", by: .standard) { $0 == clients.count ? () : nil }
    }
  }

  @Test(
    "A client that reads slowly but steadily gets the whole answer, the end that waits behind its exchange included",
    arguments: ["Connection: close\r\n", "", "HTTP/2"])
  func readsSlowly(field: String) throws {
    let size = 4 << 20
    let upstream = try RawUpstream { _, connection in
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
      try connection.send([UInt8](repeating: 0x78, count: size), by: .seconds(120))
    }
    defer { upstream.stop() }
    // The system takes megabytes at once, and then nothing until a third of them has left: at this rate five seconds.
    let gateway = try GatewayProcess.open(to: upstream) {
      if field == "HTTP/2" { $0.acceptHTTP2() }
      for key in ["write_progress", "idle"] { $0["listen.timeouts", key] = "\"3s\"" }
    }
    defer { gateway.stop() }
    if field == "HTTP/2" {
      let result = try ServerProcess.run(
        Machine.program("curl", package: "curl"),
        [
          "--silent", "--show-error", "--http2-prior-knowledge", "--limit-rate", "200k", "--output", "/dev/null",
          "--write-out", "%{http_version} %{size_download}", "http://\(gateway.client.authority)/",
        ], by: .seconds(120))
      #expect(result.exit == .code(0) && result.standardOutput == "2 \(size)", "\(result)")
      return
    }
    let client = try TCPConnection(port: gateway.configuration.port, receiveBuffer: 65_536)
    defer { client.close() }
    try client.send("GET / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\(field)\r\n")
    _ = try client.read(through: "\r\n\r\n")
    for _ in 0..<size / 16_384 {
      _ = try client.read(count: 16_384)
      usleep(80_000)
    }
  }

  @Test("An application that nobody can connect to in time is 504")
  func connecting() throws {
    let full = try FullListener()
    defer { full.close() }
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0.ending += """
        [[upstreams]]
        name = "full"
        url = "http://127.0.0.1:\(full.port)"
        [upstreams.timeouts]
        connect = "500ms"
        [[route]]
        path = "/full/"
        access = "public"
        upstream = "full"
        """
    }
    defer { gateway.stop() }
    #expect(try gateway.client.get("/full/").status == 504)
    #expect(try gateway.client.get("/").status == 200)
  }

  @Test("An application that takes no more of a body is 504, and one that stops within its answer is cut off")
  func application() throws {
    let upstream = try RawUpstream(connections: { connection, _ in
      let head = try MessageHead(connection.read(through: "\r\n\r\n"))
      if head.startLine.contains("/half") {
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      } else if head.startLine.hasPrefix("GET") {
        try connection.send(RawUpstream.response(body: "fine"))
      }
      // Neither reads nor writes any more until it is ended.
      try Gate().wait(by: .seconds(60))
    })
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["upstream.timeouts", "body_progress"] = "\"3s\""
      $0["listen.timeouts", "body_progress"] = "\"3s\""
    }
    defer { gateway.stop() }
    let half = try gateway.connect()
    try half.send(Self.get("/half", gateway))
    let text = String(decoding: try half.readToEnd(), as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 200") && text.hasSuffix("half"))
    let upload = try gateway.connect()
    try upload.send("POST /upload HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 1073741824\r\n\r\n")
    _ = upload.sendUntilRefused([UInt8](repeating: 0x78, count: 1 << 16), atMost: 1 << 28, patience: .seconds(30))
    #expect(try HTTPResponse.read(from: upload).status == 504)
    #expect(try gateway.client.get("/beside").status == 200)
  }

  @Test("A kept connection to the application that nobody uses is closed")
  func keptConnection() throws {
    let ended = Gate()
    let upstream = try RawUpstream(connections: { connection, _ in
      _ = try connection.read(through: "\r\n\r\n")
      try connection.send(RawUpstream.response(body: "fine"))
      if try connection.readToEnd(by: .seconds(60)).isEmpty { ended.open() }
    })
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) { $0["upstream.timeouts", "idle"] = "\"500ms\"" }
    defer { gateway.stop() }
    let client = try gateway.connect()
    try client.send(Self.get("/", gateway))
    #expect(try HTTPResponse.read(from: client).text == "fine")
    try ended.wait("the gateway to close its kept connection")
  }
}
