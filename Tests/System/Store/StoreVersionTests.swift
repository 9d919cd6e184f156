import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// A store that a newer version of cordon has changed, seen by this version from outside, in SQLite and in PostgreSQL.
//
// - A newer schema that only adds: this version starts on it, and everybody stays signed in.
// - A raised minimum_reader: a running gateway stops serving who is signed in, WebSockets included, and says why;
//   public routes go on. It serves again when minimum_reader is lowered. It does not start.

@SystemActor
@Suite("A store of a newer version")
struct StoreVersionTests {
  enum Kind: String, CaseIterable, Sendable {
    case sqlite, postgreSQL
  }

  /// A site with a store of this kind, and how to change its tables behind the gateway's back.
  private func site(_ kind: Kind) throws -> (Site, change: (String) throws -> Void) {
    let server = kind == .postgreSQL ? try PostgreSQLServer() : nil
    let url = try server?.makeDatabase()
    let site = try Site(upstream: StreamingApplication.answer) {
      if let url { $0["store", "url"] = "\"\(url)\"" }
      $0.ending = "[[route]]\npath = \"/open/\"\naccess = \"public\"\n"
    }
    let file = "\(site.gateway.directory.path)/cordon.db"
    return (
      site,
      { statement in
        if let server, let url {
          try server.query(statement, at: url)
        } else {
          let program = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], timeout=30)
            database.executescript(sys.argv[2].replace("cordon.", ""))
            database.commit()
            """
          let done = try ServerProcess.run(
            Machine.program("python3", package: "python3"), ["-c", program, file, statement])
          #expect(done.exit == .code(0), "\(done.standardError)")
        }
      }
    )
  }

  @Test(
    "A raised minimum_reader: who is signed in gets 503, public routes go on, and all is well when it is lowered",
    arguments: Kind.allCases)
  func raised(_ kind: Kind) throws {
    let (site, change) = try site(kind)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.application(anna) == 200)
    let webSocket = try site.gateway.webSocket(of: anna, site)
    try change("UPDATE cordon.store SET minimum_reader = 99")
    try poll("the end of service") { try site.application(anna) == 503 ? () : nil }
    try webSocket.waitForClose()
    for _ in 0..<5 {
      #expect(try site.application(anna) == 503)
      #expect(try anna.fetch(site.own("session")).status == 503)
      #expect(try anna.fetch("\(site.origin)/open/page").status == 200)
      #expect(try site.gateway.client.get("/open/page").status == 200)
    }
    #expect(try Visitor().signIn(site, as: "ben").status == 503)
    let ready = try poll("/readyz to say so") {
      let ready = try site.gateway.admin.get("/readyz")
      return ready.status == 503 ? ready : nil
    }
    #expect(ready.text.contains("\"store\""), "\(ready.text)")
    let health = try site.gateway.admin.get("/healthz")
    #expect(health.text.contains("run the newer version"), "\(health.text)")
    try site.gateway.waitForLog("answering signed-in requests with 503")
    try site.gateway.waitForLog("\"level\":\"critical\"")
    try change("UPDATE cordon.store SET minimum_reader = 1")
    try site.expectStoreRecovery(for: anna)
    try site.gateway.waitForLog("session store is compatible again")
  }

  @Test(
    "A gateway starts on a newer schema that only adds, and not on one whose minimum_reader it does not know",
    arguments: Kind.allCases)
  func starts(_ kind: Kind) throws {
    let (site, change) = try site(kind)
    defer { site.stop() }
    let anna = try site.signedIn()
    let future =
      kind == .sqlite
      ? "INSERT INTO grdb_migrations (identifier) VALUES ('99: of the future')"
      : "UPDATE cordon.schema_version SET version = 99"
    try change("\(future); ALTER TABLE cordon.accounts ADD COLUMN of_the_future text")
    try site.gateway.restart()
    #expect(try site.application(anna) == 200)
    _ = try site.signedIn(as: "ben")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    try change("UPDATE cordon.store SET minimum_reader = 99")
    let refused = try ServerProcess.run(
      Machine.binary("cordon"), ["run", "--config", site.gateway.file], directory: site.gateway.directory.path)
    #expect(refused.exit == .code(78))
    #expect((refused.standardOutput + refused.standardError).contains("run the newer version"))
    try change("UPDATE cordon.store SET minimum_reader = 1")
    try site.gateway.restart()
    #expect(try site.application(anna) == 200)
  }

  @Test("A store of the first schema is brought up at the start, and nobody is signed out")
  func firstSchema() throws {
    let (site, change) = try site(.sqlite)
    defer { site.stop() }
    let anna = try site.signedIn()
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    try change(
      """
      ALTER TABLE store DROP COLUMN minimum_reader;
      ALTER TABLE accounts DROP COLUMN check_failing_since;
      ALTER TABLE accounts DROP COLUMN apple_authorized;
      DELETE FROM grdb_migrations WHERE identifier LIKE '3:%';
      """)
    try site.gateway.restart()
    #expect(try site.application(anna) == 200)
  }
}
