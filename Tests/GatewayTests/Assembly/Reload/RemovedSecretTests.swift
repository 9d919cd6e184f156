import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Session secrets that a reload removes")
struct RemovedSecretTests {
  private let store = MemoryStore()

  @Test("A reload that removes a secret while the store is away says why the store was asked, and what to do")
  func storeAway() async throws {
    store.state.withLock { $0.isAway = true }
    let both = try SessionKeyring.forTests("ba")
    let error = await #expect(throws: SettingsError.self) {
      try await SessionKeyring.forTests("b").requireEveryKey(of: store, after: both)
    }
    let problem = try #require(error?.problems.first)
    #expect(problem.contains("session.secret_files no longer has a secret") && problem.contains("reload again"))
    #expect(problem.contains("away, by order of the test"), "the store's error as well")
  }

  @Test("A reload that removes no secret works while the store is away")
  func nothingRemoved() async throws {
    store.state.withLock { $0.isAway = true }
    try await SessionKeyring.forTests("ba").requireEveryKey(of: store, after: try .forTests("a"))
  }

  @Test("A secret that no refresh token needs can be removed")
  func unneeded() async throws {
    try await SessionKeyring.forTests("b").requireEveryKey(of: store, after: try .forTests("ba"))
  }
}
