import PostgreSQLServerTesting
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import PostgreSQLSessions

@Suite("The delivery of changes", .timeLimit(.minutes(5)))
struct ChangeDeliveryTests {
  private let exhausted = StoreError(code: .busy, message: "no connection left")
  private let gone = StoreError(code: .unavailable, message: "gone")

  @Test("Polling is told at the second failure in a row, once, and once that changes are announced again")
  func notices() {
    var notices = ListenerNotices()
    #expect(notices.listens() == nil)
    #expect(notices.failed(exhausted) == nil)
    #expect(notices.listens() == nil, "the connection before has ended a moment later")
    #expect(notices.failed(exhausted) == nil)
    #expect(notices.failed(exhausted) == .polled(because: exhausted))
    for _ in 0..<3 { #expect(notices.failed(exhausted) == nil) }
    #expect(notices.listens() == .announced)
    #expect(notices.listens() == nil)
  }

  @Test("An outage is not told here, but what keeps the store from listening after it is")
  func outage() {
    var notices = ListenerNotices()
    for _ in 0..<5 { #expect(notices.failed(gone) == nil) }
    #expect(notices.failed(exhausted) == .polled(because: exhausted))
    #expect(notices.failed(gone) == nil)
    #expect(notices.listens() == .announced)
    for _ in 0..<5 { #expect(notices.failed(gone) == nil) }
    #expect(notices.listens() == nil)
  }

  @Test("A server without LISTEN is told with the setting that stops the attempts")
  func unsupported() throws {
    let address = try ServerAddress("postgresql://cordon@127.0.0.1/cordon")
    let refused = DatabaseError.refused(state: SQLState("0A000"), message: "unimplemented")
    let error = StoreError.cannotListen(refused, at: address)
    #expect(error.code == .misconfigured && error.message.contains("store.notify = false"))
    let full = DatabaseError.notConnected("FATAL:  sorry, too many clients already")
    #expect(StoreError.cannotListen(full, at: address).code == .busy)
  }

  @Test("At the role's limit of connections changes are polled, which is reported, and announced when there is room")
  func atTheLimit() async throws {
    let server = try await PostgreSQLServer.started()
    let name = String(try #require(try server.makeDatabase().split(separator: "/").last))
    try server.query("CREATE ROLE visitor LOGIN PASSWORD 'pw' CONNECTION LIMIT 1")
    try server.query("GRANT CREATE ON DATABASE \(name) TO visitor")
    let store = try await openStore(server.url(of: name, user: "visitor", password: "pw"), connections: 1)
    let reports = Mutex<[ChangeDelivery]>([])
    store.onChangeDelivery { delivery in reports.withLock { $0.append(delivery) } }
    try await eventually("the first report") { reports.withLock { $0.count } >= 1 }
    try server.query("ALTER ROLE visitor CONNECTION LIMIT -1")
    try await eventually("the second report") { reports.withLock { $0.count } >= 2 }
    let reported = reports.withLock { $0 }
    guard case .polled(let error)? = reported.first else {
      Issue.record("\(reported)")
      return
    }
    #expect(error.code == .busy && error.message.contains("CONNECTION LIMIT"))
    #expect(reported.count == 2 && reported.last == .announced)
    try await store.close()
  }

  @Test("The last connection that the server has is for the store, not for listening")
  func lastConnection() async throws {
    let server = try await PostgreSQLServer.started()
    let name = String(try #require(try server.makeDatabase().split(separator: "/").last))
    try server.query("CREATE ROLE hermit LOGIN PASSWORD 'pw' CONNECTION LIMIT 2")
    try server.query("GRANT CREATE ON DATABASE \(name) TO hermit")
    let store = try await openStore(server.url(of: name, user: "hermit", password: "pw"), connections: 1)
    func connections(_ condition: String) throws -> String {
      try server.query("SELECT count(*) FROM pg_stat_activity WHERE usename = 'hermit' AND \(condition)")
    }
    let listening = "query LIKE 'LISTEN%'"
    try await eventually("both connections") { try connections("true") == "2" }
    try await eventually("the listener") { try connections(listening) == "1" }
    try server.query("ALTER ROLE hermit CONNECTION LIMIT 1")
    // Until the listener, which opens a new one by itself, has the only one: the store opens one when it is asked.
    try server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'hermit'")
    try await eventually("the end of the other connection") { try connections("true") == "1" }
    try await eventually("the listener again") { try connections(listening) == "1" }
    try await eventually("an answer") { await storeError { try await store.ping() } == nil }
    #expect(try connections(listening) == "0")
    try await store.close()
  }
}
