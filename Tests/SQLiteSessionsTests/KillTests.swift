import Foundation
import SQLiteSessions
import SessionStoreTesting
import Testing

// Processes of the store that are killed in the middle of writing, two hundred times, on one file.
@Suite("A process that is killed")
struct KillTests {
  @Test("Of two hundred kills none loses what was acknowledged, brings back what was signed out, or keeps a start")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cordon.db")
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("store-writer").path
    let said = try await KilledWriter(program, ["write", path]) { try SQLiteSessionStore(path: path) }.run(rounds: 200)
    #expect(said.began.count > 1_000 && said.ended.count > 300, "\(said.began.count) and \(said.ended.count)")
  }
}
