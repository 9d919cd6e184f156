import Foundation
import TemporaryDirectoryTesting
import Testing

// The permission to administer.
//
// - Without a token, or the permission of a Unix socket, administration is off, and says how to switch it on.
// - A Unix socket is its owner's alone.

@SystemActor
@Suite("Administration by a Unix socket, and switched off")
struct AdministrationAccessTests {
  @Test("Without a token, over TCP, administration is refused with the remedy")
  func switchedOff() throws {
    let site = try Site()
    defer { site.stop() }
    let response = try site.gateway.admin.get("/accounts?subject=x", fields: [("Authorization", "Bearer x")])
    #expect(response.status == 403)
    #expect(response.text.contains("admin.token_file") && !response.text.contains("SIGHUP"))
    let reload = try ServerProcess.run(Machine.binary("cordon"), ["reload", "--config", site.gateway.file])
    #expect(reload.standardError.contains("SIGHUP"), "\(reload.standardError)")
    #expect(try site.gateway.admin.get("/livez").status == 200)
  }

  @Test("On a Unix socket the permission decides: the socket is its owner's alone, and no token is asked for")
  func socket() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    let directory = try TemporaryDirectory()
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    let path = "\(directory.path)/admin.sock"
    configuration["admin", "address"] = "\"unix:\(path)\""
    let file = try configuration.install(in: directory)
    let process = try ServerProcess(
      Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    defer { process.stop() }
    try process.waitForLine(containing: "cordon is ready")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let found = try ServerProcess.run(
      Machine.binary("cordon"), ["accounts", "find", "--subject", "001.nobody", "--json", "--config", file],
      directory: directory.path)
    #expect(found.exit == .code(1) && found.standardError.contains("Nobody was found"), "\(found.standardError)")
    #expect(found.standardError.contains("cordon accounts list"), "\(found.standardError)")
    #expect(found.standardOutput.contains("[") && !found.standardOutput.contains("sub"))
    try process.waitForLine(containing: "\"by\":\"socket\"")
    // Another gateway does not take the socket of one that runs.
    let second = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", file], directory: directory.path)
    #expect(second.exit != .code(0))
    #expect(second.standardError.contains("Address already in use"), "\(second.standardError)")
    // Nor has it, before it ended, shared the public address, and lost what clients sent there.
    #expect(!second.standardError.contains("another process listens"), "\(second.standardError)")
    let ready = try ServerProcess.run(
      Machine.binary("cordon"), ["ready", "--live", "--config", file], directory: directory.path)
    #expect(ready.exit == .code(0), "\(ready.standardError)")
  }
}
