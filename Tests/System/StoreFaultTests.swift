import Foundation
import PostgreSQLServerTesting
import Testing

// The store in trouble, seen from outside.
//
// - PostgreSQL stopped, standing still, read-only, without a connection left: who is signed in goes on, who would sign in
//   gets a page with 503, /readyz says that it is the store and why, and everything goes on by itself afterwards.
// - The grace is over some time: then nobody is let in on memory alone.
// - What was signed out while one gateway could not hear of it is refused when it hears again.
// - The same for SQLite: locked, its disk full, not to be written, damaged.

@SystemActor
@Suite("The store in trouble")
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

    /// What `/readyz` says, among other things.
    var words: String {
      switch self {
      case .stopped: "cannot be reached"
      case .frozen: "does not answer"
      case .readOnly: "may be read but not written"
      case .connectionsExhausted: "has no connection left"
      }
    }
  }

  private func ask(_ visitor: Visitor, _ site: Site) throws -> Int { try visitor.fetch(site.own("session")).status }

  private func application(_ visitor: Visitor, _ site: Site) throws -> Int {
    try visitor.fetch(site.origin + "/app").status
  }

  /// A site whose store is a database of this server, as a user who is no superuser.
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

  private func expectTrouble(_ site: Site, _ words: String) throws {
    try poll("/healthz to say \(words)") {
      let health = try site.gateway.admin.get("/healthz")
      return health.status == 503 && health.text.contains(words) ? () : nil
    }
    let ready = try site.gateway.admin.get("/readyz")
    #expect(ready.status == 503 && ready.text.contains("\"store\""), "\(ready.text)")
  }

  private func expectRecovery(_ site: Site) throws {
    try poll("/readyz to answer 200") { try site.gateway.admin.get("/readyz").status == 200 ? () : nil }
    #expect(try ask(try site.signedIn(as: "ben"), site) == 200)
  }

  @Test(
    "PostgreSQL in trouble: who is signed in goes on, nobody signs in, and all is well when it is",
    arguments: Trouble.allCases)
  func trouble(_ trouble: Trouble) throws {
    let server = try PostgreSQLServer()
    let site = try site(server)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try application(anna, site) == 200)
    try trouble.begin(server)
    let stranger = Visitor()
    let page = try stranger.signIn(site, as: "ben")
    #expect(page.status == 503, "\(page.text)")
    #expect(page.response.fields["Content-Type"]?.hasPrefix("text/html") == true)
    #expect(stranger.jar["__Host-cordon"] == nil)
    for _ in 0..<5 { #expect(try application(anna, site) == 200) }
    try expectTrouble(site, trouble.words)
    #expect(try application(anna, site) == 200)
    // Nobody is told that they are signed out when that could not be written down.
    let signOut = try anna.fetch(site.own("sign-out"), method: "POST", fields: [("Origin", site.origin)])
    #expect(signOut.status == 503)
    #expect(signOut.fields["Content-Type"]?.hasPrefix("application/json") == true)
    #expect(try signOut.json()["error"] is String)
    #expect(site.gateway.process.isRunning)
    try trouble.end(server)
    try expectRecovery(site)
    #expect(try ask(anna, site) == 200)
    let log = String(decoding: site.gateway.log, as: UTF8.self)
    #expect(log.contains("the session store"))
    #expect(!log.contains("visitor:pw"))
  }

  @Test("After the grace nobody is let in on memory alone, and everybody is when the server is back")
  func graceIsOver() throws {
    let server = try PostgreSQLServer()
    let site = try site(server, grace: "3s")
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try application(anna, site) == 200)
    try server.stop()
    #expect(try application(anna, site) == 200)
    try poll("the end of the grace") { try application(anna, site) == 503 ? () : nil }
    try server.start()
    try poll("the session to be let in") { try application(anna, site) == 200 ? () : nil }
  }

  @Test("What was signed out while a gateway could not hear of it is refused when it hears again")
  func nothingComesBack() throws {
    let server = try PostgreSQLServer()
    let cluster = try Cluster(2, server: server)
    defer { cluster.stop() }
    let anna = try cluster.site.signedIn()
    for replica in 0..<2 { #expect(try cluster.status(of: anna, at: replica) == 200) }
    let cookie = try #require(try anna.cookieHeader(for: cluster.site.origin + "/"))
    // The second gateway stands still while the first one signs out, and the server goes down and up.
    cluster.gateways[1].process.signal(SIGSTOP)
    try cluster.signOut(anna, at: 0)
    try server.stop()
    cluster.gateways[1].process.signal(SIGCONT)
    try server.start()
    try poll("the other gateway to refuse the cookie", by: .seconds(10)) {
      try cluster.client(of: 1).get("/.auth/session", fields: [("Cookie", cookie)]).status == 401 ? () : nil
    }
  }

  // MARK: SQLite

  @Test("A SQLite file that another program has locked: who is signed in goes on, and so does everything afterwards")
  func locked() throws {
    let site = try Site()
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try application(anna, site) == 200)
    let file = "\(site.gateway.directory.path)/cordon.db"
    let holder = try ServerProcess(
      Machine.program("python3", package: "python3"),
      [
        "-c",
        """
        import sqlite3, sys, time
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        print("locked", flush=True)
        time.sleep(600)
        """, file,
      ])
    try holder.waitForLine(containing: "locked")
    #expect(try Visitor().signIn(site, as: "ben").status == 503)
    #expect(try application(anna, site) == 200)
    try expectTrouble(site, "locked by another process")
    holder.stop()
    try expectRecovery(site)
  }

  @Test(
    "A full disk below SQLite: nobody signs in or out, nothing is lost, and it is over when there is room",
    .enabled(if: geteuid() == 0, "mounting a small file system takes root"))
  func diskFull() throws {
    let disk = try SmallDisk(mebibytes: 2)
    defer { disk.unmount() }
    let site = try Site(adjust: { $0["store", "url"] = "\"sqlite:\(disk.path)/cordon.db\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try application(anna, site) == 200)
    try disk.fill()
    // What is in the log's allocated pages may still take a few.
    try poll("a refused sign-in") { try Visitor().signIn(site, as: "ben").status == 503 ? () : nil }
    #expect(try application(anna, site) == 200)
    try expectTrouble(site, "no room left")
    try disk.makeRoom()
    try expectRecovery(site)
    try site.gateway.killAndRestart()
    #expect(try ask(anna, site) == 200)
  }

  @Test(
    "A SQLite file that may only be read: a start is refused with the remedy, and goes well when it may be written",
    .enabled(if: geteuid() == 0, "mounting a small file system takes root"))
  func readOnly() throws {
    let disk = try SmallDisk(mebibytes: 4)
    defer { disk.unmount() }
    let site = try Site(adjust: { $0["store", "url"] = "\"sqlite:\(disk.path)/cordon.db\"" })
    defer { site.stop() }
    let anna = try site.signedIn()
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    try disk.remount("ro")
    let started = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", site.gateway.file])
    #expect(started.exit == .code(1))
    #expect(started.standardError.contains("may be read but not written"), "\(started.standardError)")
    try disk.remount("rw")
    try site.gateway.restart()
    #expect(try ask(anna, site) == 200)
  }

  @Test("A damaged SQLite file: a start is refused with the remedy, and the file stays as it is")
  func damaged() throws {
    let site = try Site()
    defer { site.stop() }
    _ = try site.signedIn()
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let file = "\(site.gateway.directory.path)/cordon.db"
    let handle = try #require(FileHandle(forUpdatingAtPath: file))
    try handle.write(contentsOf: Data(repeating: 0x5A, count: 4_096))
    try handle.close()
    let before = try Data(contentsOf: URL(fileURLWithPath: file))
    let started = try ServerProcess.run(Machine.binary("cordon"), ["run", "--config", site.gateway.file])
    #expect(started.exit == .code(1))
    #expect(started.standardError.contains("restore the file from a backup"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
  }
}

/// A file system in memory that is soon full.
@SystemActor
final class SmallDisk {
  let path: String
  private let directory: TemporaryDirectory

  init(mebibytes: Int) throws {
    directory = try TemporaryDirectory()
    path = directory.path
    let mount = try ServerProcess.run(
      Machine.program("mount", package: "mount"), ["-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=0700", "tmpfs", path])
    guard mount.exit == .code(0) else { throw HarnessError.missing("a tmpfs: \(mount.standardError)") }
  }

  func unmount() {
    _ = try? ServerProcess.run("/usr/bin/umount", ["--lazy", path])
  }

  /// Whether it may be written: "rw" or "ro".
  func remount(_ mode: String) throws {
    let mount = try ServerProcess.run(
      Machine.program("mount", package: "mount"), ["-o", "remount,\(mode)", path])
    guard mount.exit == .code(0) else { throw HarnessError.missing("a remounted tmpfs: \(mount.standardError)") }
  }

  /// Not one byte is left.
  func fill() throws {
    guard let file = fopen("\(path)/filling", "w") else { throw HarnessError.system("fopen", errno: errno) }
    defer { fclose(file) }
    setvbuf(file, nil, _IONBF, 0)
    let block = [UInt8](repeating: 0, count: 512)
    while fwrite(block, 1, block.count, file) == block.count {}
  }

  func makeRoom() throws { try FileManager.default.removeItem(atPath: "\(path)/filling") }
}
