import Foundation
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

/// A folder that is gone when the test is over.
final class TemporaryFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("cordon-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  deinit { try? FileManager.default.removeItem(at: url) }
}
