import Foundation
import PostgreSQLServerTesting
import PostgreSQLSessions
import SessionStoreTesting
import Testing

// Processes that are killed in the middle of writing through libpq, on one database: what they had begun is undone by
// the server or was carried out, and nobody waits for the locks that they held.
@Suite("A process that is killed while it writes to PostgreSQL", .postgreSQL)
struct KillTests {
  @Test("Of sixty kills none loses what was acknowledged, brings back what was signed out, or keeps a start")
  func killed() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("store-writer").path
    let said = try await KilledWriter(program, ["write", url]) {
      try await PostgreSQLSessionStore(url: url, connections: 2, notifies: false)
    }.run(rounds: 60)
    #expect(said.began.count > 300 && said.ended.count > 60, "\(said.began.count) and \(said.ended.count)")
  }
}
