import PostgreSQLServerTesting
import Testing

@testable import PostgreSQLSessions

@Suite("Statements that travel together", .postgreSQL)
struct ConnectionTests {
  private func withConnection(_ body: (Connection) throws -> Void) throws {
    let connection = try Connection(
      try ServerAddress(try PostgreSQLServer.current.makeDatabase()), limits: TimeLimits())
    try connection.run("CREATE TABLE things (number bigint PRIMARY KEY)")
    try body(connection)
  }

  private func numbers(_ connection: Connection) throws -> [Int64] {
    try connection.run("SELECT number FROM things ORDER BY number").rows.map { try $0.integer(0) }
  }

  private func insert(_ number: Int64) -> Statement { Statement("INSERT INTO things VALUES ($1)", [.integer(number)]) }

  @Test("Each statement has its answer, in their order, and a transaction that is given up is not carried out")
  func together() throws {
    struct GivenUp: Error {}
    try withConnection { connection in
      let results = try connection.transaction {
        try connection.run(together: [insert(1), Statement("SELECT 7::bigint"), insert(2)])
      }
      #expect(results.map(\.affected) == [1, 1, 1])
      #expect(try results[1].first?.integer(0) == 7)
      #expect(try numbers(connection) == [1, 2])
      #expect(throws: GivenUp.self) {
        try connection.transaction {
          _ = try connection.run(together: [insert(3), insert(4)])
          throw GivenUp()
        }
      }
      // Without a transaction around them they are one by themselves; and one that asks nothing is none.
      #expect(throws: DatabaseError.self) { try connection.run(together: [insert(5), insert(1)]) }
      try connection.transaction {}
      #expect(try numbers(connection) == [1, 2])
    }
  }

  @Test("A failed statement is reported with its reason, later ones are not executed, and the connection is kept")
  func failing() throws {
    try withConnection { connection in
      for isInTransaction in [true, false] {
        do {
          let statements = [insert(1), Statement("SELECT 1 / 0"), insert(2), Statement("SELECT nothing")]
          if isInTransaction {
            _ = try connection.transaction { try connection.run(together: statements) }
          } else {
            _ = try connection.run(together: statements)
          }
          Issue.record("it was carried out")
        } catch let failure as DatabaseError {
          guard case .refused(let state, _) = failure else { throw failure }
          #expect(state == SQLState("22012"))
        }
        #expect(try numbers(connection).isEmpty)
      }
      #expect(try connection.run(insert(1)).affected == 1)
    }
  }
}
