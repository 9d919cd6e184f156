import Dispatch
import Foundation
import Glibc
import Secrets
import SessionStoreTesting
import Sessions
import TemporaryDirectoryTesting
import Testing
import WaitingTesting

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
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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

  @Test(
    "A quota, and a limit on the size of files, are no room and not an unreadable file",
    arguments: [(EDQUOT, StoreError.Code.full), (EFBIG, .full), (EIO, .unavailable)])
  func exceedsLimits(systemError: Int32, code: StoreError.Code) {
    let written = SQLiteError(code: ResultCode.ioErrorWrite, message: "disk I/O error", systemError: systemError)
    let error = StoreError(written, path: "/cordon.db")
    #expect(error.code == code)
    #expect(error.cause?.hasPrefix("SQLite 778: disk I/O error: ") == true)
  }

  @Test("An error of the system is told with that of SQLite")
  func tellsSystemError() throws {
    let folder = try TemporaryDirectory()
    let error = #expect(throws: SQLiteError.self) {
      _ = try Database(path: folder.file("missing/cordon.db"), access: .readWrite, busyTimeout: .zero)
    }
    #expect(error?.primaryCode == ResultCode.cannotOpen && error?.systemError == ENOENT)
  }

  @Test("A database that may not be written says so and can still be read")
  func isReadOnly() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let known = try await store.complete(try signIn()).snapshot
    try await store.write { try $0.run("PRAGMA query_only = ON") }
    let refused = await error { try await store.ping() }
    #expect(refused?.code == .readOnly)
    #expect(try await store.find(known.session.handle) == known)
  }

  @Test("A database that another process has locked is busy, and everything goes on afterwards")
  func isBusy() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
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

  @Test("A file that does not answer is unavailable in time, with a remedy, and everything goes on once it answers")
  func hangs() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(
      path: folder.file("cordon.db"), busyTimeout: .seconds(1), answerLimit: .seconds(5))
    let known = try await store.complete(try signIn()).snapshot
    let release = DispatchSemaphore(value: 0)
    defer { release.signal() }
    let (entered, hasEntered) = AsyncStream.makeStream(of: Void.self)
    let stuck = Task {
      try await store.write { _ in
        hasEntered.finish()
        release.wait()
      }
    }
    for await _ in entered {}
    for _ in 0..<3 {
      let refused = await error { try await store.ping() }
      #expect(refused?.code == .unavailable && refused?.fault == .store)
      #expect(refused?.message.contains("does not answer; look whether its volume hangs") == true)
    }
    await #expect(throws: StoreError.self) { try await stuck.value }
    #expect(try await store.find(known.session.handle) == known, "only writes hang")
    release.signal()
    try await eventually("a write") { await error { try await store.ping() } == nil }
    _ = try await store.complete(try signIn("later"))
  }

  @Test(
    "A row that was damaged is an error, not the end of the process",
    arguments: [
      "UPDATE accounts SET claims = '{'", "UPDATE accounts SET claims = '[1]'", "UPDATE accounts SET name = 'x'",
      "UPDATE accounts SET claims = CAST(x'ff' AS TEXT)",
      "UPDATE sessions SET user_agent = ''; UPDATE accounts SET claims = 'null'",
    ])
  func isDamaged(statement: String) async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let session = try await store.complete(try signIn()).snapshot.session
    for part in statement.split(separator: ";") {
      try await store.write { try $0.run(String(part)) }
    }
    let refused = await error { _ = try await store.find(session.handle) }
    #expect(refused?.code == .damagedRow)
    #expect(refused?.fault == .store)
    try await store.ping()
  }

  @Test(
    "A damaged account is damaged in every list of accounts, and the others are listed",
    arguments: [
      "claims = '{'", "claims = CAST(x'ff' AS TEXT)", "name = 'x'", "name = CAST(x'c0af' AS TEXT)",
      "subject = CAST(x'30ff' AS TEXT)",
    ])
  func damagedAccount(damage: String) async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    for name in ["ada", "bob", "carl"] { _ = try await store.complete(try signIn(name)) }
    let subjects = try ["ada", "bob", "carl"].map { try signIn($0).session.subject }
    let bob = damage.hasPrefix("subject") ? nil : subjects[1].text
    try await store.write { database in
      if bob == nil {
        // They refer to the account.
        for table in ["refresh_tokens", "sessions"] {
          try database.run("DELETE FROM \(table) WHERE subject = ?", [subjects[1].text])
        }
      }
      try database.run("UPDATE accounts SET \(damage) WHERE subject = ?", [subjects[1].text])
    }
    let listed = try await store.accounts(after: nil, limit: 10)
    #expect(listed.records().map(\.subject) == [subjects[0], subjects[2]])
    #expect(listed.damagedRecords().map(\.name) == [bob])
    let summaries = try await store.summaries(after: nil, limit: 10)
    #expect(summaries.records().map(\.account.subject) == [subjects[0], subjects[2]])
    #expect(summaries.damagedRecords().map(\.name) == [bob])
    let found = try await store.accounts(withEmail: "bob@example.com")
    #expect(found.count == 1 && found.damagedRecords().map(\.name) == [bob])
    // A copy leaves nothing out, whatever lists do.
    if damage.contains("CAST") {
      #expect(await error { _ = try await store.rows(of: .accounts, after: [], limit: 10) }?.code == .damagedRow)
    } else {
      #expect(try await store.rows(of: .accounts, after: [], limit: 10).count == 3)
    }
    let ended = try await TokenReencryption.endEverySession(in: store)
    #expect(ended == (bob == nil ? 2 : 3), "those of the damaged account as well")
  }

  @Test("Damaged sessions, requests, invitations, tokens and members do not keep the others from being listed")
  func damagedOthers() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let contract = try await DamagedRecordsContract(in: store)
    let sessions = contract.sessions
    try await store.write { database in
      try database.run(
        "UPDATE sessions SET client_id = CAST(x'ff' AS TEXT) WHERE handle = ?", [sessions[0].handle.bytes])
      try database.run("UPDATE accounts SET claims = '{' WHERE subject = ?", [contract.bob.text])
      try database.run("UPDATE invitations SET group_name = 'no group' WHERE id = 'a'")
      try database.run("UPDATE machine_tokens SET handle = x'00' WHERE name = 'a'")
      for subject in ["001234.carl.0987", "not one"] {
        try database.run("INSERT INTO group_members VALUES ('staff', ?, 0, 'cli')", [subject])
      }
      for group in ["'no group'", "CAST(x'ff' AS TEXT)"] {
        try database.run("INSERT INTO group_members VALUES (\(group), '001234.dora.0987', 0, 'cli')")
      }
    }
    let listed = try await store.sessions(of: sessions[0].subject)
    #expect(listed.records() == [sessions[1]])
    #expect(Set(listed.compactMap { $0.handle }) == Set(sessions.map(\.handle)))
    try await contract.check()
  }

  @Test(
    "A user whose account or session is damaged can be removed",
    arguments: ["UPDATE accounts SET claims = '{'", "UPDATE sessions SET handle = x'00'"])
  func removesDamaged(statement: String) async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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
      #expect(await store.mayHaveChanged, "there may be more after it")
    }
    #expect(try await store.changes(since: strange.cursor, limit: 10).isIncomplete == false)
  }

  @Test("After a backup was restored, a change that gets the number of a lost one is not taken for it")
  func numbersAgain() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    let handles = [SessionIdentifier.random().handle, SessionIdentifier.random().handle]
    let start = try await store.changes(since: nil, limit: 10).cursor
    try await store.end(.one(handles[0]), because: .signedOut, at: noon)
    let seen = try await store.changes(since: start, limit: 10)
    #expect(seen.gap == .none && seen.changes == [.ended(handles[0], .signedOut)])
    // The state of the backup.
    try await store.write { database in
      try database.run("DELETE FROM changes")
      try database.run("DELETE FROM sqlite_sequence WHERE name = 'changes'")
    }
    #expect(try await store.changes(since: seen.cursor, limit: 10).gap == .otherHistory)
    try await store.end(.one(handles[1]), because: .signedOut, at: noon.addingTimeInterval(1))
    let again = try await store.changes(since: seen.cursor, limit: 10)
    #expect(again.gap == .otherHistory && again.changes.isEmpty)
    let other = try await store.changes(since: start, limit: 10)
    #expect(other.gap == .none && other.changes == [.ended(handles[1], .signedOut)])
    let end = try await store.changes(since: again.cursor, limit: 10)
    #expect(end.gap == .none && end.changes.isEmpty && end.cursor == other.cursor)
    // One before the last.
    try await store.end(.one(handles[0]), because: .signedOut, at: noon.addingTimeInterval(2))
    #expect(try await store.changes(since: seen.cursor, limit: 10).gap == .otherHistory)
  }

  @Test("A change that somebody has removed is noticed, once, between others and at the end")
  func removedChange() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    for removed in [2, 3] {
      let start = try await store.changes(since: nil, limit: 10).cursor
      for _ in 0..<3 { try await store.end(.one(SessionIdentifier.random().handle), because: .signedOut, at: noon) }
      let seen = try await store.changes(since: start, limit: 10)
      #expect(seen.gap == .none && seen.changes.count == 3)
      try await store.write { database in
        try database.run("DELETE FROM changes WHERE number = (SELECT max(number) FROM changes) - ?", [3 - removed])
      }
      let cursor = removed == 2 ? start : seen.cursor
      let damaged = try await store.changes(since: cursor, limit: 10)
      #expect(damaged.gap == .damaged)
      #expect(try await store.changes(since: damaged.cursor, limit: 10).gap == .none)
    }
  }

  @Test("Numbers at the ends of their range neither trap nor get lost")
  func survivesExtremes() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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
  @Test("Resealing stops at a token whose key is gone, says whose it is, and leaves it as it was")
  func stopsAtUnknownKeys() async throws {
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
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
    let folder = try TemporaryDirectory()
    let store = try SQLiteSessionStore(path: folder.file("cordon.db"))
    for statement in [
      "SELECT * FROM sessions JOIN accounts ON accounts.subject = sessions.subject WHERE sessions.handle = 'x'",
      "SELECT * FROM sessions WHERE subject = 'x'", "SELECT * FROM accounts WHERE email = 'x'",
      "SELECT handle FROM sessions WHERE ends <= 1", "SELECT handle FROM sessions WHERE last_seen <= 1",
      "SELECT mark FROM single_use_marks WHERE until <= 1", "SELECT number FROM changes WHERE number > 1",
      "SELECT 1 FROM changes WHERE handle = 'x'", "SELECT * FROM refresh_tokens WHERE subject = 'x'",
      "SELECT hash, subject FROM prepared_transfers WHERE transfer = 'x'",
      "SELECT team FROM prepared_transfers WHERE subject = 'x'", "SELECT 1 FROM prepared_transfers WHERE hash = x'00'",
      "SELECT transfer FROM prepared_transfers WHERE prepared <= 1",
      "SELECT 1 FROM prepared_transfers WHERE moved = x'00'",
    ] {
      let plan = try await store.read { database in
        try database.rows("EXPLAIN QUERY PLAN \(statement)").map { try $0.text(3) }
      }
      #expect(!plan.isEmpty)
      #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(statement): \(plan)")
    }
  }
}
