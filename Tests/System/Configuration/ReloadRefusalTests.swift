import Foundation
import TemporaryDirectoryTesting
import Testing

// Configurations that a running gateway refuses, and `cordon reload`.
//
// - A bad file, or one that changes what cannot change, keeps the running configuration whole, and says why: in the log
//   with its place, by the exit status of `cordon reload`, in the metrics. All three at each way to ask.
// - Neither passwords nor addresses of users are in what it says.

@SystemActor
@Suite("Refused reloads, and the command")
struct ReloadRefusalTests {
  private static let token = "a-token-of-the-tests-long-enough-to-be-one"

  @Test("A bad file keeps the running configuration, and the log says where it is wrong")
  func badFile() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.reload { $0["listen.timeouts", "idle"] = "\"never\"" }
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("gateway.conf:") && line.contains("listen.timeouts.idle"), "\(line)")
    #expect(try Metrics(site.gateway).value("cordon_config_reloads_total{result=\"refused\"}") == 1)
    #expect(try Metrics(site.gateway).value("cordon_config_last_reload_successful") == 0)
    #expect(try site.gateway.admin.get("/healthz").text.contains("listen.timeouts.idle"), "as long as it is so")
    #expect(try anna.fetch("\(site.origin)/x").status == 200)
    try FileManager.default.removeItem(atPath: "\(site.gateway.directory.path)/session.key")
    site.gateway.process.signal(SIGHUP)
    // A line for each of its two problems, so that none of them is taken for what comes of the next reload.
    try poll("the second refusal") { site.reloadOutcomes == 3 ? () : nil }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "a file that it names is gone")
    try site.reload { $0["listen.timeouts", "idle"] = "\"30s\"" }
    #expect(try Metrics(site.gateway).value("cordon_config_last_reload_successful") == 1)
    // The next look at the files of secrets, every two seconds, finds session.key again.
    try poll("nothing that fails") { try site.gateway.admin.get("/healthz").text.contains("failing") ? nil : () }
  }

  @Test("A refused configuration tells neither passwords nor people's addresses: not in the log, not on /healthz")
  func refusedSecrets() throws {
    let site = try Site()
    defer { site.stop() }
    try site.reload { configuration in
      configuration["upstream", "url"] = "\"http://app:hunter2@127.0.0.1:13000\""
      configuration["access", "deny_emails"] = "[\"ben@example.com\", \"eve@example,com\"]"
    }
    let health = try site.gateway.admin.get("/healthz").text
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(health.contains("upstream.url") && health.contains("entry 2 of deny_emails is not an address"), "\(health)")
    #expect(log.contains("entry 2 of deny_emails is not an address"))
    for secret in ["hunter2", "eve@", "ben@"] {
      #expect(!health.contains(secret) && !log.contains(secret), "\(secret)")
    }
  }

  @Test(
    "A reload refuses by name a setting that a running gateway cannot change, and applies nothing else of the file",
    arguments: ["listen.address", "listen.workers", "admin.address", "store.url", "session.cookie_name"])
  func fixed(key: String) throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    let values = [
      "listen.address": "\"127.0.0.1:\(try FreePort.take())\"", "admin.address": "\"127.0.0.1:\(try FreePort.take())\"",
      "listen.workers": "1", "store.url": "\"sqlite:other.db\"", "session.cookie_name": "\"__Host-wiki\"",
    ]
    try site.reload {
      let parts = key.split(separator: ".").map(String.init)
      $0[parts[0], parts[1]] = values[key]
      $0.ending = GatewayConfiguration.everythingPublic
    }
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains(key) && line.contains("restart"), "\(line)")
    #expect(try site.gateway.client.get("/x").status == 401, "the routes are the old ones")
  }

  @Test("cordon reload: exit status 0 and what changed, or 1 and why not; never without the token")
  func command() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    #expect(try site.gateway.admin.send("POST", "/reload", body: []).status == 403, "off without a token, over TCP")
    try site.gateway.directory.write(Self.token + "\n", to: "admin.token")
    func cordon() throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
      try ServerProcess.run(
        Machine.binary("cordon"), ["reload", "--config", site.gateway.file], directory: site.gateway.directory.path)
    }
    var configuration = site.gateway.configuration
    configuration["admin", "token_file"] = "\"admin.token\""
    try site.reload { $0 = configuration }
    #expect(try site.gateway.admin.send("POST", "/reload", body: []).status == 401)
    configuration.ending = "[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
    _ = try configuration.install(in: site.gateway.directory)
    let done = try cordon()
    #expect(done.exit == .code(0) && done.standardOutput.contains("route"), "\(done)")
    #expect(try site.gateway.client.get("/open/").status == 200)
    try site.gateway.directory.write("another-token-that-the-gateway-has-not-read\n", to: "admin.token")
    let unread = try cordon()
    #expect(unread.exit == .code(1) && unread.standardError.contains("have it read with SIGHUP"), "\(unread)")
    try site.gateway.directory.write(Self.token + "\n", to: "admin.token")
    configuration["listen", "workers"] = "3"
    _ = try configuration.install(in: site.gateway.directory)
    let refused = try cordon()
    #expect(refused.exit == .code(1) && refused.standardError.contains("listen.workers"), "\(refused)")
    try poll("both reloads in the audit") {
      let audit = String(decoding: site.gateway.log, as: UTF8.self).split(separator: "\n")
        .filter { $0.contains("\"administration\"") && $0.contains("\"reload\"") }
      return audit.contains { $0.contains("\"by\":\"signal\"") } && audit.contains { $0.contains("\"by\":\"token\"") }
        ? () : nil
    }
  }

  @Test(
    "cordon reload of a bad file: exit status 78 and the place, and the gateway's log and metrics tell of it, too",
    arguments: ["[listen.timeouts]\nidle = \"never\"\n", "nonsense = [1\n", "[upstream\n"])
  func badFileByCommand(ending: String) throws {
    let site = try Site.withTwoLoops(adjust: { $0["admin", "token_file"] = "\"admin.token\"" })
    defer { site.stop() }
    var configuration = site.gateway.configuration
    configuration.ending = ending
    _ = try configuration.install(in: site.gateway.directory)
    func cordon(_ more: String...) throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
      try ServerProcess.run(
        Machine.binary("cordon"), ["reload", "--config", site.gateway.file] + more,
        directory: site.gateway.directory.path)
    }
    let bad = try cordon()
    #expect(bad.exit == .code(78), "\(bad)")
    let place = try #require(bad.standardError.split(separator: "\n").first { $0.contains("gateway.conf:") }, "\(bad)")
    #expect(bad.standardError.contains("Not reloaded: the running configuration stays in effect."))
    #expect(
      bad.standardError.contains("After a correction of the file run `cordon reload` again."), "\(bad.standardError)")
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    let told = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(told["problem"] as? String == String(place) && told["by"] as? String == "token")
    #expect(try Metrics(site.gateway).value("cordon_config_reloads_total{result=\"refused\"}") == 1)
    #expect(try Metrics(site.gateway).value("cordon_config_last_reload_successful") == 0)
    let json = try cordon("--json")
    #expect(json.exit == .code(78))
    let report = try JSONSerialization.jsonObject(with: Data(json.standardOutput.utf8)) as? [String: Any]
    #expect(report?["reloaded"] as? Bool == false && report?["problems"] as? [String] == [String(place)], "\(json)")
    #expect(try site.gateway.client.get("/x").status == 401, "it serves as before")
    // Where nobody is there to be asked, the file is told of all the same.
    site.gateway.stop()
    let alone = try cordon()
    #expect(alone.exit == .code(78), "\(alone)")
    #expect(alone.standardError.contains(place) && alone.standardError.contains("is the gateway running"), "\(alone)")
    #expect(alone.standardError.contains("Its log says whether it runs"), "\(alone)")
  }

  @Test("A file that is in order for the gateway's environment is reloaded, though not in order for the shell's")
  func otherEnvironment() throws {
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
    configuration["admin", "token_file"] = "\"admin.token\""
    configuration["session", "secret_files"] = "[\"${KEY_FOLDER}/session.key\"]"
    let gateway = try GatewayProcess(configuration, environment: ["KEY_FOLDER": "."])
    defer { gateway.stop() }
    let done = try ServerProcess.run(
      Machine.binary("cordon"), ["reload", "--config", gateway.file], directory: gateway.directory.path)
    #expect(done.exit == .code(0) && done.standardOutput.contains("Reloaded."), "\(done)")
  }
}
