import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// What becomes of connections to PostgreSQL, seen from outside. (A server in trouble: StoreFaultTests.)
//
// - Connections that the server has ended (idle time-out, restart, by an administrator) cost nobody a sign-in, and no
//   log line says that the store is away when it is not.
// - While the server stands still, users who are signed in wait for nothing that another event loop knows.
// - A user whose account changed just before the server went away goes on as before.

@SystemActor
@Suite("Connections to PostgreSQL")
struct StoreConnectionTests {
  /// One way for a server to end connections.
  enum Ending: String, CaseIterable, Sendable {
    case idle, restarted, terminated

    func happen(_ server: PostgreSQLServer, _ url: String) throws {
      switch self {
      case .idle:
        // The gateway follows changes once a second: what it uses for that, and what it listens on, may stay.
        try poll("idle connections to be ended") { try connections(server) <= 2 ? () : nil }
      case .restarted:
        try server.stop()
        try server.start()
      case .terminated:
        try server.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cordon'")
      }
    }

    private func connections(_ server: PostgreSQLServer) throws -> Int {
      let count = try server.query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cordon'")
      return try #require(Int(count))
    }
  }

  /// Browsers that stand at Apple's answer, and bring it at the same moment.
  private func signInTogether(_ site: Site, _ count: Int, before: () throws -> Void) async throws -> [HTTPResponse] {
    let ready = try (0..<count).map { _ in
      let visitor = try site.beforeCallback()
      let cookie = try #require(
        visitor.jar.header(host: "localhost", path: "/.auth/callback", crossSite: true, crossSiteUnsafe: true))
      return (cookie: cookie, inputs: try visitor.answerForm().inputs)
    }
    try before()
    let (client, apple) = (site.gateway.client, site.apple.baseURL)
    let requests = ready.map { cookie, inputs in
      Task.detached {
        try client.post(
          "/.auth/callback", form: inputs,
          fields: [
            ("Cookie", cookie), ("Origin", apple), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
          ])
      }
    }
    var answers: [HTTPResponse] = []
    for request in requests { answers.append(try await request.value) }
    return answers
  }

  @Test("Connections that the server has ended cost nobody a sign-in", arguments: Ending.allCases)
  func ended(_ ending: Ending) async throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    if ending == .idle { try server.query("ALTER SYSTEM SET idle_session_timeout = '1500ms'") }
    if ending == .idle { try server.query("SELECT pg_reload_conf()") }
    let site = try Site(adjust: { $0["store", "url"] = "\"\(url)\"" })
    defer { site.stop() }
    for round in 0..<8 {
      let answers = try await signInTogether(site, 8) { if round > 0 { try ending.happen(server, url) } }
      let good = answers.filter { $0.setCookies.contains { $0.hasPrefix("__Host-cordon=") } }
      #expect(good.count == 8 && good.allSatisfy { $0.status == 303 }, "round \(round): \(answers.map(\.status))")
    }
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    // While it is restarted it is away, and the gateway may say so.
    if ending != .restarted { #expect(!log.contains("session store unavailable"), "\(log)") }
    #expect(!log.contains("\"use_up\""), "\(log)")
    #expect(try server.query("SELECT count(*) FROM cordon.sessions", at: url) == "64")
  }

  @Test("A password with any characters is taken percent-encoded in store.url, and as it is from PGPASSWORD")
  func passwords() throws {
    let server = try PostgreSQLServer()
    let password = "p@ss/w#rd%1?:&\u{E9} "
    try server.query("CREATE ROLE odd LOGIN SUPERUSER PASSWORD '\(password)'")
    let database = try #require(try server.makeDatabase().split(separator: "/").last.map(String.init))
    let place = "127.0.0.1:\(server.port)/\(database)?sslmode=disable"
    let encoded = password.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let upstream = try RawUpstream()
    defer { upstream.stop() }
    for (url, environment) in [
      ("postgresql://odd:\(encoded)@\(place)", [:]), ("postgresql://odd@\(place)", ["PGPASSWORD": password]),
      ("postgresql://odd:${ENCODED}@\(place)", ["ENCODED": encoded]),
    ] {
      var configuration = try GatewayConfiguration(upstream: "http://127.0.0.1:\(upstream.port)")
      configuration["store", "url"] = "\"\(url)\""
      let gateway = try GatewayProcess(configuration, environment: environment)
      defer { gateway.stop() }
      #expect(try gateway.admin.get("/readyz").status == 200, "\(url)")
      #expect(!String(decoding: gateway.log, as: UTF8.self).contains("w#rd"))
    }
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"postgresql://odd:${RAW}@\(place)\""
    let directory = try TemporaryDirectory()
    let ended = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", try configuration.install(in: directory)],
      environment: ["RAW": "p@ss/w#rd%1"], directory: directory.path)
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains("PGPASSWORD") && !ended.standardError.contains("w#rd"), "\(ended)")
  }

  @Test(
    "A store.url with an invalid value of a parameter ends the start with 78, and the value is not shown",
    arguments: [
      ("odd@127.0.0.1:99999/cordon", "store.url has an invalid port"),
      ("odd@127.0.0.1:9/cordon?sslmode=sometimes", "store.url has an sslmode that libpq does not know"),
      ("odd:sec/ret@127.0.0.1/cordon", "percent-encode special characters of a password"),
      // Those that libpq finds when it connects.
      ("odd@127.0.0.1:%399999/cordon", "invalid port number"),
      ("odd@127.0.0.1:9/cordon?connect_timeout=short", "connection option \"connect_timeout\""),
      ("odd@a,b/cordon?port=1,2,3", "could not match 3 port numbers to 2 hosts"),
    ])
  func impossible(url: String, problem: String) throws {
    var configuration = try GatewayConfiguration()
    configuration["store", "url"] = "\"postgresql://\(url)\""
    let directory = try TemporaryDirectory()
    let ended = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", try configuration.install(in: directory)],
      directory: directory.path)
    #expect(ended.exit == .code(78), "\(ended)")
    #expect(ended.standardError.contains(problem), "\(ended)")
    for value in ["99999", "sometimes", "short", "sec\"", "ret@"] {
      #expect(!ended.standardError.contains(value), "\(ended)")
    }
  }

  @Test("While the server stands still, who is signed in does not wait for what another event loop knows")
  func frozen() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site(adjust: {
      $0["store", "url"] = "\"\(url)\""
      $0["listen", "workers"] = "2"
    })
    defer { site.stop() }
    let visitors = try (0..<12).map { _ in try site.signedIn() }
    for visitor in visitors { #expect(try site.application(visitor) == 200) }
    server.freeze()
    defer { server.thaw() }
    for _ in 0..<2 {
      // Each on a connection of its own, which may come to either loop.
      for visitor in visitors { #expect(try site.application(visitor) == 200) }
    }
    // Not one of them asked the store.
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_store_failures_total{operation=\"find\"} 0\n"), "\(metrics)")
  }

  @Test("A user whose account changed just before the server went away goes on as before, and as it is afterwards")
  func stale() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site(adjust: { $0["store", "url"] = "\"\(url)\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    for _ in 0..<8 { #expect(try site.application(anna) == 200) }
    // In another browser: every loop is to look the account up again.
    _ = try site.signedIn()
    try server.stop()
    for _ in 0..<8 { #expect(try site.application(anna) == 200) }
    try server.start()
    try site.expectStoreRecovery(for: anna)
  }
}
