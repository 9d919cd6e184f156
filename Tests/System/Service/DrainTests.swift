import Foundation
import TemporaryDirectoryTesting
import Testing

// How the gateway ends.
//
// - SIGTERM with a delay: not ready at once, requests are taken all the same, each connection ends after its response.
// - WebSockets are told with a Close frame between two frames of the application, and both sides close in order.
// - What is not done by the deadline is cut off; a second SIGTERM does not wait for it.
// - A new process beside the old one takes over, and no request fails.
// - A reader of the log that has stalled holds up neither requests nor the end.

@SystemActor
@Suite("Draining")
struct DrainTests {
  private static let upgrade = [
    "GET /ws HTTP/1.1", "Host: localhost", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]
  private nonisolated static let switched =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
  private nonisolated static let goingAway: [UInt8] = [0x88, 0x02, 0x03, 0xE9]
  /// A client's answer to it, masked with zeroes.
  private nonisolated static let answer: [UInt8] = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE9]

  private func gateway(
    to upstream: RawUpstream, delay: String = "0s", limit: String = "1h"
  ) throws -> GatewayProcess {
    try GatewayProcess.open(to: upstream) {
      $0["listen", "workers"] = "1"
      $0["shutdown", "delay"] = "\"\(delay)\""
      $0["shutdown", "limit"] = "\"\(limit)\""
    }
  }

  private func openWebSocket(_ gateway: GatewayProcess) throws -> TCPConnection {
    let connection = try gateway.connect()
    let lines = Self.upgrade.map { $0 == "Host: localhost" ? "Host: \(gateway.client.authority)" : $0 }
    try connection.send((lines + ["Origin: \(gateway.origin)"]).joined(separator: "\r\n") + "\r\n\r\n")
    _ = try connection.read(through: "\r\n\r\n")
    return connection
  }

  private func waitUntilUnready(_ gateway: GatewayProcess) throws {
    try poll("readiness to end") {
      guard let status = try? gateway.admin.get("/readyz").status else { return () }
      return status == 503 ? () : nil
    }
  }

  @Test("A client that goes on sending a refused request does not hold up the end")
  func refusedSender() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try gateway(to: upstream)
    defer { gateway.stop() }
    let client = try gateway.connect()
    defer { client.close() }
    try client.send(
      "POST / HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n")
    #expect(try HTTPResponse.read(from: client).status == 400)
    gateway.process.signal(SIGTERM)
    // Half a minute is what it would be read for otherwise.
    try poll("the gateway to end", by: .seconds(20)) {
      try? client.send([UInt8](repeating: 0x78, count: 1_000))
      return gateway.process.isRunning ? nil : ()
    }
  }

  @Test(
    "Within the delay requests are taken, each connection ends after its response; a second SIGTERM ends it at once")
  func delay() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try gateway(to: upstream, delay: "1h")
    defer { gateway.stop() }
    let kept = try gateway.connect()
    let request = "GET /kept HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n"
    try kept.send(request)
    #expect(try HTTPResponse.read(from: kept).fields["Connection"] == nil)
    gateway.process.signal(SIGTERM)
    try waitUntilUnready(gateway)
    for _ in 0..<3 {
      let new = try gateway.connect()
      try new.send(request)
      let response = try HTTPResponse.read(from: new)
      #expect(response.status == 200 && response.fields["Connection"]?.lowercased() == "close")
      try new.waitForClose()
    }
    try kept.send(request)
    let last = try HTTPResponse.read(from: kept)
    #expect(last.status == 200 && last.fields["Connection"]?.lowercased() == "close")
    #expect(gateway.process.isRunning)
    gateway.process.signal(SIGTERM)
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("A WebSocket is told by a Close frame, its answer reaches the application, and both sides close in order")
  func webSocket() throws {
    let heard = Watched<[UInt8]>([])
    let upstream = try RawUpstream { _, connection in
      try connection.send(Self.switched)
      try connection.send([0x81, 2, 0x68, 0x69])
      let frame = try connection.read(count: Self.answer.count)
      heard.update { $0 = frame }
      // What the application still says is for nobody: the client has been told.
      try connection.send([0x81, 1, 0x78] + Self.goingAway)
      connection.shutdownBoth()
    }
    defer { upstream.stop() }
    let gateway = try gateway(to: upstream)
    defer { gateway.stop() }
    let client = try openWebSocket(gateway)
    #expect(try client.read(count: 4) == [0x81, 2, 0x68, 0x69])
    gateway.process.signal(SIGTERM)
    #expect(try client.read(count: 4) == Self.goingAway)
    try client.send(Self.answer)
    #expect(try client.readToEnd() == [])
    #expect(heard.current == Self.answer)
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("A frame of the application that is under way is whole before the Close frame")
  func withinFrame() throws {
    let gate = Gate()
    let upstream = try RawUpstream { _, connection in
      try connection.send(Self.switched)
      try connection.send([0x82, 6, 1, 2, 3])
      try gate.wait()
      try connection.send([4, 5, 6, 0x81, 1, 0x78])
      _ = try connection.read(count: Self.answer.count)
      connection.shutdownBoth()
    }
    defer { upstream.stop() }
    let gateway = try gateway(to: upstream)
    defer { gateway.stop() }
    let client = try openWebSocket(gateway)
    #expect(try client.read(count: 5) == [0x82, 6, 1, 2, 3])
    // On the same loop, where one end tells of the other.
    let idle = try gateway.connect()
    gateway.process.signal(SIGTERM)
    try idle.waitForClose()
    gate.open()
    #expect(try client.read(count: 7) == [4, 5, 6] + Self.goingAway)
    try client.send(Self.answer)
    #expect(try client.readToEnd() == [])
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test(
    "Requests that outlast the deadline are cut off, and a second SIGTERM does not wait for it",
    arguments: [false, true])
  func deadline(twice: Bool) throws {
    let upstream = try RawUpstream { _, connection in
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
      _ = try connection.readToEnd(by: .seconds(600))
    }
    defer { upstream.stop() }
    let gateway = try gateway(to: upstream, limit: twice ? "1h" : "300ms")
    defer { gateway.stop() }
    let connection = try gateway.connect()
    try connection.send("GET /slow HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    _ = try connection.read(through: "first")
    gateway.process.signal(SIGTERM)
    if twice {
      try waitUntilUnready(gateway)
      gateway.process.signal(SIGTERM)
    }
    try connection.waitForClose()
    #expect(try gateway.process.waitForExit() == .code(0))
  }

  @Test("A process that starts beside the old one takes over, and no request fails")
  func takeOver() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let old = try GatewayProcess.open(to: upstream) { $0["listen", "workers"] = "2" }
    defer { old.stop() }
    let load = SteadyLoad(port: old.configuration.port)
    try load.waitForMore()
    var running = old.process
    for _ in 0..<3 {
      let next = try old.startSuccessor()
      try load.waitForMore()
      running.signal(SIGTERM)
      #expect(try running.waitForExit() == .code(0))
      running = next
      try load.waitForMore()
    }
    let complaints = try load.stop()
    #expect(complaints == [])
    running.stop()
  }

  @Test("A reader of the log that has stalled holds up neither requests nor the end")
  func stalledLog() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["log", "access"] = "true"
    configuration.ending = GatewayConfiguration.everythingPublic
    let directory = try TemporaryDirectory()
    let file = try configuration.install(in: directory)
    let fifo = "\(directory.path)/log"
    guard mkfifo(fifo, 0o600) == 0 else { throw HarnessError.system("mkfifo", errno: errno) }
    // Open at both ends, and never read.
    let descriptor = open(fifo, O_RDWR | O_CLOEXEC)
    defer { close(descriptor) }
    let gateway = try ServerProcess(
      "/bin/sh", ["-c", "exec '\(Machine.binary("cordon"))' run --config '\(file)' > '\(fifo)'"],
      directory: directory.path)
    defer { gateway.stop() }
    let admin = HTTPClient(port: configuration.adminPort)
    try gateway.waitUntilReady("GET /readyz answers 200") { try admin.get("/readyz").status == 200 }
    let connection = try TCPConnection(port: configuration.port)
    let target = "/" + String(repeating: "x", count: 8_000)
    func dropped() throws -> Double { try Metrics(admin).value("cordon_log_dropped_bytes_total") ?? 0 }
    try poll("lines to be dropped") {
      for _ in 0..<50 {
        try connection.send(
          "GET \(target) HTTP/1.1\r\nHost: \(GatewayConfiguration.host):\(configuration.port)\r\n\r\n")
        #expect(try HTTPResponse.read(from: connection).status == 200)
      }
      return try dropped() > 0 ? () : nil
    }
    #expect(try admin.get("/livez").status == 200)
    gateway.signal(SIGTERM)
    #expect(try gateway.waitForExit() == .code(0))
  }
}
