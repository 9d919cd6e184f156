import Foundation
import PostgreSQLServerTesting
import Sessions
import Testing
import WaitingTesting

@testable import PostgreSQLSessions

// A server in trouble: each test has one of its own.
@Suite("A database server in trouble", .timeLimit(.minutes(5)))
struct TroubleTests {
  /// For a test that waits for the end of a statement's time, and whose other statements take less on a busy machine.
  private static let short = TimeLimits(connect: .seconds(10), statement: .seconds(5))

  private func open(_ url: String, connections: Int = 4) async throws -> PostgreSQLSessionStore {
    try await openStore(url, connections: connections, notifies: false)
  }

  /// Opens a store that gives up soon.
  private func openImpatient(_ url: String) async throws -> PostgreSQLSessionStore {
    try await PostgreSQLSessionStore(url: url, connections: 4, notifies: false, limits: Self.short)
  }

  @Test("A server that was stopped fails what is asked, fast, and everything goes on when it is back")
  func stopped() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await open(try server.makeDatabase())
    let known = try await store.complete(try signIn()).snapshot
    try server.stop()
    let refused = try #require(await storeError { _ = try await store.find(known.session.handle) })
    #expect(refused.code == .unavailable)
    #expect(refused.message.contains("127.0.0.1"))
    #expect(!refused.description.contains(PostgreSQLServer.password))
    let alsoRefused = await storeError { try await store.ping() }
    #expect(alsoRefused?.code == .unavailable)
    try server.start()
    try await eventually("the store to answer again") {
      (try? await store.find(known.session.handle)) == known
    }
    _ = try await store.complete(try signIn("bob"))
    try await store.close()
  }

  @Test("A server restart between two calls is not noticed")
  func restarted() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await open(try server.makeDatabase())
    let known = try await store.complete(try signIn()).snapshot
    try server.kill()
    try server.start()
    #expect(try await store.find(known.session.handle) == known)
    _ = try await store.complete(try signIn("bob"))
    try await store.close()
  }

  @Test("A change with a reason of a newer version is followed; after a damaged one everything is read again")
  func strangeChanges() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    let store = try await open(url)
    let session = try await store.complete(try signIn()).snapshot.session
    let start = try await store.changes(since: nil, limit: 10).cursor
    _ = try await store.end(.one(session.handle), because: .signedOut, at: noon)
    try server.query("UPDATE cordon.changes SET reason = 'taken over by another planet'", at: url)
    let strange = try await store.changes(since: start, limit: 10)
    #expect(strange.changes == [.ended(session.handle, .byOperator)] && !strange.isIncomplete)
    try server.query("UPDATE cordon.changes SET handle = '\\x00'", at: url)
    let damaged = try await store.changes(since: start, limit: 10)
    #expect(damaged.changes == [] && damaged.isIncomplete && damaged.cursor == strange.cursor)
    try await store.close()
  }

  @Test("A server that stands still is given up in time, is asked by one at a time, and taken up again")
  func frozen() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await openImpatient(try server.makeDatabase())
    let known = try await store.complete(try signIn()).snapshot
    server.freeze()
    let refused = await storeError { _ = try await store.find(known.session.handle) }
    #expect(refused?.code == .unavailable)
    // Whoever comes next need not wait: the reason is known.
    let results = await withTaskGroup(of: StoreError.Code?.self) { group in
      for _ in 0..<200 { group.addTask { await storeError { _ = try await store.find(known.session.handle) }?.code } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.allSatisfy { $0 == .unavailable })
    server.thaw()
    try await eventually("the store to answer again") {
      (try? await store.find(known.session.handle)) == known
    }
    try await store.close()
  }

  @Test("A server that may only be read says so, still answers, and is written again when it may be")
  func readOnly() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await open(try server.makeDatabase())
    let known = try await store.complete(try signIn()).snapshot
    try server.set("default_transaction_read_only = on")
    let refused = try await firstAnswer("a refusal") { await storeError { try await store.ping() } }
    #expect(refused.code == .readOnly)
    #expect(refused.fault == .operator)
    #expect(try await store.find(known.session.handle) == known)
    #expect(await storeError { try await store.end(.one(known.session.handle), because: .signedOut, at: noon) } != nil)
    try await undoReadOnly(server)
    try await eventually("a write") { await storeError { try await store.ping() } == nil }
    try await store.close()
  }

  @Test("A standby answers look-ups and fails the change feed as read-only, until it is promoted")
  func standby() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await open(try server.makeDatabase())
    let known = try await store.complete(try signIn()).snapshot
    let cursor = try await store.changes(since: nil, limit: 10).cursor
    try server.restartAsStandby()
    for place in [nil, cursor] {
      let refused = await storeError { _ = try await store.changes(since: place, limit: 10) }
      #expect(refused?.code == .readOnly)
      #expect(refused?.message.contains("target_session_attrs") == true)
    }
    #expect(try await store.find(known.session.handle) == known)
    try server.query("SELECT pg_promote()")
    let after = try await firstAnswer("an answer of the feed") {
      try? await store.changes(since: cursor, limit: 10)
    }
    #expect(after.changes.isEmpty && !after.isIncomplete && after.cursor == cursor)
    try await store.close()
  }

  private func undoReadOnly(_ server: PostgreSQLServer) async throws {
    // ALTER SYSTEM is not a transaction that writes.
    try server.set("default_transaction_read_only = off")
  }

  @Test("With no connection left on the server, the open ones do the work; without any, the error names the remedy")
  func outOfConnections() async throws {
    let server = try await PostgreSQLServer.started(["max_connections=8", "superuser_reserved_connections=3"])
    let url = try server.makeDatabase()
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw'")
    let name = try #require(url.split(separator: "/").last)
    try server.query("GRANT CREATE ON DATABASE \(name) TO visitor")
    let ours = server.url(of: String(name), user: "visitor", password: "pw")
    // Of five connections, the first store takes all but two.
    let other = try await open(ours, connections: 3)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 { group.addTask { _ = try await other.complete(try signIn("user\(number)")) } }
      try await group.waitForAll()
    }
    let store = try await open(ours, connections: 30)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { _ = try await store.complete(try signIn("more\(number)")) } }
      try await group.waitForAll()
    }
    #expect(try await store.counts().accounts == 240)
    let refused = await storeError {
      for _ in 0..<8 { _ = try await open(ours) }
    }
    #expect(refused?.code == .busy)
    #expect(refused?.message.contains("max_connections") == true)
    try await store.close()
    try await other.close()
  }

  @Test("A lock that somebody else holds is waited for only so long, and leaves the account as it was")
  func locked() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    // Its transaction ends when the test says so, however long a busy machine takes until then.
    let holder = try await PostgreSQLSessionStore(
      url: url, connections: 1, notifies: false, limits: TimeLimits(statement: .seconds(300)))
    let store = try await openImpatient(url)
    let session = try await store.complete(try signIn()).snapshot.session
    let release = DispatchSemaphore(value: 0)
    let (entered, hasEntered) = AsyncStream.makeStream(of: Void.self)
    async let held: Void = {
      defer { hasEntered.finish() }
      try await holder.write(at: noon) { connection, _ in
        _ = try PostgreSQLAccountRow.lock(session.subject, in: connection)
        hasEntered.finish()
        release.wait()
      }
    }()
    defer { release.signal() }
    for await _ in entered {}
    let refused = await storeError { try await store.forget(session.subject, keeping: [], at: noon) }
    #expect(refused?.code == .busy)
    release.signal()
    try await held
    #expect(try await store.forget(session.subject, keeping: [], at: noon) == [session.handle])
    for store in [holder, store] { try await store.close() }
  }

  @Test("A commit that was not answered points at the synchronous standby; a statement of a transaction does not")
  func silentCommit() throws {
    let address = try ServerAddress("postgresql://cordon@127.0.0.1/cordon")
    for isInDoubt in [true, false] {
      let error = StoreError(DatabaseError.timedOut(isInDoubt: isInDoubt), at: address)
      #expect(error.code == .unavailable && error.message.contains("does not answer"))
      #expect(error.message.contains("SyncRep") == isInDoubt)
    }
    let cancelled = StoreError(DatabaseError.refused(state: SQLState("57014"), message: "cancelled"), at: address)
    #expect(cancelled.code == .busy && cancelled.message.contains("SyncRep"))
  }

  @Test("A host name that cannot be looked up is told as such, with the name servers as the remedy")
  func unknownHost() throws {
    let address = try ServerAddress("postgresql://cordon@db.test/cordon")
    let text = "could not translate host name \"db.test\" to address: Temporary failure in name resolution"
    let error = StoreError(DatabaseError.notConnected(text), at: address)
    #expect(error.code == .unavailable)
    #expect(error.message.contains("cannot be looked up") && error.message.contains("/etc/resolv.conf"))
    #expect(error.description.contains("db.test"))
  }

  @Test(
    "A server without a free connection is told as such, whatever stands before the database",
    arguments: [
      "FATAL:  sorry, too many clients already", "FATAL:  no more connections allowed (max_client_conn)",
      "ERROR:  no more connections allowed (max_client_conn)",
    ])
  func noConnectionLeft(text: String) throws {
    let address = try ServerAddress("postgresql://cordon@127.0.0.1/cordon")
    let error = StoreError(DatabaseError.notConnected("connection to server failed: \(text)"), at: address)
    #expect(error.code == .busy && error.message.contains("max_client_conn of PgBouncer"))
  }

  @Test("A permission that is missing on one table fails the ping, with the statement that grants it")
  func missingPermission() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    let name = String(try #require(url.split(separator: "/").last))
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw'")
    try server.query("GRANT CREATE ON DATABASE \(name) TO visitor")
    let visitor = server.url(of: name, user: "visitor", password: "pw")
    let first = try await open(visitor)
    try await first.ping()
    try await first.close()
    for (permission, table) in [("INSERT", "changes"), ("DELETE", "sessions"), ("UPDATE", "change_lanes")] {
      try server.query("REVOKE \(permission) ON cordon.\(table) FROM visitor", in: name)
      let store = try await open(visitor)
      // As long as it is missing.
      for _ in 0..<2 {
        let missing = await storeError { try await store.ping() }
        #expect(missing?.code == .denied)
        #expect(
          missing?.message.contains("(GRANT \(permission) ON cordon.\(table) TO visitor)") == true,
          "\(missing.map { "\($0)" } ?? "")")
      }
      if table == "changes" {
        let refused = await storeError { _ = try await store.complete(try signIn()) }
        #expect(refused?.code == .denied)
        #expect(refused?.message.contains("INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cordon") == true)
      }
      try server.query("GRANT \(permission) ON cordon.\(table) TO visitor", in: name)
      try await store.ping()
      try await store.close()
    }
  }

  @Test("A user without access, or the right to create a schema, gets an error with the remedy and no password")
  func denied() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    let name = String(try #require(url.split(separator: "/").last))
    let wrong = await storeError {
      _ = try await open(server.url(of: name, user: PostgreSQLServer.user, password: "no-s3cret"))
    }
    #expect(wrong?.code == .denied)
    #expect(wrong?.message.contains("user and password") == true && wrong?.message.contains("GRANT") == false)
    #expect(wrong?.description.contains("no-s3cret") == false)
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw'")
    let visitor = server.url(of: name, user: "visitor", password: "pw")
    let refused = await storeError { _ = try await open(visitor) }
    #expect(refused?.code == .denied)
    #expect(refused?.message.contains("GRANT CREATE") == true && refused?.message.contains("password") == false)
    // A schema that an administrator made is as good.
    try server.query("CREATE SCHEMA cordon AUTHORIZATION visitor", in: name)
    let store = try await open(visitor)
    try await store.ping()
    try await store.close()
    let missing = await storeError { _ = try await open(server.url(of: "nowhere")) }
    #expect(missing?.message.contains("CREATE DATABASE nowhere ") == true)
    for (closing, opening, remedy) in [
      ("ALTER ROLE visitor NOLOGIN", "ALTER ROLE visitor LOGIN", "ALTER ROLE"),
      (
        "ALTER DATABASE \(name) ALLOW_CONNECTIONS false", "ALTER DATABASE \(name) ALLOW_CONNECTIONS true",
        "ALTER DATABASE \(name) ALLOW_CONNECTIONS"
      ),
      (
        "REVOKE CONNECT ON DATABASE \(name) FROM PUBLIC", "GRANT CONNECT ON DATABASE \(name) TO PUBLIC",
        "GRANT CONNECT ON DATABASE \(name)"
      ),
    ] {
      try server.query(closing)
      let closed = await storeError { _ = try await open(visitor) }
      #expect(closed?.code == .denied && closed?.message.contains(remedy) == true, "\(closed.map { "\($0)" } ?? "")")
      try server.query(opening)
    }
    try await open(visitor).close()
    let nobody = await storeError { _ = try await open(server.url(of: name, user: "nobody", password: "pw")) }
    #expect(nobody?.code == .denied)
    let unreadable = await storeError { _ = try await open("postgresql://u:p%zz@127.0.0.1/x?nonsense=p4ss") }
    #expect(unreadable?.description.contains("p4ss") == false)
    #expect(unreadable?.message.contains("percent-encoded") == true)
  }
}
