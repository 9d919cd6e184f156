import Foundation
import Testing

// The configuration is read again while the gateway runs.
//
// - Ten reloads under load, of everything that can change: every request is answered 200.
// - A bad file, or one that changes what cannot change, keeps the running configuration whole, and says why: in the log
//   with its place, by the exit status of `cordon reload`, in the metrics. All three at each way to ask.
// - A long file that is read again and again takes no more memory.
// - What is new holds at once, on connections that are kept, too: routes, headers, limits, whom is believed.
// - A replaced key of Apple's is told until it is taken.
// - A new secret signs nobody out; a secret that is taken away does.

@SystemActor
@Suite("Reloading")
struct ReloadTests {
  private static let token = "a-token-of-the-tests-long-enough-to-be-one"

  private static func site(
    upstream: @escaping RawUpstream.RequestHandler = RawUpstream.greet,
    adjust: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> Site {
    let site = try Site(
      upstream: upstream,
      adjust: {
        $0["log", "format"] = "\"json\""
        $0["listen", "workers"] = "2"
        adjust(&$0)
      })
    return site
  }

  /// Writes another configuration, asks for it by signal, and waits for what comes of it.
  private func reload(_ site: Site, _ change: (inout GatewayConfiguration) -> Void) throws {
    var configuration = site.gateway.configuration
    change(&configuration)
    let before = outcomes(site)
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try poll("the reload to be over") { outcomes(site) > before ? () : nil }
  }

  private func outcomes(_ site: Site) -> Int {
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    return ["configuration reloaded", "configuration reload failed"].reduce(0) {
      $0 + log.components(separatedBy: $1).count - 1
    }
  }

  private func metric(_ site: Site, _ name: String) throws -> Double? {
    let line = try site.gateway.admin.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
    return line.flatMap { Double($0.split(separator: " ")[1]) }
  }

  @Test("Ten reloads of everything that can change, under load: every request is answered 200")
  func underLoad() throws {
    let other = try RawUpstream()
    defer { other.stop() }
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin))
    let load = SteadyLoad(port: site.gateway.configuration.port, fields: [("Cookie", cookie)])
    for round in 0..<10 {
      try load.waitForMore()
      try site.gateway.directory.write("another secret of round \(round), also long enough\n", to: "second.key")
      try reload(site) {
        $0["session", "secret_files"] =
          round % 2 == 0 ? "[\"session.key\", \"second.key\"]" : "[\"second.key\", \"session.key\"]"
        $0["upstream", "url"] = "\"http://127.0.0.1:\(round % 2 == 0 ? other.port : site.upstream.port)\""
        $0["upstream.timeouts", "connect"] = "\"\(round + 5)s\""
        $0["identity.headers", "X-Round-\(round)"] = "\"sub\""
        $0["listen.timeouts", "idle"] = "\"\(60 + round)s\""
        $0["listen.limits", "field_count"] = "\(100 + round)"
        $0["log", "access"] = "\(round % 2 == 0)"
        $0["pages", "show_sign_in_page"] = "\(round % 2 == 0)"
        $0.ending = "[[route]]\npath = \"/round/\(round)/\"\naccess = \"public\"\n"
      }
      #expect(try site.gateway.client.get("/round/\(round)/x").status == 200, "the new routes hold")
    }
    try load.waitForMore()
    let complaints = try load.stop()
    #expect(complaints == [])
    #expect(try metric(site, "cordon_config_reloads_total{result=\"ok\"}") == 10)
    #expect(try metric(site, "cordon_config_reloads_total{result=\"refused\"}") == 0)
    #expect(!other.requests.isEmpty && !site.upstream.requests.isEmpty)
    #expect(site.upstream.requests.contains { $0.fields["X-Round-9"] != nil }, "the last headers hold")
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("A reload leaves the gateway its locks on the SQLite store, without which others would take its log away")
  func storeLocks() throws {
    let site = try Self.site()
    defer { site.stop() }
    let store = site.gateway.directory.path + "/cordon.db"
    let number = try FileManager.default.attributesOfItem(atPath: store)[.systemFileNumber] as? Int
    let (pid, inode) = ("\(site.gateway.process.pid)", ":\(try #require(number))")
    // `1: POSIX  ADVISORY  READ 4711 fe:00:1234 1073741826 1073742335` (proc(5))
    func locks() throws -> [String] {
      try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
        .map { $0.split(separator: " ").dropFirst() }
        .filter { $0.contains { $0 == pid } && $0.contains { $0.hasSuffix(inode) } }
        .map { $0.joined(separator: " ") }.sorted()
    }
    _ = try site.signedIn()
    // The list is read in pieces, between which others change it.
    let before = try poll("locks on the store") {
      let locks = try locks()
      return locks.isEmpty ? nil : locks
    }
    try reload(site) { $0["listen.timeouts", "idle"] = "\"31s\"" }
    try reload(site) { $0["listen.timeouts", "idle"] = "\"never\"" }
    try poll("the same locks") { try locks() == before ? () : nil }
  }

