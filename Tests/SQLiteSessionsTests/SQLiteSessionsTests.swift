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
        reopen: { try SQLiteSessionStore(path: path) }))
    withExtendedLifetime(folder) {}
  }
}
