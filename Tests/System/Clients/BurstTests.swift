import Foundation
import Testing

// What strangers may hold of the gateway's memory, and of the application's time.
//
// - Thousands of requests that are never whole hold a bounded sum, and what they held goes back to the system.
// - A client that takes an answer a few bytes at a time is cut off, and the application's connection is free again.
// - Time in which the application has nothing to say is not the client's.
// - A body on its way to an application in HTTP/2 may pause.

@SystemActor
@Suite("Bursts of unfinished requests, and slow readers", .serialized)
struct BurstTests {
  private nonisolated static let script = Machine.packageRoot.appending(path: "Tests/System/Clients/unfinished.py").path

  @Test("Memory for requests that are not whole is bounded, and given back", arguments: ["http1", "http2", "body"])
  func memory(version: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0.acceptHTTP2()
      // They are to be given up for their memory, not for their time.
      for timeout in ["head", "body_progress", "body_grace"] { $0["listen.timeouts", timeout] = "\"600s\"" }
    }
    defer { gateway.stop() }
    #expect(try gateway.client.get("/honest").status == 200)
    let before = try gateway.writtenKiB
    let clients = try ServerProcess(
      "/usr/bin/python3", [Self.script, "\(gateway.configuration.port)", version, "4000"])
    defer { clients.stop() }
    try clients.waitForLine(containing: "\"held\"", by: .seconds(120))
    try poll("all of them to be accepted", by: .seconds(60)) {
      try Metrics(gateway).value("cordon_client_connections_total") ?? 0 >= 4_000 ? () : nil
    }
    #expect(try gateway.client.get("/honest").status == 200)
    // 64 MiB of them, and what connections need by themselves.
    #expect(try gateway.writtenKiB - before < (version == "http2" ? 220 : 150) << 10)
    clients.signal(SIGUSR1)
    try clients.waitForLine(containing: "\"closed\"", by: .seconds(60))
    try poll("memory to be given back", by: .seconds(60)) {
      try gateway.writtenKiB - before < 48 << 10 ? () : nil
    }
    #expect(try gateway.client.get("/honest").status == 200)
  }

  /// 16 MiB behind `/large`; counts the connections that are broken within it.
  private final class LargeAnswers: Sendable {
    let broken = Watched(0)
    let upstream: RawUpstream

    init() throws {
      let piece = [UInt8](repeating: 0x78, count: 1 << 20)
      upstream = try RawUpstream { [broken] request, connection in
        guard request.target == "/large" else { return try RawUpstream.greet(request, connection) }
        do {
          try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(16 << 20)\r\n\r\n")
          for _ in 0..<16 { try connection.send(piece, by: .seconds(600)) }
        } catch {
          broken.update { $0 += 1 }
          throw error
        }
      }
    }
  }

  private func open(to upstream: RawUpstream) throws -> GatewayProcess {
    try GatewayProcess.open(to: upstream) {
      $0.acceptHTTP2()
      $0["listen.limits", "response_rate"] = "100000"
      $0["listen.timeouts", "body_grace"] = "\"1s\""
      $0["listen.timeouts", "write_progress"] = "\"600s\""
    }
  }

  @Test("A client that takes an answer a few bytes at a time is cut off")
  func slowReader() throws {
    let application = try LargeAnswers()
    defer { application.upstream.stop() }
    let gateway = try open(to: application.upstream)
    defer { gateway.stop() }
    let request = "GET /large HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n"
    let slow = try TCPConnection(port: gateway.configuration.port, receiveBuffer: 4_096)
    try slow.send(request)
    try poll("the slow one to be cut off", by: .seconds(60)) {
      try? slow.discard(count: 32)
      return application.broken.current == 1 ? () : nil
    }
    let quick = try gateway.connect()
    try quick.send(request)
    _ = try quick.read(through: "\r\n\r\n")
    try quick.discard(count: 16 << 20)
    #expect(application.broken.current == 1)
  }

  @Test("A client that takes an answer slowly on a stream of HTTP/2 is cut off, and one that takes enough is not")
  func slowStream() throws {
    let application = try LargeAnswers()
    defer { application.upstream.stop() }
    let gateway = try open(to: application.upstream)
    defer { gateway.stop() }
    for (rate, end) in [("2000", "reset"), ("20000000", "whole")] {
      let client = try ServerProcess(
        "/usr/bin/python3", [Self.script, "\(gateway.configuration.port)", "slow", rate])
      defer { client.stop() }
      try client.waitForLine(containing: "\"ended\": \"\(end)\"", by: .seconds(90))
    }
    #expect(application.broken.current == 1)
  }

  @Test("An application that pauses within its answer does not have its client cut off")
  func slowApplication() throws {
    let goOn = Watched(false)
    let piece = [UInt8](repeating: 0x78, count: 300_000)
    let upstream = try RawUpstream { request, connection in
      guard request.target == "/events" else { return try RawUpstream.greet(request, connection) }
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n")
      try connection.send(piece)
      try goOn.take("the second half", by: .seconds(60)) { $0 ? () : nil }
      try connection.send(piece)
    }
    defer { upstream.stop() }
    let gateway = try open(to: upstream)
    defer { gateway.stop() }
    let client = try gateway.connect()
    try client.send("GET /events HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
    _ = try client.read(through: "\r\n\r\n")
    try client.discard(count: 300_000)
    let began = ContinuousClock.now
    try poll("more time than the grace to pass") { ContinuousClock.now - began > .seconds(5) ? () : nil }
    goOn.update { $0 = true }
    try client.discard(count: 300_000)
  }

  @Test("A route says how slowly the bodies of its requests may come", arguments: [("/slow/", true), ("/", false)])
  func slowRoute(path: String, isForwarded: Bool) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream) {
      $0["listen.limits", "body_rate"] = "100000"
      $0["listen.timeouts", "body_grace"] = "\"500ms\""
      $0.ending += "[[route]]\npath = \"/slow/\"\nbody_rate = 0\n"
    }
    defer { gateway.stop() }
    let client = try gateway.connect()
    try client.send("POST \(path) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n")
    let began = ContinuousClock.now
    try poll("three seconds of a slow body") {
      try? client.send("1\r\nx\r\n")
      return ContinuousClock.now - began > .seconds(3) ? () : nil
    }
    try? client.send("0\r\n\r\n")
    #expect(try HTTPResponse.read(from: client).status == (isForwarded ? 200 : 408))
  }

  @Test("A body on its way to an application in HTTP/2 may come as slowly as it likes")
  func slowBody() throws {
    let port = try FreePort.take()
    let file = Machine.packageRoot.appending(path: "Tests/System/HTTP2/server.py").path
    let application = try ServerProcess("/usr/bin/python3", [file, "\(port)"])
    defer { application.stop() }
    try application.waitForLine(containing: "listening")
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(port)")
    configuration["upstream", "protocol"] = "\"h2\""
    configuration["listen.limits", "body_rate"] = "100000"
    configuration["listen.timeouts", "body_grace"] = "\"500ms\""
    configuration.ending = GatewayConfiguration.everythingPublic
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    let client = try gateway.connect()
    try client.send("POST /stream HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n")
    let began = ContinuousClock.now
    var count = 0
    try poll("three seconds of a slow body") {
      try client.send("1\r\nx\r\n")
      count += 1
      return ContinuousClock.now - began > .seconds(3) ? () : nil
    }
    try client.send("0\r\n\r\n")
    let response = try HTTPResponse.read(from: client)
    #expect(response.status == 200)
    #expect(response.body.count == count)
  }
}
