import Foundation
import PostgreSQLServerTesting
import PostgreSQLSessions
import SessionStoreTesting
import Sessions
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
      try await openStore(url, connections: 2, notifies: false)
    }.run(rounds: 60)
    #expect(said.began.count > 300 && said.ended.count > 60, "\(said.began.count) and \(said.ended.count)")
  }

  @Test("Of twenty kills none leaves a used invitation without its member, or a member without the use")
  func redemptions() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let code = InvitationCode.random()
    let store = try await openStore(url, connections: 2, notifies: false)
    let invitation = Invitation(
      id: "aaaaaaaa", group: try #require(GroupName("staff")), uses: 1_000_000, expires: .now + 86_400, note: nil,
      created: .now, by: "cli")
    try await store.create(invitation, hash: code.hash)
    try await store.close()
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("store-writer").path
    let writer = KilledWriter(program, ["redeem", url, code.exposedText]) {
      try await openStore(url, connections: 2, notifies: false)
    }
    let members = try await writer.runRedemptions(rounds: 20, hash: code.hash) { Subject("joiner.\($0)") }
    #expect(members > 40, "\(members)")
  }
}
