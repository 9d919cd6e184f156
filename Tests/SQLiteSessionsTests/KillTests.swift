import Foundation
import SQLiteSessions
import Sessions
import Testing

// Processes of the store that are killed in the middle of writing, two hundred times, on one file.
@Suite("A process that is killed")
struct KillTests {
  @Test("Of two hundred kills none loses what was acknowledged, brings back what was signed out, or keeps a start")
  func killed() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cordon.db")
    var (began, ended) = (Set<String>(), Set<String>())
    for round in 0..<200 {
      let said = try writeAndKill(path, afterLines: 1 + round % 23)
      for line in said {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 2 else { continue }
        if words[0] == "began" { began.insert(words[1]) } else { ended.insert(words[1]) }
      }
      let store = try SQLiteSessionStore(path: path)
      // All of them at the end; on the way those of the round.
      let looked = round == 199 ? began : Set(said.compactMap { $0.split(separator: " ").last.map(String.init) })
      for text in looked {
        let handle = try #require(SessionHandle(text: text))
        let isThere = try await store.find(handle) != nil
        // A sign-out that was killed before it was acknowledged may have come about.
        if ended.contains(text) {
          #expect(!isThere, "round \(round): a session that was signed out is back")
        } else if !isThere {
          let changes = try await store.changes(since: nil, limit: 1)
          #expect(!changes.isIncomplete)
          #expect(try await wasEnded(handle, in: store), "round \(round): a session that was acknowledged is lost")
        }
      }
      try await store.close()
    }
    #expect(began.count > 1_000 && ended.count > 300, "\(began.count) and \(ended.count)")
  }

  /// Whether a session that is not there has ended, rather than got lost: then its handle cannot begin again.
  private func wasEnded(_ handle: SessionHandle, in store: SQLiteSessionStore) async throws -> Bool {
    let known = try signIn()
    let session = Session(
      handle: handle, subject: known.session.subject, clientID: "web", began: noon, ends: noon.addingTimeInterval(60),
      lastSeen: noon)
    do {
      _ = try await store.complete(SignIn(session: session, name: nil, claims: AccountClaims(), token: nil))
      return false
    } catch {
      return error.code == .conflict
    }
  }

  /// Runs a writer until it has said this many lines, and kills it.
  /// - Returns: everything that it said.
  private func writeAndKill(_ path: String, afterLines count: Int) throws -> [String] {
    let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent(
      "store-writer")
    writer.arguments = ["write", path]
    let output = Pipe()
    writer.standardOutput = output
    try writer.run()
    var text = Data()
    while text.count(where: { $0 == 10 }) < count {
      let piece = output.fileHandleForReading.availableData
      if piece.isEmpty { break }
      text.append(piece)
    }
    kill(writer.processIdentifier, SIGKILL)
    text.append(output.fileHandleForReading.readDataToEndOfFile())
    writer.waitUntilExit()
    #expect(writer.terminationReason == .uncaughtSignal)
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
