import Dispatch
import PostgreSQLServerTesting
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import PostgreSQLSessions

// The replacement of connections, without connections or time that passes.
@Suite("The turnover of connections")
struct ConnectionTurnoverTests {
  private let start = ContinuousClock.now

  private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("A connection is kept for its lifetime, which differs, then renewed, and kept a while where that fails")
  func lifetime() {
    var turnover = ConnectionTurnover(lifetime: .seconds(900))
    let (short, long) = (turnover.tenure(at: start, jitter: 0.8), turnover.tenure(at: start, jitter: 1.2))
    #expect(turnover.action(for: short, at: after(719)) == .keep)
    #expect(turnover.action(for: short, at: after(721)) == .renew)
    #expect(turnover.action(for: long, at: after(1_079)) == .keep)
    #expect(turnover.action(for: long, at: after(1_081)) == .renew)
    let postponed = turnover.postponed(short, at: after(720))
    #expect(turnover.action(for: postponed, at: after(779)) == .keep)
    #expect(turnover.action(for: postponed, at: after(780)) == .renew)
  }

  @Test("After one connection failed, all that were opened before are closed, and their own failures change nothing")
  func failure() {
    var turnover = ConnectionTurnover(lifetime: .seconds(900))
    let (lost, other) = (turnover.tenure(at: start, jitter: 1), turnover.tenure(at: start, jitter: 1))
    #expect(turnover.action(for: other, at: after(1)) == .keep)
    turnover.noteFailure(of: lost, at: after(1))
    #expect(turnover.action(for: other, at: after(1)) == .close)
    let fresh = turnover.tenure(at: after(2), jitter: 1)
    turnover.noteFailure(of: other, at: after(100))
    #expect(turnover.action(for: fresh, at: after(100)) == .keep)
    #expect(turnover.action(for: turnover.postponed(other, at: after(100)), at: after(100)) == .close)
  }

  @Test("A connection that fails again and again has the others replaced every ten seconds, and not more often")
  func flapping() {
    var turnover = ConnectionTurnover(lifetime: .seconds(900))
    turnover.noteFailure(of: turnover.tenure(at: start, jitter: 1), at: start)
    let other = turnover.tenure(at: start, jitter: 1)
    for second in 1...9 {
      turnover.noteFailure(of: turnover.tenure(at: after(second), jitter: 1), at: after(second))
      #expect(turnover.action(for: other, at: after(second)) == .keep)
    }
    #expect(turnover.action(for: other, at: after(10)) == .close, "the failures in between are not forgotten")
    let next = turnover.tenure(at: after(10), jitter: 1)
    #expect(turnover.action(for: next, at: after(100)) == .keep)
  }

  @Test("When another server is known to answer, every connection is closed at once")
  func otherServer() {
    var turnover = ConnectionTurnover(lifetime: .seconds(900))
    for second in 0...2 {
      let tenure = turnover.tenure(at: after(second), jitter: 1)
      turnover.beginNext(at: after(second))
      #expect(turnover.action(for: tenure, at: after(second)) == .close)
    }
  }
}

// The same with a server.
@Suite("The replacement of connections to a server", .timeLimit(.minutes(5)))
struct ConnectionReplacementTests {
  private static let patient = TimeLimits(connect: .seconds(120), statement: .seconds(120))

  /// The server's process of a connection.
  private static func backend(_ connection: Connection) throws -> Int64 {
    guard let row = try connection.run("SELECT CAST(pg_backend_pid() AS bigint)").first else {
      throw WaitedInVain(what: "a row")
    }
    return try row.integer(0)
  }

  private func backend(_ store: PostgreSQLSessionStore) async throws -> Int64 {
    try await store.pool.run(isRetryable: true) { connection in try Self.backend(connection) }
  }

  /// The server's processes of both connections of a pool of two: each job waits for the other one.
  private func backends(_ store: PostgreSQLSessionStore) async throws -> Set<Int64> {
    let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let pool = store.pool
    async let one: Int64 = pool.run(isRetryable: true) { connection in
      first.signal()
      _ = second.wait(timeout: .now() + 60)
      return try Self.backend(connection)
    }
    async let other: Int64 = pool.run(isRetryable: true) { connection in
      second.signal()
      _ = first.wait(timeout: .now() + 60)
      return try Self.backend(connection)
    }
    return Set([try await one, try await other])
  }