  @Test("Reloads of a long file do not add up in memory")
  func memory() throws {
    let site = try Self.site()
    defer { site.stop() }
    let members = (0..<10_000).map { "\"user\($0)@example.com\"" }.joined(separator: ", ")
    let group = "[[group]]\nname = \"many\"\nmembers = [\(members)]\n"
    for _ in 0..<3 { try reload(site) { $0.ending = group } }
    let before = try site.gateway.writtenKiB
    // Each would leave two megabytes if what was parsed were not freed; one takes about ten while it is under way.
    for _ in 0..<16 { try reload(site) { $0.ending = group } }
    #expect(try site.gateway.writtenKiB - before < 16 << 10)
  }

  @Test("Pages of the program that a start or a reload has run are given back within seconds")
  func programPages() throws {
    let site = try Self.site()
    defer { site.stop() }
    try reload(site) { _ in }
    var most = 0
    try poll("pages to be given back", by: .seconds(60)) {
      let now = try site.gateway.fileKiB
      most = max(most, now)
      return most - now > 2 << 10 ? () : nil
    }
    #expect(try site.gateway.admin.get("/readyz").status == 200)
  }

  @Test("A bad file keeps the running configuration, and the log says where it is wrong")
  func badFile() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn()
    try reload(site) { $0["listen.timeouts", "idle"] = "\"never\"" }
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("gateway.conf:") && line.contains("listen.timeouts.idle"), "\(line)")
    #expect(try metric(site, "cordon_config_reloads_total{result=\"refused\"}") == 1)
    #expect(try metric(site, "cordon_config_last_reload_successful") == 0)
    #expect(try site.gateway.admin.get("/healthz").text.contains("listen.timeouts.idle"), "as long as it is so")
    #expect(try anna.fetch("\(site.origin)/x").status == 200)
    try FileManager.default.removeItem(atPath: "\(site.gateway.directory.path)/session.key")
    site.gateway.process.signal(SIGHUP)
    // A line for each of its two problems, so that none of them is taken for what comes of the next reload.
    try poll("the second refusal") { outcomes(site) == 3 ? () : nil }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "a file that it names is gone")
    try reload(site) { $0["listen.timeouts", "idle"] = "\"30s\"" }
    #expect(try metric(site, "cordon_config_last_reload_successful") == 1)
    #expect(try !site.gateway.admin.get("/healthz").text.contains("failing"))
  }

  @Test("A refused configuration tells neither passwords nor people's addresses: not in the log, not on /healthz")
  func refusedSecrets() throws {
    let site = try Site()
    defer { site.stop() }
    try reload(site) { configuration in
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
    let site = try Self.site()
    defer { site.stop() }
    let values = [
      "listen.address": "\"127.0.0.1:\(try FreePort.take())\"", "admin.address": "\"127.0.0.1:\(try FreePort.take())\"",
      "listen.workers": "1", "store.url": "\"sqlite:other.db\"", "session.cookie_name": "\"__Host-wiki\"",
    ]
    try reload(site) {
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
    let site = try Self.site()
    defer { site.stop() }
    #expect(try site.gateway.admin.send("POST", "/reload", body: []).status == 403, "off without a token, over TCP")
    try site.gateway.directory.write(Self.token + "\n", to: "admin.token")
    func cordon() throws -> (exit: ServerProcess.Exit, standardOutput: String, standardError: String) {
      try ServerProcess.run(
        Machine.binary("cordon"), ["reload", "--config", site.gateway.file], directory: site.gateway.directory.path)
    }
    var configuration = site.gateway.configuration
    configuration["admin", "token_file"] = "\"admin.token\""
    try reload(site) { $0 = configuration }
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
    let site = try Self.site(adjust: { $0["admin", "token_file"] = "\"admin.token\"" })
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
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    let told = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(told["problem"] as? String == String(place) && told["by"] as? String == "token")
    #expect(try metric(site, "cordon_config_reloads_total{result=\"refused\"}") == 1)
    #expect(try metric(site, "cordon_config_last_reload_successful") == 0)
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

  @Test("A new secret signs nobody out; a secret that is taken away signs out who holds its cookies")
  func secrets() throws {
    let site = try Self.site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let old = try #require(anna.jar["__Host-cordon"])
    try site.gateway.directory.write("the new secret, long enough to be one\n", to: "new.key")
    // A refresh token that the old secret sealed is not lost by mistake.
    try reload(site) { $0["session", "secret_files"] = "[\"new.key\"]" }
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("session.secret_files"), "\(line)")
    try reload(site) { $0["session", "secret_files"] = "[\"new.key\", \"session.key\"]" }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "still signed in")
    #expect(try anna.fetch(site.own("session")).status == 200)
    let new = try #require(anna.jar["__Host-cordon"])
    #expect(new != old, "the cookie was renewed")
    let resealed = try ServerProcess.run(
      Machine.binary("cordon"), ["store", "reseal", "--config", site.gateway.file],
      directory: site.gateway.directory.path)
    #expect(resealed.exit == .code(0), "\(resealed)")
    try reload(site) { $0["session", "secret_files"] = "[\"new.key\"]" }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "the new cookie is good")
    let fields = [("Cookie", "__Host-cordon=\(old)")]
    #expect(try site.gateway.client.get("/x", fields: fields).status == 401, "the old one is worth nothing")
  }

  @Test("New routes and a proxy that is believed no more hold on connections that are kept")
  func keptConnections() throws {
    let site = try Self.site(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
      $0.ending = GatewayConfiguration.everythingPublic
    })
    defer { site.stop() }
    let connection = try site.gateway.connect()
    let request = "GET /x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(site.upstream.requests.last?.fields["X-Forwarded-For"]?.contains("192.0.2.1") == true)
    try reload(site) {
      $0["listen", "trusted_proxies"] = nil
      $0.ending = GatewayConfiguration.everythingPublic
    }
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(site.upstream.requests.last?.fields["X-Forwarded-For"] == "127.0.0.1")
    try reload(site) { $0.ending = "[[route]]\npath = \"/\"\naccess = \"deny\"\n" }
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 403)
  }

  @Test("Exchanges in flight at a reload end as they began, on the upstream that they began with")
  func underWay() throws {
    let gate = Gate()
    let site = try Self.site(
      upstream: { _, connection in
        try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
        try gate.wait()
        try connection.send("-last")
      }, adjust: { $0.ending = GatewayConfiguration.everythingPublic })
    defer { site.stop() }
    let connection = try site.gateway.connect()
    try connection.send("GET /slow HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    _ = try connection.read(through: "first")
    let other = try RawUpstream()
    defer { other.stop() }
    try reload(site) {
      $0["upstream", "url"] = "\"http://127.0.0.1:\(other.port)\""
      $0.ending = GatewayConfiguration.everythingPublic
    }
    #expect(try site.gateway.client.get("/new").status == 200)
    #expect(other.requests.map(\.target) == ["/new"])
    gate.open()
    _ = try connection.read(through: "-last")
    try connection.send("GET /next HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\n\r\n")
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(other.requests.map(\.target) == ["/new", "/next"], "the same connection, the new application")
  }

  @Test("An application that speaks HTTP/1.0 still gets uploads with their length after a reload")
  func oldApplication() throws {
    let site = try Self.site(
      upstream: { _, connection in
        try connection.send("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
        connection.close()
      },
      adjust: {
        $0["listen", "workers"] = "1"
        $0.ending = GatewayConfiguration.everythingPublic
      })
    defer { site.stop() }
    func upload() throws -> RawUpstream.Request? {
      let connection = try site.gateway.connect()
      try connection.send(
        "PUT /a HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "4\r\nwiki\r\n0\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == 200)
      return site.upstream.requests.last
    }
    #expect(try site.gateway.client.get("/").status == 200)
    #expect(try upload()?.fields["Content-Length"] == "4")
    try reload(site) { $0["upstream", "max_connections"] = "90" }
    let after = try #require(try upload())
    #expect(after.fields["Content-Length"] == "4" && after.body == Array("wiki".utf8))
  }

  @Test("A key of Apple's that replaces the file is told until a reload takes it")
  func appleKey() throws {
    let site = try Self.site()
    defer { site.stop() }
    func health() throws -> String { try site.gateway.admin.get("/healthz").text }
    // The same key again is not reported. Longer than the interval of the watch.
    try site.gateway.directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey.p8")
    usleep(5_000_000)
    #expect(try !health().contains("\"apple key\""))
    try site.gateway.directory.write(AppleKey().privatePEM, to: "AuthKey.p8")
    let line = try site.gateway.process.waitForLine(containing: "Apple's key file has another key than the one in use")
    #expect(line.contains("AuthKey.p8") && line.contains("reload"), "\(line)")
    #expect(try health().contains("\"apple key\""))
    // The key in use is still the right one.
    _ = try site.signedIn(as: "anna")
    site.gateway.process.signal(SIGHUP)
    try site.gateway.process.waitForLine(containing: "configuration reloaded")
    try poll("the check has gone") { try health().contains("\"apple key\"") ? nil : () }
  }

  @Test("A file of Apple's key that is gone or damaged is told in words, and the key in use stays")
  func appleKeyFileLost() throws {
    let site = try Site()
    defer { site.stop() }
    let file = "\(site.gateway.directory.path)/AuthKey.p8"
    func expectHealth(_ text: String) throws {
      try poll("\(text) on /healthz") { try site.gateway.admin.get("/healthz").text.contains(text) ? () : nil }
    }
    try site.gateway.directory.write("not a key", to: "AuthKey.p8")
    try expectHealth("Apple's key file cannot be used: \(file) is not a private key in PEM form: use the AuthKey_")
    try FileManager.default.removeItem(atPath: file)
    try expectHealth("Apple's key file cannot be used: \(file) does not exist: correct the path; a restart would fail")
    _ = try site.signedIn(as: "anna")
  }

  @Test("A SIGHUP does not end the process, and the log's level follows")
  func level() throws {
    let site = try Self.site()
    defer { site.stop() }
    try reload(site) { _ in }
    var configuration = site.gateway.configuration
    configuration["log", "level"] = "\"error\""
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try poll("two reloads") { try metric(site, "cordon_config_reloads_total{result=\"ok\"}") == 2 ? () : nil }
    #expect(outcomes(site) == 1, "what is told as a notice is not told any more")
    #expect(site.gateway.process.isRunning)
  }
}
