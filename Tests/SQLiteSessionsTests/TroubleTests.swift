import Dispatch
import Foundation
import Secrets
import Sessions
import Testing

@testable import SQLiteSessions

@Suite("A database in trouble", .timeLimit(.minutes(5)))
struct TroubleTests {
  private func error(_ body: () async throws -> Void) async -> StoreError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test("A full disk refuses what is new, keeps what is there, and is over when there is room")
  func isFull() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let known = try await store.complete(try signIn()).snapshot
    try await store.write { database in
      let pages = try database.row("PRAGMA page_count")?.count(0) ?? 0
      try database.run("PRAGMA max_page_count = \(pages)")
    }
    var refused: StoreError?
    for number in 0..<500 where refused == nil {
      refused = await error { _ = try await store.complete(try signIn("user\(number)")) }
    }
    #expect(refused?.code == .full)
    #expect(refused?.fault == .operator)
    #expect(try await store.find(known.session.handle) == known)
    try await store.write { try $0.run("PRAGMA max_page_count = 1000000") }
    _ = try await store.complete(try signIn("later"))
  }

  @Test("A database that may not be written says so and can still be read")
  func isReadOnly() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let known = try await store.complete(try signIn()).snapshot
    try await store.write { try $0.run("PRAGMA query_only = ON") }
    let refused = await error { try await store.ping() }
    #expect(refused?.code == .readOnly)
    #expect(try await store.find(known.session.handle) == known)
  }

  @Test("A database that another process has locked is busy, and everything goes on afterwards")
  func isBusy() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("cordon.db")
    let holder = try SQLiteSessionStore(path: path)
    let store = try SQLiteSessionStore(path: path, busyTimeout: .milliseconds(10))
    let known = try await store.complete(try signIn()).snapshot
    let release = DispatchSemaphore(value: 0)
    let (entered, hasEntered) = AsyncStream.makeStream(of: Void.self)
    async let held: Void = holder.write { _ in
      hasEntered.finish()
      release.wait()
    }
    defer { release.signal() }
    for await _ in entered {}
    let refused = await error { try await store.end(.one(known.session.handle), because: .signedOut, at: noon) }
    #expect(refused?.code == .busy)
    #expect(try await store.find(known.session.handle) == known)
    release.signal()
    try await held
    #expect(try await store.end(.one(known.session.handle), because: .signedOut, at: noon).count == 1)
  }

  @Test(
    "A row that was damaged is an error, not the end of the process",
    arguments: [
      "UPDATE accounts SET claims = '{'", "UPDATE accounts SET claims = '[1]'", "UPDATE accounts SET name = 'x'",
      "UPDATE sessions SET handle = x'00'",
      "UPDATE sessions SET user_agent = ''; UPDATE accounts SET claims = 'null'",
    ])
  func isDamaged(statement: String) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let session = try await store.complete(try signIn()).snapshot.session
    for part in statement.split(separator: ";") {
      try await store.write { try $0.run(String(part)) }
    }
    let refused = await error {
      _ = try await store.find(session.handle)
      _ = try await store.sessions(of: session.subject)
    }
    #expect(refused?.code == .damagedRow)
    #expect(refused?.fault == .store)
    try await store.ping()
  }

  @Test(
    "A user whose account or session is damaged can be removed",
    arguments: ["UPDATE accounts SET claims = '{'", "UPDATE sessions SET handle = x'00'"])
  func removesDamaged(statement: String) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let session = try await store.complete(try signIn()).snapshot.session
    let other = try await store.complete(try signIn("bob")).snapshot
    try await store.write { try $0.run("\(statement) WHERE subject = '\(session.subject.text)'") }
    _ = try await store.forget(session.subject, keeping: [], at: noon)
    #expect(try await store.account(session.subject) == nil)
    let counts = try await store.counts()
    #expect(counts.accounts == 1 && counts.sessions == 1)
    #expect(try await store.find(other.session.handle) == other)
  }

  @Test("A change with a reason of a newer version is followed; after a damaged one everything is read again")
  func strangeChanges() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let session = try await store.complete(try signIn()).snapshot.session
    let start = try await store.changes(since: nil, limit: 10).cursor
    _ = try await store.end(.one(session.handle), because: .signedOut, at: noon)
    try await store.write { try $0.run("UPDATE changes SET reason = 'taken over by another planet'") }
    let strange = try await store.changes(since: start, limit: 10)
    #expect(strange.changes == [.ended(session.handle, .byOperator)] && !strange.isIncomplete)
    for damage in ["handle = x'00'", "handle = NULL, subject = ''"] {
      try await store.write { try $0.run("UPDATE changes SET " + damage) }
      let damaged = try await store.changes(since: start, limit: 10)
      #expect(damaged.changes == [] && damaged.isIncomplete && damaged.cursor == strange.cursor)
      #expect(store.mayHaveChanged, "there may be more after it")
    }
    #expect(try await store.changes(since: strange.cursor, limit: 10).isIncomplete == false)
  }

  @Test("Numbers at the ends of their range neither trap nor get lost")
  func survivesExtremes() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let session = try await store.complete(try signIn()).snapshot.session
    for number in [Int64.min, -1, 0, .max] {
      try await store.write { database in
        try database.run(
          """
          UPDATE accounts SET last_asked = \(number), last_verified = \(number), latest_authorization = \(number),
            claim_number = \(number)
          """)
        try database.run("UPDATE sessions SET began = \(number), ends = \(number), last_seen = \(number)")
      }
      let found = try #require(try await store.find(session.handle))
      _ = found.session.isAlive(at: noon, idleTimeout: .seconds(60))
      for interval in [Duration.zero, .seconds(Int64.max), .seconds(86_400)] {
        _ = try await store.acquireLease(of: session.subject, preferring: "x", interval: interval, now: noon)
      }
      for now in [Date.distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity)] {
        _ = try await store.acquireLease(of: session.subject, preferring: "x", interval: .seconds(86_400), now: now)
      }
      _ = try await store.complete(try signIn())
    }
  }

  @Test("No error tells a parameter of a statement")
  func errorsTellNoParameters() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    try await store.write { database in
      try database.run(
        "CREATE TRIGGER refuse BEFORE INSERT ON accounts BEGIN SELECT RAISE(ABORT, 'refused'); END")
    }
    let failed = await error { _ = try await store.complete(try signIn("very-secret")) }
    let text = try #require(failed).description
    #expect(!text.contains("very-secret"))
    #expect(failed?.code == .conflict)
  }
}