  @Test("After one connection was lost, the others are replaced before their next job, once")
  func lost() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await PostgreSQLSessionStore(
      url: try server.makeDatabase(), connections: 2, notifies: false, limits: Self.patient)
    let before = try await backends(store)
    let victim = try #require(before.first)
    try server.query("SELECT pg_terminate_backend(\(victim))")
    try await eventually("the connection to end") {
      try server.query("SELECT count(*) FROM pg_stat_activity WHERE pid = \(victim)") == "0"
    }
    // The first pair of jobs notices the loss, maybe after the other connection has got its job.
    _ = try await backends(store)
    let after = try await backends(store)
    #expect(before.count == 2 && after.count == 2 && after.isDisjoint(with: before))
    #expect(try await backends(store) == after)
    try await store.close()
  }

  @Test("After a cursor of another database, what is read again comes from a new connection")
  func otherDatabase() async throws {
    let server = try await PostgreSQLServer.started()
    let store = try await PostgreSQLSessionStore(
      url: try server.makeDatabase(), connections: 1, notifies: false, limits: Self.patient)
    let before = try await backend(store)
    let cursor = try await store.changes(since: nil, limit: 10).cursor
    _ = try await store.changes(since: cursor, limit: 10)
    #expect(try await backend(store) == before)
    let lanes = Array(repeating: "0-0", count: Tables.lanes).joined(separator: ".")
    _ = try await store.changes(since: ChangeCursor(text: "another:\(lanes)"), limit: 10)
    #expect(try await backend(store) != before)
    try await store.close()
  }

  @Test("A connection that has reached its lifetime is replaced before its next job, and kept while that fails")
  func old() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    var limits = Self.patient
    limits.connectionLifetime = .zero
    let store = try await PostgreSQLSessionStore(url: url, connections: 1, notifies: false, limits: limits)
    let first = try await backend(store)
    let second = try await backend(store)
    #expect(first != second)
    let name = try #require(url.split(separator: "/").last)
    try server.query("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
    #expect(try await backend(store) == second)
    try await store.close()
  }

  @Test("Old connections that cannot be renewed are kept, which is reported once, until one is renewed")
  func keptOnes() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    var limits = Self.patient
    limits.connectionLifetime = .zero
    let store = try await PostgreSQLSessionStore(url: url, connections: 2, notifies: false, limits: limits)
    let reports = Mutex<[StoreError]>([])
    store.onKeptConnection { error in reports.withLock { $0.append(error) } }
    let before = try await backends(store)
    let name = try #require(url.split(separator: "/").last)
    let early = reports.withLock { $0.count }
    #expect(early == 0)
    try server.query("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
    #expect(try await backends(store) == before)
    let reported = reports.withLock { $0 }
    #expect(reported.count == 1)
    #expect(reported.first?.message.contains("ALLOW_CONNECTIONS true") == true)
    try await store.close()
  }

  @Test("At the role's limit of connections an old one is closed before it is renewed, as long as there is another")
  func atTheLimit() async throws {
    let server = try await PostgreSQLServer.started()
    let url = try server.makeDatabase()
    let name = String(try #require(url.split(separator: "/").last))
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw'")
    try server.query("GRANT CREATE ON DATABASE \(name) TO visitor")
    var limits = Self.patient
    limits.connectionLifetime = .zero
    let store = try await PostgreSQLSessionStore(
      url: server.url(of: name, user: "visitor", password: "pw"), connections: 2, notifies: false, limits: limits)
    let before = try await backends(store)
    try await eventually("the connections before to end") {
      try server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'visitor'") == "2"
    }
    try server.query("ALTER ROLE visitor CONNECTION LIMIT 2")
    try await eventually("a connection that was renewed") {
      !before.contains(try await backend(store))
    }
    try await store.close()
  }

  @Test("The connection that listens for changes is replaced when it has reached its lifetime")
  func listening() async throws {
    let server = try await PostgreSQLServer.started()
    var limits = Self.patient
    limits.connectionLifetime = .milliseconds(1)
    let store = try await PostgreSQLSessionStore(
      url: try server.makeDatabase(), connections: 1, notifies: true, limits: limits)
    let listeners = "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN cordon_changes'"
    let first = try await firstAnswer("a listener") { () -> String? in
      let found = try server.query(listeners)
      return found.isEmpty ? nil : found
    }
    try await eventually("another listener") {
      let found = try server.query(listeners)
      return !found.isEmpty && found != first
    }
    try await store.close()
  }
}
