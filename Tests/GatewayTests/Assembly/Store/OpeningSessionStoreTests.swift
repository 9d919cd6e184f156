import FoundationEssentials
import Sessions
import Synchronization
import Testing

@testable import Gateway

// A store that opens in the background: unavailable, then open; tried again after whatever passes by itself, given up
// after whatever does not.
@Suite("A store that opens in the background")
struct OpeningSessionStoreTests {
  private static let unreachable = StoreError(code: .unavailable, message: "cannot be reached")
  private static let refused = StoreError(code: .denied, message: "wrong password")

  private final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .relaxed) }

    func count() { number.add(1, ordering: .relaxed) }
  }

  /// The attempts of a test: each fails with the next error, then one opens the store.
  private final class Attempts: Sendable {
    private let errors: Mutex<[StoreError]>
    let retried = Mutex<[StoreError]>([])
    let store = MemoryStore()

    init(failing errors: StoreError...) { self.errors = Mutex(errors) }

    func start() -> OpeningSessionStore {
      OpeningSessionStore(
        isFinal: { $0.isFinal(at: .postgreSQL("")) }, onRetry: { error in self.retried.withLock { $0.append(error) } },
        attempt: {
          let error = self.errors.withLock { $0.isEmpty ? nil : $0.removeFirst() }
          if let error { throw error }
          return OpeningSessionStore.Opened(store: self.store, key: self.store.key)
        })
    }
  }

  @Test("Until it is open every operation fails as unavailable, with the error of the latest attempt")
  func unavailable() async throws {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let memory = MemoryStore()
    let store = OpeningSessionStore(
      isFinal: { _ in false }, onRetry: { _ in },
      attempt: {
        for await _ in gate { break }
        return OpeningSessionStore.Opened(store: memory, key: memory.key)
      })
    #expect(try await !store.waitUntilOpen(atMost: .milliseconds(1)))
    #expect(store.key == nil)
    await #expect(throws: StoreError.self) { try await store.ping() }
    await #expect(throws: StoreError.self) { try await store.memberCounts() }
    opener.yield()
    #expect(try await store.waitUntilOpen())
    #expect(store.key != nil && store.place == memory.place)
    try await store.ping()
  }

  @Test("The key is read again after a rollback, another database at the same address, and the end of a copy")
  func keyReadAgain() async throws {
    let memory = MemoryStore()
    for change in [StoreChanges.Gap.otherHistory, .otherStore, .none] {
      let old = StoreKey.random()
      let store = OpeningSessionStore(
        isFinal: { _ in false }, onRetry: { _ in }, attempt: { OpeningSessionStore.Opened(store: memory, key: old) })
      #expect(try await store.waitUntilOpen())
      memory.state.withLock { $0.gap = .forgotten }
      _ = try await store.changes(since: nil, limit: 10)
      #expect(store.key?.exposedBytes == old.exposedBytes)
      if change == .none {
        memory.state.withLock { $0.failures["changes"] = StoreError(code: .unfinishedCopy, message: "copying") }
        await #expect(throws: StoreError.self) { try await store.changes(since: nil, limit: 10) }
        #expect(store.key?.exposedBytes == old.exposedBytes)
      }
      memory.state.withLock { state in
        state.failures = [:]
        state.gap = change
      }
      _ = try await store.changes(since: nil, limit: 10)
      #expect(store.key?.exposedBytes == memory.key.exposedBytes)
    }
  }

  @Test("An attempt that fails for a reason that passes is followed by another")
  func retried() async throws {
    let attempts = Attempts(failing: Self.unreachable, StoreError(code: .busy, message: "no connection left"))
    let store = attempts.start()
    #expect(try await store.waitUntilOpen())
    #expect(attempts.retried.withLock { $0.map(\.code) } == [.unavailable, .busy])
    try await store.ping()
  }

  @Test("An error that does not pass ends the attempts, and is thrown to those who wait")
  func final() async throws {
    let attempts = Attempts(failing: Self.unreachable, Self.refused)
    let store = attempts.start()
    await #expect {
      try await store.waitUntilOpen()
    } throws: {
      ($0 as? StoreError)?.code == .denied
    }
    #expect(attempts.retried.withLock { $0.map(\.code) } == [.unavailable])
    await #expect(throws: StoreError.self) { try await store.ping() }
  }

  @Test("A store that opens after it was closed is closed at once")
  func closedMeanwhile() async throws {
    let (beginnings, begun) = AsyncStream<Void>.makeStream()
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let (closings, closed) = AsyncStream<Void>.makeStream()
    let memory = MemoryStore(onClose: { closed.yield() })
    let store = OpeningSessionStore(
      isFinal: { _ in false }, onRetry: { _ in },
      attempt: {
        begun.yield()
        for await _ in gate { break }
        return OpeningSessionStore.Opened(store: memory, key: memory.key)
      })
    // An attempt that has not begun is not made.
    for await _ in beginnings { break }
    try await store.close()
    #expect(try await !store.waitUntilOpen())
    opener.yield()
    for await _ in closings { break }
    await #expect {
      try await store.ping()
    } throws: {
      ($0 as? StoreError)?.code == .closed
    }
  }

  @Test("An attempt that fails after the store was closed is neither reported nor followed by another")
  func failedMeanwhile() async throws {
    /// Tells when nothing has it any longer.
    final class Token: Sendable {
      private let gone: AsyncStream<Never>.Continuation

      init(_ gone: AsyncStream<Never>.Continuation) { self.gone = gone }

      deinit { gone.finish() }
    }
    let (beginnings, begun) = AsyncStream<Void>.makeStream()
    let (end, gone) = AsyncStream<Never>.makeStream()
    let (attempts, reports) = (Counter(), Counter())
    do {
      let token = Token(gone)
      let store = OpeningSessionStore(
        isFinal: { _ in false }, onRetry: { _ in withExtendedLifetime(token) { reports.count() } },
        attempt: {
          attempts.count()
          begun.yield()
          // Until it is cancelled.
          try? await Task.sleep(for: .seconds(3_600))
          throw Self.unreachable
        })
      for await _ in beginnings { break }
      try await store.close()
    }
    for await _ in end {}
    #expect(attempts.value == 1 && reports.value == 0)
  }

  @Test(
    "An error that the operator has to correct is final, one that passes by itself is not",
    arguments: [
      (StoreError.Code.denied, true), (.misconfigured, true), (.missingDirectory, true), (.newerSchema, true),
      (.corrupt, true), (.damagedRow, true), (.unavailable, false), (.interrupted, false), (.busy, false),
      (.full, false),
    ])
  func codes(code: StoreError.Code, isFinal: Bool) {
    let error = StoreError(code: code, message: "")
    #expect(error.isFinal(at: .sqlite(path: "/x")) == isFinal && error.isFinal(at: .postgreSQL("")) == isFinal)
  }

  @Test("A file that may not be written is final, a server that is read-only is not: it may take another's place")
  func readOnly() {
    let error = StoreError(code: .readOnly, message: "")
    #expect(error.isFinal(at: .sqlite(path: "/x")) && !error.isFinal(at: .postgreSQL("")))
  }
}