@Suite("Resealing tokens")
struct ResealingTests {
  @Test("It stops at a token whose key is gone, says whose it is, and leaves it as it was")
  func stopsAtUnknownKeys() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    let signIn = try signIn()
    _ = try await store.complete(signIn)
    let other = try SessionKeyring(secrets: [SessionSecret(Array(repeating: 8, count: 32))])
    do {
      _ = try await TokenReencryption.run(store: store, keyring: other)
      Issue.record("it resealed what it cannot open")
    } catch {
      guard case .token(.unknownKey, let subject, "com.example.web") = error else { throw error }
      #expect(subject == signIn.session.subject)
    }
    let left = try await store.storedTokens(notSealedBy: other.currentKey, limit: 10)
    #expect(left.map(\.token) == [signIn.token])
    #expect(throws: KeyringError.self) { try other.requireEveryKey(of: [left[0].token.key: 1]) }
  }
}

@Suite("The use of the database")
struct QueryPlanTests {
  @Test("A session is found with its account by two primary keys, and no list or clean-up scans a table")
  func usesIndexes() async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteSessionStore(path: folder.path("cordon.db"))
    for statement in [
      "SELECT * FROM sessions JOIN accounts ON accounts.subject = sessions.subject WHERE sessions.handle = 'x'",
      "SELECT * FROM sessions WHERE subject = 'x'", "SELECT * FROM accounts WHERE email = 'x'",
      "SELECT handle FROM sessions WHERE ends <= 1", "SELECT handle FROM sessions WHERE last_seen <= 1",
      "SELECT mark FROM single_use_marks WHERE until <= 1", "SELECT number FROM changes WHERE number > 1",
      "SELECT 1 FROM changes WHERE handle = 'x'", "SELECT * FROM refresh_tokens WHERE subject = 'x'",
    ] {
      let plan = try await store.read { database in
        try database.rows("EXPLAIN QUERY PLAN \(statement)").map { try $0.text(3) }
      }
      #expect(!plan.isEmpty)
      #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(statement): \(plan)")
    }
  }
}
