import Foundation
import Testing

// Applications that are spoken to in HTTP/2 and answer badly, refuse, or go away (scripted.py).
//
// - A request that was answered, or reset for a reason of its own, is carried out once, whatever its method.
// - One that was refused or left out by GOAWAY is sent again once on another connection, with its body.
// - No request goes after GOAWAY, nor to an application that allows no streams.
// - Trailers may be what heads may be; what is refused is told in the log.

@SystemActor
@Suite("Applications in HTTP/2 that fail")
struct HTTP2UpstreamFailureTests {
  private func withApplication(_ body: (GatewayProcess, ServerProcess) throws -> Void) throws {
    let port = try FreePort.take()
    let script = Machine.packageRoot.appending(path: "Tests/System/HTTP2/scripted.py").path
    let application = try ServerProcess("/usr/bin/python3", [script, "\(port)"])
    defer { application.stop() }
    try application.waitForLine(containing: "listening")
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(port)")
    configuration["listen", "workers"] = "1"
    configuration["upstream", "protocol"] = "\"h2\""
    configuration["upstream.timeouts", "first_byte"] = "\"30s\""
    configuration.acceptHTTP2()
    configuration.ending = GatewayConfiguration.everythingPublic
    let gateway = try GatewayProcess(configuration)
    defer { gateway.stop() }
    try body(gateway, application)
  }

  /// The number of times that the application said `line`. It is counted after a mark of this call, because a response
  /// can be here before the lines that were said ahead of it.
  private static func count(_ line: String, _ application: ServerProcess, _ gateway: GatewayProcess) throws -> Int {
    let mark = "mark-\(UUID().uuidString)"
    #expect(try gateway.client.get("/\(mark)").status == 200)
    try application.waitForLine(containing: mark)
    return application.standardOutput.split(separator: "\n").count { $0 == line }
  }

  private static let badAnswers = [
    "reset-behind-content", "line-feed", "transfer-encoding", "no-status", "content-first", "interim-end",
    "reset",
  ]

  @Test("A request that got a bad answer is carried out once", arguments: ["GET", "PUT", "DELETE"])
  func once(_ method: String) throws {
    try withApplication { gateway, application throws in
      for name in Self.badAnswers {
        // So that there is a kept connection: on a fresh one nothing was ever sent again.
        #expect(try gateway.client.get("/fine").status == 200)
        let response = try? gateway.client.send(method, "/\(name)")
        // A head that has come may have left: then the answer is cut off.
        #expect(response == nil || response?.status == 502 || name == "reset-behind-content", "\(name)")
        #expect(try Self.count("got \(method) /\(name)", application, gateway) == 1, "\(name)")
      }
      let metrics = try gateway.admin.get("/metrics").text
      #expect(metrics.contains("cordon_upstream_failures_total{reason=\"malformed\"}"), "\(metrics)")
    }
  }

  @Test("White space around a value is dropped")
  func whiteSpace() throws {
    try withApplication { gateway, application throws in
      let response = try gateway.client.get("/space")
      #expect(response.status == 200 && response.fields["x"] == "a")
      #expect(try Self.count("got GET /space", application, gateway) == 1)
    }
  }

  @Test(
    "A request that was not processed is sent again once on another connection, whatever its method",
    arguments: ["refused-once", "left-out-once"])
  func again(_ name: String) throws {
    try withApplication { gateway, application throws in
      #expect(try gateway.client.get("/fine").status == 200)
      let response = try gateway.client.send("POST", "/\(name)", body: Array("12345".utf8))
      #expect(response.status == 200)
      #expect(try Self.count("got POST /\(name)", application, gateway) == 2)
      #expect(try Self.count("whole POST /\(name) 5", application, gateway) == 1)
    }
  }

  @Test("A request that is refused again is answered with 502", arguments: ["refused", "left-out"])
  func refusedForEver(_ name: String) throws {
    try withApplication { gateway, application throws in
      #expect(try gateway.client.get("/fine").status == 200)
      #expect(try gateway.client.send("POST", "/\(name)", body: Array("12345".utf8)).status == 502)
      #expect(try Self.count("got POST /\(name)", application, gateway) == 2)
      #expect(try gateway.client.get("/fine").status == 200)
    }
  }

  @Test(
    "No request goes to a connection that goes away or allows no streams", arguments: ["going", "no-streams"])
  func notReused(_ name: String) throws {
    try withApplication { gateway, application throws in
      for number in 1...5 {
        #expect(try gateway.client.get("/\(name)").text == "fine")
        #expect(try Self.count("got GET /\(name)", application, gateway) == number)
      }
    }
  }

  @Test("Trailers of 80 fields and 24,000 bytes pass; 1,001 fields do not, and the log says why")
  func trailers() throws {
    try withApplication { gateway, application throws in
      let client = try gateway.connect()
      try client.send("GET /trailers HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
      let text = String(decoding: try client.read(through: "grpc-status: 0\r\n\r\n"), as: UTF8.self)
      #expect(text.contains("\r\nx-79: vvv"))
      // With the header in one read, it is 502 on a connection that would be kept.
      try client.send(
        "GET /many-trailers HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nConnection: close\r\n\r\n")
      _ = try client.readToEnd()
      try gateway.waitForLog("trailers too large")
    }
  }
}
