import Foundation
import PostgreSQLServerTesting
import TemporaryDirectoryTesting
import Testing

// `cordon store copy` and what else the commands make of a PostgreSQL store; the simulation that the documentation
// rests on.

@SystemActor
@Suite("The commands and a PostgreSQL store")
struct StoreCommandTests {
  private func cordon(_ site: Site, _ arguments: String...) throws -> (exit: ServerProcess.Exit, said: String) {
    let result = try ServerProcess.run(
      Machine.binary("cordon"), arguments + ["--config", site.gateway.file], directory: site.gateway.directory.path)
    return (result.exit, result.standardOutput + result.standardError)
  }

  @Test("A gateway goes from SQLite to PostgreSQL by store copy, and nobody is signed out")
  func copy() throws {
    let server = try PostgreSQLServer()
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    let gone = try site.signedIn(as: "ben")
    _ = try gone.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    // Before there is a target.
    #expect(try cordon(site, "store", "copy", "--from", "cordon.db").exit == .code(1))
    let sqlite = site.gateway.configuration
    var configuration = sqlite
    configuration["store", "url"] = "\"\(try server.makeDatabase())\""
    _ = try configuration.install(in: site.gateway.directory)
    let inUse = try cordon(site, "store", "copy", "--from", "cordon.db")
    #expect(inUse.exit == .code(1) && inUse.said.contains("a gateway is using cordon.db"), "\(inUse.said)")
    let directory = site.gateway.directory
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("my store.db"), withDestinationPath: directory.file("cordon.db"))
    let linked = try cordon(site, "store", "copy", "--from", "my store.db")
    #expect(linked.said.contains("(sqlite3 \"my store.db\" \".backup BACKUP\")"), "\(linked.said)")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let missing = try cordon(site, "store", "copy", "--from", "nowhere.db")
    #expect(missing.exit == .code(1) && missing.said.contains("there is no file"))
    let unnamed = try cordon(site, "store", "copy", "--from", "")
    #expect(unnamed.exit == .code(1) && unnamed.said.contains("the name of the file is empty; name the SQLite store"))
    let copied = try cordon(site, "store", "copy", "--from", "cordon.db")
    #expect(copied.exit == .code(0), "\(copied.said)")
    #expect(copied.said.contains("accounts: 2 of 2") && copied.said.contains("The copy is complete"))
    #expect(try cordon(site, "store", "copy", "--from", "cordon.db").said.contains("complete already"))
    // That was a rehearsal: the file is used again, and its copy is an old one.
    try site.gateway.restart(with: sqlite)
    let dana = try site.signedIn(as: "dana")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    _ = try configuration.install(in: site.gateway.directory)
    let old = try cordon(site, "store", "copy", "--from", "cordon.db")
    #expect(old.exit == .code(1) && old.said.contains("before it changed"), "\(old.said)")
    configuration["store", "url"] = "\"\(try server.makeDatabase())\""
    _ = try configuration.install(in: site.gateway.directory)
    #expect(try cordon(site, "store", "copy", "--from", "cordon.db").said.contains("The copy is complete: 3 accounts"))
    try site.gateway.restart(with: configuration)
    #expect(try dana.fetch(site.own("session")).status == 200)
    #expect(try anna.fetch(site.own("session")).status == 200)
    #expect(try gone.fetch(site.own("session")).status == 401)
    let ready = try site.gateway.admin.get("/healthz")
    #expect(ready.text.contains("PostgreSQL at 127.0.0.1"), "\(ready.text)")
    #expect(!ready.text.contains("s3cret"))
  }

  @Test("store copy refuses the database of a running gateway, in which nobody has signed in yet")
  func copyBesideGateway() throws {
    let server = try PostgreSQLServer()
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    var configuration = site.gateway.configuration
    configuration["store", "url"] = "\"\(try server.makeDatabase())\""
    try site.gateway.restart(with: configuration)
    let refused = try cordon(site, "store", "copy", "--from", "cordon.db")
    #expect(refused.exit == .code(1) && refused.said.contains("a gateway is using PostgreSQL"), "\(refused.said)")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let copied = try cordon(site, "store", "copy", "--from", "cordon.db")
    #expect(copied.exit == .code(0), "\(copied.said)")
    #expect(copied.said.contains("The copy is complete: 1 account"))
  }

  @Test("The doctor looks at the database, says what is in it or that there is nothing yet, and makes nothing")
  func doctor() throws {
    let server = try PostgreSQLServer()
    let url = try server.makeDatabase()
    let site = try Site()
    defer { site.stop() }
    var configuration = site.gateway.configuration
    configuration["store", "url"] = "\"\(url)\""
    _ = try configuration.install(in: site.gateway.directory)
    #expect(try cordon(site, "check").exit == .code(0))
    #expect(try cordon(site, "doctor").said.contains("none yet at PostgreSQL at 127.0.0.1"))
    #expect(
      try server.query("SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'cordon'", at: url) == "0")
    try site.gateway.restart(with: configuration)
    _ = try site.signedIn()
    let seen = try cordon(site, "doctor").said
    #expect(seen.contains("can be written; 1 account, 1 session, 1 refresh token"), "\(seen)")
    #expect(!seen.contains("s3cret"))
    try server.stop()
    #expect(try cordon(site, "doctor").said.contains("cannot be reached"))
  }

  @Test("The simulation of how revalidations spread is the same for everybody, and nobody is asked about twice a day")
  func spread() throws {
    let script = Machine.packageRoot.appending(path: "Benchmarks/revalidation_spread.py").path
    let runs = try (0..<2).map { _ in
      try ServerProcess.run(
        Machine.program("python3", package: "python3"), [script, "--sample", "2000", "--days", "6", "--json"])
    }
    #expect(runs[0].exit == .code(0), "\(runs[0].standardError)")
    #expect(runs[0].standardOutput == runs[1].standardOutput)
    let object = try JSONSerialization.jsonObject(with: Data(runs[0].standardOutput.utf8)) as? [String: Any]
    let result = try #require(object)
    #expect(try #require(result["closest_hours"] as? Double) >= 24)
    let days = try #require(result["days"] as? [[String: Any]])
    #expect(days.count == 5)
    // However steep the first day was, later ones are spread as people's days are.
    let last = try #require(days.last?["peak_to_mean"] as? Double)
    #expect(last < 4)
  }
}
