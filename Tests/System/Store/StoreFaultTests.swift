import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// PostgreSQL in trouble, seen from outside. (SQLite: SQLiteFaultTests.)
//
// - Stopped, standing still, read-only, without a connection left: who is signed in goes on, who would sign in gets a
//   page with 503, /healthz says that it is the store and why, and everything goes on by itself afterwards.
// - A server that crashed and is back is not noticed by who is signed in.
// - The grace is over some time: then nobody is let in on memory alone.
// - What was signed out while one gateway could not hear of it is refused when it hears again.
// - A server that stands still does not delay the end of a process beyond what its manager grants.
// - TLS to the server, by what stands in store.url.

@SystemActor
@Suite("PostgreSQL in trouble")
struct StoreFaultTests {
  /// One way for the server to be in trouble.
  enum Trouble: String, CaseIterable, Sendable {
    case stopped, frozen, readOnly, connectionsExhausted

    func begin(_ server: PostgreSQLServer) throws {
      switch self {
      case .stopped: try server.stop()
      case .frozen: server.freeze()
      case .readOnly: try server.set("default_transaction_read_only = on")
      case .connectionsExhausted:
        try server.query("ALTER ROLE visitor CONNECTION LIMIT 0")
        try server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'visitor'")
      }
    }

    func end(_ server: PostgreSQLServer) throws {
      switch self {
      case .stopped: try server.start()
      case .frozen: server.thaw()
      case .readOnly: try server.set("default_transaction_read_only = off")
      case .connectionsExhausted: try server.query("ALTER ROLE visitor CONNECTION LIMIT -1")
      }
    }

    /// A part of the response of `/healthz`.
    var words: String {
      switch self {
      case .stopped: "cannot be reached"
      case .frozen: "does not answer"
      case .readOnly: "may be read but not written"
      case .connectionsExhausted: "has no connection left"
      }
    }
  }

  /// A site whose store is a database of this server, as a user who is not a superuser.
  private func site(_ server: PostgreSQLServer, grace: String = "10m") throws -> Site {
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw'")
    let name = try #require(try server.makeDatabase().split(separator: "/").last.map(String.init))
    try server.query("GRANT CREATE ON DATABASE \(name) TO visitor")
    let url = server.url(of: name, user: "visitor", password: "pw")
    return try Site(adjust: {
      $0["store", "url"] = "\"\(url)\""
      $0["store", "outage_grace"] = "\"\(grace)\""
    })
  }

  @Test(
    "PostgreSQL in trouble: who is signed in goes on, nobody signs in, and all is well when it is",
    arguments: Trouble.allCases)
  func trouble(_ trouble: Trouble) throws {
    let server = try PostgreSQLServer()
    let site = try site(server)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    try trouble.begin(server)
    try site.expectStoreTrouble(trouble.words, for: anna)
    try trouble.end(server)
    try site.expectStoreRecovery(for: anna)
    try site.gateway.waitForLog("session store")
    #expect(!String(decoding: site.gateway.log, as: UTF8.self).contains("visitor:pw"))
  }

  @Test("A server that crashed and is back is not noticed by who is signed in, and people sign in again by themselves")
  func crashed() throws {
    let server = try PostgreSQLServer()
    let site = try site(server)
    defer { site.stop() }
    let anna = try site.signedIn()
    for _ in 0..<3 {
      try server.kill()
      try server.start()
      #expect(try site.application(anna) == 200)
      try site.expectStoreRecovery(for: anna)
    }
  }

  @Test("After the grace nobody is let in on memory alone, and everybody is when the server is back")
  func graceIsOver() throws {
    let server = try PostgreSQLServer()
    let site = try site(server, grace: "3s")
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    try server.stop()
    #expect(try site.application(anna) == 200)
    #expect(try site.gateway.admin.get("/readyz").status == 200)
    try poll("the end of the grace") { try site.application(anna) == 503 ? () : nil }
    let ready = try poll("the end of readiness") {
      let ready = try site.gateway.admin.get("/readyz")
      return ready.status == 503 ? ready : nil
    }
    #expect(ready.text.contains("\"store\"") && ready.text.contains("cannot be reached"), "\(ready.text)")
    try server.start()
    try poll("the session to be let in") { try site.application(anna) == 200 ? () : nil }
    try poll("/readyz to answer 200") { try site.gateway.admin.get("/readyz").status == 200 ? () : nil }
  }

  @Test("A session that was signed out while a gateway was cut off is refused once it is connected again")
  func nothingComesBack() throws {
    let server = try PostgreSQLServer()
    let cluster = try Cluster(2, server: server)
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 200) }
    let cookie = try #require(try anna.cookieHeader(for: cluster.site.origin + "/"))
    // The second gateway stands still while the first one signs out, and the server goes down and up.
    try cluster.gateways[1].process.standStill()
    try cluster.signOut(anna, at: 0)
    try server.stop()
    cluster.gateways[1].process.signal(SIGCONT)
    try server.start()
    try poll("the other gateway to refuse the cookie") {
      try cluster.client(of: 1).get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
    }
  }

  @Test(
    "SIGTERM ends a gateway whose server does not answer five seconds after shutdown.limit, a second one sooner",
    arguments: [false, true])
  func frozenEnd(twice: Bool) throws {
    // It takes less than five seconds, and one after a second signal; without a limit it took ten.
    let limit = Duration.seconds(8)
    var times: [Duration] = []
    // A machine that is busy may hold one attempt up, not all of them.
    while times.count < 3, times.allSatisfy({ $0 >= limit }) { times.append(try timeOfEnd(twice: twice)) }
    #expect(try #require(times.last) < limit, "\(times)")
  }

  /// Ends a gateway whose server does not answer, and returns the time that it takes.
  private func timeOfEnd(twice: Bool) throws -> Duration {
    let server = try PostgreSQLServer()
    let site = try site(server)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    server.freeze()
    defer { server.thaw() }
    // The first operation hangs for as long as a statement may take.
    let began = ContinuousClock.now
    site.gateway.process.signal(SIGTERM)
    if twice {
      try site.gateway.waitForLog("shutting down: not ready")
      site.gateway.process.signal(SIGTERM)
    }
    #expect(try site.gateway.process.waitForExit() == .code(0))
    return ContinuousClock.now - began
  }

  @Test("sslmode=verify-full of store.url holds: over TLS with the right authority, no start with another")
  func verified() throws {
    let (folder, stranger) = (try TLSFolder(), try TLSFolder())
    func text(_ name: String) throws -> String { try String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8) }
    let server = try PostgreSQLServer(
      certificate: ServerCertificate(chain: try text("one.pem"), key: try text("one.key")))
    // By the name in the certificate.
    let database = try server.makeDatabase().replacing("127.0.0.1", with: "localhost")
    let url = "\(database)?sslmode=verify-full&sslrootcert="
    let site = try Site(adjust: { $0["store", "url"] = "\"\(url)\(folder.path)/ca.pem\"" })
    defer { site.stop() }
    _ = try site.signedIn()
    let overTLS = """
      SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_addr IS NOT NULL
      """
    #expect(try server.query(overTLS, at: url) == "t")
    var other = site.gateway.configuration
    other["store", "url"] = "\"\(url)\(stranger.path)/ca.pem\""
    _ = try other.install(in: site.gateway.directory)
    let doctor = try ServerProcess.run(Machine.binary("cordon"), ["doctor", "--config", site.gateway.file])
    #expect(doctor.exit == .code(1))
    #expect(doctor.standardOutput.contains("certificate verify failed"), "\(doctor.standardOutput)")
    #expect(!doctor.standardOutput.contains(PostgreSQLServer.password))
  }
}
