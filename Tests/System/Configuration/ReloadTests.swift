import Foundation
import TemporaryDirectoryTesting
import Testing

// The configuration is read again while the gateway runs.
//
// - Ten reloads under load, of everything that can change: every request is answered 200.
// - A long file that is read again and again takes no more memory.
// - What is new holds at once, on connections that are kept, too: routes, headers, limits, whom is believed.
// - A replaced key of Apple's is told until it is taken.
// - A new secret signs nobody out; a secret that is taken away does.

@SystemActor
@Suite("Reloading")
struct ReloadTests {
  @Test("Ten reloads of everything that can change, under load: every request is answered 200")
  func underLoad() throws {
    let other = try RawUpstream()
    defer { other.stop() }
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin))
    let load = SteadyLoad(port: site.gateway.configuration.port, fields: [("Cookie", cookie)])
    for round in 0..<10 {
      try load.waitForMore()
      try site.gateway.directory.write("another secret of round \(round), also long enough\n", to: "second.key")
      try site.reload {
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
    #expect(try Metrics(site.gateway).value("cordon_config_reloads_total{result=\"ok\"}") == 10)
    #expect(try Metrics(site.gateway).value("cordon_config_reloads_total{result=\"refused\"}") == 0)
    #expect(!other.requests.isEmpty && !site.upstream.requests.isEmpty)
    #expect(site.upstream.requests.contains { $0.fields["X-Round-9"] != nil }, "the last headers hold")
    #expect(try anna.fetch(site.own("session")).status == 200)
  }

  @Test("A reload leaves the gateway its locks on the SQLite store, without which others would take its log away")
  func storeLocks() throws {
    let site = try Site.withTwoLoops()
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
    try site.reload { $0["listen.timeouts", "idle"] = "\"31s\"" }
    try site.reload { $0["listen.timeouts", "idle"] = "\"never\"" }
    try poll("the same locks") { try locks() == before ? () : nil }
  }

  @Test("Reloads of a long file do not add up in memory")
  func memory() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    let members = (0..<10_000).map { "\"user\($0)@example.com\"" }.joined(separator: ", ")
    let group = "[[group]]\nname = \"many\"\nmembers = [\(members)]\n"
    for _ in 0..<3 { try site.reload { $0.ending = group } }
    let before = try site.gateway.writtenKiB
    // Each would leave two megabytes if what was parsed were not freed; one takes about ten while it is under way.
    for _ in 0..<16 { try site.reload { $0.ending = group } }
    #expect(try site.gateway.writtenKiB - before < 16 << 10)
  }

  @Test("Pages of the program that a start or a reload has run are given back within seconds")
  func programPages() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    try site.reload { _ in }
    var most = 0
    try poll("pages to be given back", by: .seconds(60)) {
      let now = try site.gateway.fileKiB
      most = max(most, now)
      return most - now > 2 << 10 ? () : nil
    }
    #expect(try site.gateway.admin.get("/readyz").status == 200)
  }

  @Test("A new secret signs nobody out; a secret that is taken away signs out who holds its cookies")
  func secrets() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    let anna = try site.signedIn()
    let old = try #require(anna.jar["__Host-cordon"])
    try site.gateway.directory.write("the new secret, long enough to be one\n", to: "new.key")
    // A refresh token that the old secret sealed is not lost by mistake.
    try site.reload { $0["session", "secret_files"] = "[\"new.key\"]" }
    let line = try site.gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(line.contains("session.secret_files"), "\(line)")
    try site.reload { $0["session", "secret_files"] = "[\"new.key\", \"session.key\"]" }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "still signed in")
    #expect(try anna.fetch(site.own("session")).status == 200)
    let new = try #require(anna.jar["__Host-cordon"])
    #expect(new != old, "the cookie was renewed")
    let resealed = try ServerProcess.run(
      Machine.binary("cordon"), ["store", "reseal", "--config", site.gateway.file],
      directory: site.gateway.directory.path)
    #expect(resealed.exit == .code(0), "\(resealed)")
    try site.reload { $0["session", "secret_files"] = "[\"new.key\"]" }
    #expect(try anna.fetch("\(site.origin)/x").status == 200, "the new cookie is good")
    let fields = [("Cookie", "__Host-cordon=\(old)")]
    #expect(try site.gateway.client.get("/x", fields: fields).status == 401, "the old one is worth nothing")
  }

  @Test("New routes and a proxy that is believed no more hold on connections that are kept")
  func keptConnections() throws {
    let site = try Site.withTwoLoops(adjust: {
      $0["listen", "trusted_proxies"] = "[\"127.0.0.1/32\"]"
      $0.ending = GatewayConfiguration.everythingPublic
    })
    defer { site.stop() }
    let connection = try site.gateway.connect()
    let request = "GET /x HTTP/1.1\r\nHost: \(site.gateway.client.authority)\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(site.upstream.requests.last?.fields["X-Forwarded-For"]?.contains("192.0.2.1") == true)
    try site.reload {
      $0["listen", "trusted_proxies"] = nil
      $0.ending = GatewayConfiguration.everythingPublic
    }
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 200)
    #expect(site.upstream.requests.last?.fields["X-Forwarded-For"] == "127.0.0.1")
    try site.reload { $0.ending = "[[route]]\npath = \"/\"\naccess = \"deny\"\n" }
    try connection.send(request)
    #expect(try HTTPResponse.read(from: connection).status == 403)
  }

  @Test("Exchanges in flight at a reload end as they began, on the upstream that they began with")
  func underWay() throws {
    let gate = Gate()
    let site = try Site.withTwoLoops(
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
    try site.reload {
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
    let site = try Site.withTwoLoops(
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
    try site.reload { $0["upstream", "max_connections"] = "90" }
    let after = try #require(try upload())
    #expect(after.fields["Content-Length"] == "4" && after.body == Array("wiki".utf8))
  }

  @Test("A key of Apple's that replaces the file is told until a reload takes it")
  func appleKey() throws {
    let site = try Site.withTwoLoops()
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
    try expectHealth("Apple's key file cannot be used: \(file) does not exist: put it there, or correct the path; ")
    try site.gateway.waitForLog("Apple's key file cannot be used, keeping the key in use", count: 2)
    _ = try site.signedIn(as: "anna")
    try site.gateway.directory.write(AppleKey.shared.get().privatePEM, to: "AuthKey.p8")
    try site.gateway.waitForLog("Apple's key file can be used again")
  }

  @Test("A file of secrets that is gone is told, and nobody is signed out")
  func secretFileLost() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let path = "\(site.gateway.directory.path)/session.key"
    try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
    let line = try site.gateway.process.waitForLine(
      containing: "a file of secrets is missing, keeping the secrets in use")
    #expect(line.contains("session.key") && line.contains("a restart would fail"), "\(line)")
    #expect(try anna.fetch(site.origin + "/").status == 200)
    try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
    try site.gateway.waitForLog("a file of secrets is there again")
  }

  @Test("A SIGHUP does not end the process, and the log's level follows")
  func level() throws {
    let site = try Site.withTwoLoops()
    defer { site.stop() }
    try site.reload { _ in }
    var configuration = site.gateway.configuration
    configuration["log", "level"] = "\"error\""
    _ = try configuration.install(in: site.gateway.directory)
    site.gateway.process.signal(SIGHUP)
    try poll("two reloads") {
      try Metrics(site.gateway).value("cordon_config_reloads_total{result=\"ok\"}") == 2 ? () : nil
    }
    #expect(site.reloadOutcomes == 1, "what is told as a notice is not told any more")
    #expect(site.gateway.process.isRunning)
  }
}
