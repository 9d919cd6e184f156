import SQLiteSessions
import SessionStoreTesting
import Sessions
import Testing

@Suite("The SQLite store")
struct SQLiteSessionsTests {
  @Test("The store keeps the contract", arguments: StoreContract.all)
  func contract(_ contract: StoreContract) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cordon.db")
    try await contract.run(
      on: StoreUnderTest(
        first: try SQLiteSessionStore(path: path), second: try SQLiteSessionStore(path: path),
        reopen: { try SQLiteSessionStore(path: path) },
        change: { change in
          switch change {
          case .newerVersion:
            try RawDatabase.execute(
              """
              ALTER TABLE accounts ADD COLUMN of_the_future TEXT;
              INSERT INTO grdb_migrations (identifier) VALUES ('99: of the future')
              """, at: path)
          case .minimumReader(let version):
            try RawDatabase.execute("UPDATE store SET minimum_reader = \(version)", at: path)
          }
        }))
    withExtendedLifetime(folder) {}
  }
}
