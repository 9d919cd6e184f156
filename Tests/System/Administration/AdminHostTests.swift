import Foundation
import TemporaryDirectoryTesting
import Testing

// Which requests the admin listener takes at all.
//
// - On a loopback address: for loopback names and addresses, with any port; DNS rebinding brings another name.
// - Elsewhere, and on a Unix socket, for any name: probes and scrapers ask by whatever leads there.
// - From another site's page nowhere.

@SystemActor
@Suite("Hosts and origins of the admin listener")
struct AdminHostTests {
  private static let paths = ["/livez", "/readyz", "/healthz", "/metrics", "/status"]

  private func status(
    _ gateway: GatewayProcess, _ path: String, host: String?, version: String = "HTTP/1.1",
    _ fields: [(String, String)] = []
  ) throws -> Int {
    let connection = try TCPConnection(port: gateway.configuration.adminPort)
    defer { connection.close() }
    let lines =
      ["GET \(path) \(version)"] + (host.map { ["Host: \($0)"] } ?? []) + fields.map { "\($0): \($1)" }
      + ["Connection: close"]
    try connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
    return try HTTPResponse.read(from: connection).status
  }

  private func start(_ upstream: RawUpstream, adminHost: String = "127.0.0.1") throws -> GatewayProcess {
    try GatewayProcess.open(to: upstream) { configuration in
      configuration["admin", "address"] = "\"\(adminHost):\(configuration.adminPort)\""
      configuration["admin", "token_file"] = "\"admin.token\""
    }
  }

  @Test("On a loopback address another name is misdirected, whatever is asked for")
  func rebinding() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try start(upstream)
    defer { gateway.stop() }
    let port = gateway.configuration.adminPort
    for path in Self.paths {
      for host in [
        "localhost", "localhost:\(port)", "127.0.0.1:\(port)", "127.0.0.1", "LOCALHOST:1", "[::1]:\(port)",
        "127.1.2.3", "cordon.localhost:\(port)",
      ] { #expect(try status(gateway, path, host: host) == 200, "\(host)\(path)") }
      for host in [
        "rebind.evil.example", "rebind.evil.example:\(port)", "127.0.0.1.evil.example", "localhost.evil.example",
        "10.0.0.1", "0.0.0.0:\(port)", "[::2]", "evil-localhost", "127.0.0.1.nip.io",
      ] { #expect(try status(gateway, path, host: host) == 421, "\(host)\(path)") }
      #expect(try status(gateway, path, host: nil, version: "HTTP/1.0") == 200)
    }
    // Not even with the token.
    let right = [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")]
    #expect(try status(gateway, "/accounts?subject=x", host: "evil.example:\(port)", right) == 421)
    #expect(try status(gateway, "/accounts?subject=x", host: "localhost:\(port)", right) == 200)
    let refused = try HTTPClient(port: port, authority: "evil.example").get("/status")
    #expect(refused.text.contains("localhost"), "\(refused.text)")
  }

  @Test("Another site's page is refused on any address", arguments: ["127.0.0.1", "0.0.0.0"])
  func otherSites(adminHost: String) throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try start(upstream, adminHost: adminHost)
    defer { gateway.stop() }
    let host = "localhost:\(gateway.configuration.adminPort)"
    for fields in [
      [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://localhost:1")],
      [("Origin", "http://\(host).evil.example")], [("Origin", "http://\(host)"), ("Origin", "http://\(host)")],
      [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "Cross-Site"), ("Origin", "http://\(host)")],
    ] as [[(String, String)]] {
      for path in Self.paths + ["/accounts?subject=x"] {
        let right = [("Authorization", "Bearer \(GatewayConfiguration.adminToken)")]
        #expect(try status(gateway, path, host: host, right + fields) == 403, "\(fields) \(path)")
      }
    }
    for fields in [
      [("Origin", "http://\(host)")], [("Origin", "https://LOCALHOST:\(gateway.configuration.adminPort)")],
      [("Sec-Fetch-Site", "none")], [("Sec-Fetch-Site", "same-origin"), ("Origin", "http://\(host)")],
    ] as [[(String, String)]] { #expect(try status(gateway, "/status", host: host, fields) == 200, "\(fields)") }
  }

  @Test("Probes and scrapers of an orchestrator reach an address that is not loopback by any name or address")
  func orchestrators() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try start(upstream, adminHost: "0.0.0.0")
    defer { gateway.stop() }
    let port = gateway.configuration.adminPort
    for host in [
      "10.42.0.17:\(port)", "cordon.default.svc:\(port)", "[fd00::7]:\(port)", "localhost:\(port)", "prometheus",
    ] {
      for path in Self.paths { #expect(try status(gateway, path, host: host) == 200, "\(host)\(path)") }
    }
    for path in Self.paths {
      #expect(try status(gateway, path, host: nil, version: "HTTP/1.0") == 200)
      #expect(try status(gateway, path, host: "10.42.0.17:\(port)", [("User-Agent", "kube-probe/1.30")]) == 200)
    }
  }

  @Test("A Unix socket takes any name, and no other site's page")
  func unixSocket() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let gateway = try start(upstream)
    defer { gateway.stop() }
    // The harness asks over TCP, so the gateway with the socket is another process.
    let directory = try TemporaryDirectory()
    var configuration = gateway.configuration
    let socket = "\(directory.path)/admin.sock"
    configuration["listen", "address"] = "\"127.0.0.1:\(try FreePort.take())\""
    configuration["admin", "address"] = "\"unix:\(socket)\""
    configuration["admin", "token_file"] = nil
    let file = try configuration.install(in: directory)
    let process = try ServerProcess(Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { process.stop() }
    let curl = try Machine.program("curl", package: "curl")
    func ask(_ arguments: String...) throws -> String {
      try ServerProcess.run(
        curl,
        ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--unix-socket", socket] + arguments
      ).standardOutput
    }
    try process.waitUntilReady("the socket to answer") { try ask("http://anything.example/readyz") == "200" }
    #expect(try ask("http://anything.example/status") == "200")
    #expect(try ask("-H", "Origin: http://evil.example", "http://anything.example/status") == "403")
  }
}
