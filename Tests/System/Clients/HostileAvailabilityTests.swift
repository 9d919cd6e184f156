import Foundation
import TemporaryDirectoryTesting
import Testing

// What costs an attacker little must not cost the gateway much, and an application out of order costs its own requests
// only.
//
// - TLS handshakes that stall are given up, and keep nobody out.
// - Sign-ins that are started and never finished leave nothing behind.
// - Endless interim answers, an answer to no request, a space before a colon, a body sent on a connection gone stale.

@SystemActor
@Suite("Availability")
struct HostileAvailabilityTests {
  @Test("TLS handshakes that stall are given up, and keep nobody out")
  func stalledHandshakes() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let folder = try TemporaryDirectory()
    let (certificate, key) = ("\(folder.path)/server.crt", "\(folder.path)/server.key")
    let made = try ServerProcess.run(
      Machine.program("openssl", package: "openssl"),
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate,
      ])
    guard made.exit == .code(0) else { throw HarnessError.malformed(made.standardError) }
    let gateway = try GatewayProcess.open(to: upstream) { configuration in
      configuration["", "public_url"] = "\"https://localhost:\(configuration.port)\""
      configuration["listen", "tls_certificate_file"] = "\"\(certificate)\""
      configuration["listen", "tls_private_key_file"] = "\"\(key)\""
      configuration["listen.timeouts", "handshake"] = "\"4s\""
    }
    defer { gateway.stop() }
    let pid = gateway.process.pid
    let stalled = try (0..<100).map { _ in try gateway.connect() }
    // The first bytes of a ClientHello that never comes, or nothing at all.
    for connection in stalled.prefix(50) { try connection.send([0x16, 3, 1, 2, 0, 1, 0, 1]) }
    let curl = try Machine.program("curl", package: "curl")
    let answer = try ServerProcess.run(
      curl,
      [
        "--silent", "--show-error", "--max-time", "50", "--cacert", certificate,
        "https://localhost:\(gateway.configuration.port)/honest",
      ])
    #expect(answer.standardOutput == "upstream saw GET /honest", "\(answer.standardError)")
    for connection in stalled { try connection.waitForClose() }
    #expect(gateway.process.isRunning && gateway.process.pid == pid)
  }

  @Test("A hundred thousand sign-ins that are started and never finished leave nothing behind, not even in the store")
  func abandonedSignIns() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    try gateway.surviving {
      // What the first ones allocate once is not what each of them costs.
      try start(4_000, on: gateway)
      let before = try gateway.writtenKiB
      try start(100_000, on: gateway)
      let grown = try gateway.writtenKiB - before
      #expect(grown < 8 * 1_024, "\(grown) KiB for 100,000 starts")
    }
    let database = URL(fileURLWithPath: "\(gateway.directory.path)/cordon.db-wal")
    let written = try FileManager.default.attributesOfItem(atPath: database.path)[.size] as? Int
    #expect(try #require(written) < 1 << 20)
  }

  /// Begins so many sign-ins, over four connections, on each of which many are asked for before the first is answered.
  private func start(_ count: Int, on gateway: GatewayProcess) throws {
    let (port, authority) = (gateway.configuration.port, gateway.client.authority)
    let (connections, together) = (4, 50)
    let state = Watched((running: connections, refusals: [String]()))
    for number in 0..<connections {
      Thread.detachNewThread {
        do {
          let connection = try TCPConnection(port: port)
          defer { connection.close() }
          for round in 0..<count / connections / together {
            let requests = (0..<together).map {
              """
              GET /.auth/authorize?return_to=/\(number)/\(round)/\($0) HTTP/1.1\r\nHost: \(authority)\r\n\
              Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\n\
              Sec-Fetch-Dest: document\r\n\r\n
              """
            }
            try connection.send(requests.joined())
            for _ in 0..<together {
              let status = try HTTPResponse.read(from: connection).status
              guard status == 302 else { throw HarnessError.malformed("authorize answers \(status)") }
            }
          }
        } catch {
          state.update { $0.refusals.append("\(error)") }
        }
        state.update { $0.running -= 1 }
      }
    }
    try state.take("\(count) sign-ins to begin", by: .seconds(300)) { $0.running == 0 ? () : nil }
    #expect(state.current.refusals.isEmpty, "\(state.current.refusals)")
  }

  /// An application with bad habits; `seen` counts the requests by target.
  private static func application(_ seen: Watched<[String]>) -> RawUpstream.RequestHandler {
    { request, connection in
      seen.update { $0.append(request.target) }
      switch request.target {
      case "/endless":
        while true { try connection.send("HTTP/1.1 102 Processing\r\n\r\n") }
      case "/spaced": try connection.send("HTTP/1.1 200 OK\r\nX-Spaced : yes\r\nContent-Length: 2\r\n\r\nok")
      case "/unasked":
        try RawUpstream.greet(request, connection)
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned")
        seen.update { $0.append("sent") }
      case "/stale":
        // The connection was kept, and breaks under the next request.
        connection.close()
      default: try RawUpstream.greet(request, connection)
      }
    }
  }

  @Test("An application out of order costs its own requests only, and a body is never sent twice")
  func badApplication() throws {
    let seen = Watched<[String]>([])
    let upstream = try RawUpstream(Self.application(seen))
    defer { upstream.stop() }
    let gateway = try GatewayProcess.open(to: upstream)
    defer { gateway.stop() }
    let endless = try gateway.surviving { try gateway.client.get("/endless").status }
    #expect(endless == 502)
    let spaced = try gateway.surviving { try gateway.client.get("/spaced") }
    #expect(spaced.fields["X-Spaced"] == "yes")
    #expect(!spaced.head.fields.lines.contains { $0.name.contains(" ") })
    for _ in 0..<10 {
      let connection = try gateway.connect()
      for target in ["/unasked", "/next", "/after"] {
        // What arrives after the next request cannot be told from its answer; what arrived before it must be.
        if target == "/next" {
          try seen.take("the answer to no request", by: .standard) { $0.last == "sent" ? () : nil }
        }
        try connection.send("GET \(target) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
        let text = try HTTPResponse.read(from: connection).text
        #expect(text == "upstream saw GET \(target)")
      }
    }
    try gateway.surviving {
      // On one connection, so on one loop: the first request leaves a connection behind, the second gets it.
      let connection = try gateway.connect()
      try connection.send("GET /first HTTP/1.1\r\nHost: \(gateway.client.authority)\r\n\r\n")
      _ = try HTTPResponse.read(from: connection)
      try connection.send(
        "POST /stale HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nContent-Length: 5\r\n\r\nmoney")
      let status = try HTTPResponse.read(from: connection).status
      #expect(status == 502)
    }
    #expect(seen.current.filter { $0 == "/stale" }.count == 1)
  }
}
