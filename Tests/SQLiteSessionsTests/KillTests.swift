import Foundation
import SQLiteSessions
import SessionStoreTesting
import Sessions
import TemporaryDirectoryTesting
import Testing

// Processes of the store that are killed in the middle of writing, two hundred times, on one file.
@Suite("A process that is killed")
struct KillTests {
  @Test("Of two hundred kills none loses what was acknowledged, brings back what was signed out, or keeps a start")
  func killed() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("store-writer").path
    let said = try await KilledWriter(program, ["write", path]) { try SQLiteSessionStore(path: path) }.run(rounds: 200)
    #expect(said.began.count > 1_000 && said.ended.count > 300, "\(said.began.count) and \(said.ended.count)")
  }

  @Test("Of fifty kills none leaves a used invitation without its member, or a member without the use")
  func redemptions() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let code = InvitationCode.random()
    let store = try SQLiteSessionStore(path: path)
    try await store.create(try Self.invitation, hash: code.hash)
    try await store.close()
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("store-writer").path
    let writer = KilledWriter(program, ["redeem", path, code.exposedText]) { try SQLiteSessionStore(path: path) }
    let members = try await writer.runRedemptions(rounds: 50, hash: code.hash) { Subject("joiner.\($0)") }
    #expect(members > 100, "\(members)")
  }

  private static var invitation: Invitation {
    get throws {
      Invitation(
        id: "aaaaaaaa", group: try #require(GroupName("staff")), uses: 1_000_000, expires: .now + 86_400, note: nil,
        created: .now, by: "cli")
    }
  }
}
