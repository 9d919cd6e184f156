import Foundation
import PostgreSQLServerTesting
import SessionStoreTesting
import Sessions
import Testing
import WaitingTesting

@testable import PostgreSQLSessions

@Suite("The database's schema, and what goes beside it", .postgreSQL, .timeLimit(.minutes(5)))
struct SchemaTests {
  @Test("Many gateways may start on one fresh database at the same time")
  func startsTogether() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let stores = try await withThrowingTaskGroup(of: PostgreSQLSessionStore.self) { group in
      for _ in 0..<12 { group.addTask { try await openStore(url, connections: 2) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    _ = try await stores[0].complete(try signIn())
    for store in stores { #expect(try await store.counts().sessions == 1) }
    #expect(try PostgreSQLServer.current.query("SELECT count(*) FROM cordon.change_lanes", at: url) == "32")
    for store in stores { try await store.close() }
  }

  @Test("A manager who finds no ban deletes none: an operator's may be there a moment later")
  func noBan() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    try PostgreSQLServer.current.query(
      """
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a deletion'; END $$;
      CREATE TRIGGER refuse BEFORE DELETE ON cordon.bans EXECUTE FUNCTION refuse()
      """, at: url)
    let manager = AccessAuthor(stored: String(repeating: "a", count: SessionKeyring.pseudonymLength))
    #expect(try await store.unban(try signIn().session.subject, by: manager, at: noon) == .notBanned)
    try await store.close()
  }

  @Test("A ban by the previous subject holds for a user who signs in while the present one is searched for")
  func banDuringSignIn() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    let stranger = try await store.complete(try signIn()).snapshot.account.subject
    let (old, new) = (try signIn("old").session.subject, try signIn("new").session.subject)
    let transfer = PreparedTransfer(subject: try signIn("transfer").session.subject, team: "NEWTEAM123")
    let ban = Ban(until: nil, reason: nil, since: noon, by: "cli")
    try await store.ban(old, ban)
    _ = try await store.prepare(transfer, of: old, at: noon)
    #expect(try await store.follow(transfer.subject, to: new, at: noon) == .moved)
    #expect(try await store.unban(new, by: "cli", at: noon) == .lifted)
    // The account comes after the search, and before the ban.
    try PostgreSQLServer.current.query(
      """
      CREATE FUNCTION sign_in() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO cordon.accounts
        SELECT (jsonb_populate_record(accounts, '{"subject": "\(new)"}')).* FROM cordon.accounts
        WHERE subject = '\(stranger)' ON CONFLICT DO NOTHING;
        RETURN NEW;
      END $$;
      CREATE TRIGGER sign_in BEFORE INSERT ON cordon.bans FOR EACH ROW EXECUTE FUNCTION sign_in()
      """, at: url)
    try await store.ban(old, ban)
    #expect(try await store.account(new)?.access.ban == ban)
    try await store.close()
  }

  @Test("A gateway that has seen changes which a failover lost learns that changes are missing, whatever the numbers")
  func lostChanges() async throws {
    let store = try await openStore(try PostgreSQLServer.current.makeDatabase())
    func change(lane: Int64) async throws { try await write(lane: lane, store) }
    try await change(lane: 3)
    let before = try await store.changes(since: nil, limit: 10).cursor
    try await change(lane: 3)
    try await change(lane: 7)
    let seen = try await store.changes(since: before, limit: 10)
    #expect(seen.changes.count == 2 && !seen.isIncomplete)
    // What the standby had not received.
    try await store.pool.run(isRetryable: false) { connection in
      try connection.run("DELETE FROM cordon.changes WHERE (lane = 3 AND number = 2) OR lane = 7")
      try connection.run("UPDATE cordon.change_lanes SET last = last - 1 WHERE lane = 3 OR lane = 7")
    }
    #expect(try await store.changes(since: seen.cursor, limit: 10).gap == .otherHistory)
    // It goes on, and its numbers come again.
    for lane: Int64 in [3, 7] { try await change(lane: lane) }
    let last = try await store.changes(since: seen.cursor, limit: 10)
    #expect(last.gap == .otherHistory, "the last number is another change")
    for lane: Int64 in [3, 7] { try await change(lane: lane) }
    #expect(try await store.changes(since: seen.cursor, limit: 10).gap == .otherHistory, "a number before the last one")
    // Another gateway had read less.
    let rest = try await store.changes(since: before, limit: 10)
    #expect(rest.changes.count == 4 && !rest.isIncomplete)
    let end = try await store.changes(since: rest.cursor, limit: 10)
    #expect(end.changes.isEmpty && !end.isIncomplete && end.cursor == rest.cursor)
    try await store.close()
  }

  /// Writes a change in a lane.
  private func write(lane: Int64, _ store: PostgreSQLSessionStore) async throws {
    let ada = try #require(Subject("001234.ada.0987"))
    try await store.pool.run(isRetryable: false) { connection in
      try connection.transaction {
        try ShardedSequence.write([.accountChanged(ada)], at: noon, lane: lane, in: connection)
      }
    }
  }

  @Test("A change that somebody else removed is noticed, between others and where no later one follows")
  func removedChanges() async throws {
    let store = try await openStore(try PostgreSQLServer.current.makeDatabase())
    let start = try await store.changes(since: nil, limit: 10).cursor
    for _ in 0..<3 { try await write(lane: 3, store) }
    func remove(_ number: Int64) async throws {
      try await store.pool.run(isRetryable: false) { connection in
        try connection.run("DELETE FROM cordon.changes WHERE lane = 3 AND number = $1", [.integer(number)])
        return ()
      }
    }
    try await remove(2)
    let between = try await store.changes(since: start, limit: 10)
    #expect(between.gap == .damaged && between.changes.count == 2)
    let rest = try await store.changes(since: between.cursor, limit: 10)
    #expect(rest.gap == .none && rest.changes.isEmpty)
    try await write(lane: 3, store)
    try await remove(4)
    let quiet = try await store.changes(since: rest.cursor, limit: 10)
    #expect(quiet.gap == .damaged && quiet.changes.isEmpty)
    let end = try await store.changes(since: quiet.cursor, limit: 10)
    #expect(end.gap == .none && end.changes.isEmpty)
    try await store.close()
  }

  @Test("A database whose encoding has no room for every name is refused")
  func refusesOtherEncodings() async throws {
    let url = try PostgreSQLServer.current.makeDatabase("ENCODING 'LATIN1' TEMPLATE template0")
    let refused = await storeError { _ = try await openStore(url) }
    #expect(refused?.message.contains("UTF8") == true)
  }

  @Test("Looking at a database that has no store makes none")
  func looking() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    guard case .nothing = try await PostgreSQLSessionStore.existing(url: url) else {
      Issue.record("there is a store")
      return
    }
    #expect(
      try PostgreSQLServer.current.query(
        "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'cordon'", at: url) == "0")
  }

  @Test("An ended session is news to another gateway at once; without NOTIFY the time is waited out")
  func news() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let (first, second) = (try await openStore(url), try await openStore(url))
    let handle = try await first.complete(try signIn()).snapshot.session.handle
    // Once it listens.
    try await eventually("a listener") {
      try PostgreSQLServer.current.query(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()", at: url)
        == "2"
    }
    await second.waitForChanges(atMost: .milliseconds(300))
    async let waiting: Void = second.waitForChanges(atMost: .seconds(3_600))
    try await first.end(.one(handle), because: .signedOut, at: noon)
    await waiting
    let quiet = try await openStore(url, notifies: false)
    await quiet.waitForChanges(atMost: .milliseconds(10))
    for store in [first, second, quiet] { try await store.close() }
  }

  @Test("A change that was numbered first and committed last is not missed by a reader in between")
  func changesInOrder() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    // A machine that is busy with other suites may take its time between two lines of this test: the transaction that
    // is held open must be ended by the test, neither by a time-out of its own nor by the server's for idle
    // transactions.
    let patient = TimeLimits(statement: .seconds(300))
    let slow = try await PostgreSQLSessionStore(
      url: url, connections: 1, notifies: false, limits: patient)
    let fast = try await openStore(url, notifies: false)
    let handles = [
      try await fast.complete(try signIn("ada")).snapshot.session.handle,
      try await fast.complete(try signIn("bob")).snapshot.session.handle,
    ]
    let start = try await fast.changes(since: nil, limit: 10).cursor
    let release = DispatchSemaphore(value: 0)
    let (entered, hasEntered) = AsyncStream.makeStream(of: Void.self)
    async let held: Void = {
      defer { hasEntered.finish() }
      try await slow.pool.run(isRetryable: false) { connection in
        try connection.transaction {
          _ = try PostgreSQLSessionRow.end(where: "handle = $1", [.bytes(handles[0].bytes)], in: connection)
          try ShardedSequence.write([.ended(handles[0], .signedOut)], at: noon, lane: 3, in: connection)
          hasEntered.finish()
          release.wait()
        }
      }
    }()
    // Also where something below throws: `held` is waited for before this function ends.
    defer { release.signal() }
    for await _ in entered {}
    try await fast.pool.run(isRetryable: false) { connection in
      try connection.transaction {
        try ShardedSequence.write([.ended(handles[1], .signedOut)], at: noon, lane: 4, in: connection)
      }
    }
    let between = try await fast.changes(since: start, limit: 10)
    #expect(between.changes == [.ended(handles[1], .signedOut)])
    release.signal()
    try await held
    #expect(try await fast.changes(since: between.cursor, limit: 10).changes == [.ended(handles[0], .signedOut)])
    for store in [slow, fast] { try await store.close() }
  }

  @Test("A row that was damaged is an error, not the end of the process")
  func isDamaged() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    let session = try await store.complete(try signIn()).snapshot.session
    for statement in [
      "UPDATE cordon.accounts SET claims = '{'", "UPDATE cordon.accounts SET claims = '[1]'",
      "UPDATE cordon.accounts SET name = 'x'",
    ] {
      try PostgreSQLServer.current.query(statement, at: url)
      let refused = await storeError { _ = try await store.find(session.handle) }
      #expect(refused?.code == .damagedRow, "\(statement)")
    }
    try PostgreSQLServer.current.query("DROP TABLE cordon.sessions", at: url)
    let gone = await storeError { _ = try await store.find(session.handle) }
    #expect(gone?.code == .corrupt)
    #expect(gone?.message.contains("drop it and restart cordon") == true, "a running gateway makes no schema")
    #expect(gone?.message.contains("bans, groups and tokens are lost") == true, "what that costs")
    #expect(await storeError { try await store.ping() }?.code == .corrupt, "health knows of it")
    try await store.close()
  }

  @Test(
    "A user whose account or session is damaged can be removed",
    arguments: ["UPDATE cordon.accounts SET claims = '{'", "UPDATE cordon.sessions SET handle = '\\x00'"])
  func removesDamaged(statement: String) async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    let session = try await store.complete(try signIn()).snapshot.session
    let other = try await store.complete(try signIn("bob")).snapshot
    try PostgreSQLServer.current.query("\(statement) WHERE subject = '\(session.subject.text)'", at: url)
    _ = try await store.forget(session.subject, keeping: [], at: noon)
    #expect(try await store.account(session.subject) == nil)
    let counts = try await store.counts()
    #expect(counts.accounts == 1 && counts.sessions == 1)
    #expect(try await store.find(other.session.handle) == other)
    try await store.close()
  }

  @Test("A damaged account is damaged in every list of accounts, and the others are listed")
  func damagedAccount() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    for name in ["ada", "bob", "carl"] { _ = try await store.complete(try signIn(name)) }
    let subjects = try ["ada", "bob", "carl"].map { try signIn($0).session.subject }
    for damage in ["claims = '{'", "name = 'x'"] {
      try PostgreSQLServer.current.query(
        "UPDATE cordon.accounts SET \(damage) WHERE subject = '\(subjects[1].text)'", at: url)
      let listed = try await store.accounts(after: nil, limit: 10)
      #expect(listed.records().map(\.subject) == [subjects[0], subjects[2]])
      #expect(listed.damagedRecords().map(\.name) == [subjects[1].text])
      let summaries = try await store.summaries(after: nil, limit: 10)
      #expect(summaries.records().map(\.account.subject) == [subjects[0], subjects[2]])
      #expect(summaries.damagedRecords().map(\.name) == [subjects[1].text])
      let found = try await store.accounts(withEmail: "bob@example.com")
      #expect(found.count == 1 && found.damagedRecords().map(\.name) == [subjects[1].text])
    }
    #expect(try await TokenReencryption.endEverySession(in: store) == 3, "those of the damaged account as well")
    try await store.close()
  }

  @Test("Damaged sessions, requests, invitations, tokens and members do not keep the others from being listed")
  func damagedOthers() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    let contract = try await DamagedRecordsContract(in: store)
    let sessions = contract.sessions
    let handle = sessions[0].handle.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    for statement in [
      "UPDATE cordon.sessions SET handle = '\\x00' WHERE handle = '\\x\(handle)'",
      "UPDATE cordon.accounts SET claims = '{' WHERE subject = '\(contract.bob.text)'",
      "UPDATE cordon.invitations SET group_name = 'no group' WHERE id = 'a'",
      "UPDATE cordon.machine_tokens SET handle = '\\x00' WHERE name = 'a'",
      "INSERT INTO cordon.group_members VALUES ('staff', '001234.carl.0987', 0, 'cli'), ('staff', 'not one', 0, 'cli')",
      "INSERT INTO cordon.group_members VALUES ('no group', '001234.dora.0987', 0, 'cli')",
    ] {
      try PostgreSQLServer.current.query(statement, at: url)
    }
    let listed = try await store.sessions(of: sessions[0].subject)
    #expect(listed.records() == [sessions[1]] && listed.damagedRecords().map(\.name) == [nil])
    try await contract.check()
    try await store.close()
  }

  @Test("Lists and quotes travel as they are", arguments: ["", "\"", "\\", "{a,b}", "NULL", "a\"\\,{}'\u{E9}", " x "])
  func parameters(text: String) async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    let back = try await store.read { connection in
      let row = try connection.run(
        "SELECT $1, ($2)[1], ($2)[2], ($3)[1], ($4)[2], $5",
        [.text(text), .texts([text, nil]), .byteStrings([Array(text.utf8)]), .integers([1, .min]), .integer(nil)]
      ).first
      let found = try #require(row)
      #expect(try found.optionalText(2) == nil)
      #expect(try found.bytes(3) == Array(text.utf8))
      #expect(try found.integer(4) == .min)
      #expect(try found.optionalInteger(5) == nil)
      return [try found.text(0), try found.text(1)]
    }
    #expect(back == [text, text])
    try await store.close()
  }
}

@Suite("The use of PostgreSQL", .postgreSQL)
struct QueryPlanTests {
  @Test("A session's first sight is one read by two primary keys, in a store that is full and known to the planner")
  func firstSight() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    let store = try await openStore(url)
    _ = try await store.complete(try signIn())
    let filling = """
      INSERT INTO cordon.accounts SELECT subject || number, name, email_key, claims, latest_authorization, last_verified,
        last_asked, last_answer, claim_number FROM cordon.accounts, generate_series(1, 5000) AS number;
      INSERT INTO cordon.sessions SELECT decode(md5(account.subject || number), 'hex'), account.subject, client_id, began,
        ends, last_seen, user_agent
      FROM cordon.sessions, cordon.accounts AS account, generate_series(1, 3) AS number;
      INSERT INTO cordon.group_members SELECT 'staff', subject, 0, 'cli' FROM cordon.accounts;
      INSERT INTO cordon.bans SELECT decode(md5(subject), 'hex'), subject, NULL, NULL, 0, 'cli' FROM cordon.accounts;
      ANALYZE cordon.accounts; ANALYZE cordon.sessions; ANALYZE cordon.group_members; ANALYZE cordon.bans;
      """
    try PostgreSQLServer.current.query(filling, at: url)
    let statement = PostgreSQLSessionStore.finding.text.replacing("$1", with: "'\\x00'")
    let plan = try PostgreSQLServer.current.query("EXPLAIN \(statement)", at: url)
    #expect(plan.contains("using sessions_pkey") && plan.contains("using accounts_pkey"), "\(plan)")
    #expect(!plan.contains("Seq Scan") && !plan.contains("Hash") && !plan.contains("Bitmap"), "\(plan)")
    try await store.close()
  }

  @Test("No list and no clean-up scans a table")
  func usesIndexes() async throws {
    let url = try PostgreSQLServer.current.makeDatabase()
    try await openStore(url).close()
    for statement in [
      "SELECT * FROM cordon.sessions WHERE subject = 'x'", "SELECT * FROM cordon.accounts WHERE email_key = '\\x00'",
      "SELECT handle FROM cordon.sessions WHERE ends <= 1", "SELECT handle FROM cordon.sessions WHERE last_seen <= 1",
      "SELECT mark FROM cordon.single_use_marks WHERE until <= 1", "SELECT 1 FROM cordon.changes WHERE at <= 1",
      "SELECT 1 FROM cordon.changes WHERE handle = '\\x00'", "SELECT * FROM cordon.refresh_tokens WHERE subject = 'x'",
      "SELECT * FROM cordon.refresh_tokens WHERE key > 7", "SELECT * FROM cordon.messages WHERE due <= 1",
      "SELECT * FROM cordon.bans WHERE subject = 'x'", "SELECT hash FROM cordon.bans WHERE until <= 1",
      "SELECT * FROM cordon.group_members WHERE subject = 'x'",
      "SELECT * FROM cordon.group_members WHERE group_name = 'x' AND subject > 'x' ORDER BY subject LIMIT 1",
      "SELECT * FROM cordon.access_requests WHERE subject = 'x'",
      "SELECT * FROM cordon.access_requests WHERE asked > 1 ORDER BY asked, code LIMIT 1",
      "SELECT * FROM cordon.invitations WHERE hash = '\\x00'", "SELECT id FROM cordon.invitations WHERE closes <= 1",
      "DELETE FROM cordon.invitation_uses WHERE subject = 'x'",
      "SELECT * FROM cordon.machine_tokens WHERE handle = '\\x00'",
      "SELECT name FROM cordon.machine_tokens WHERE expires <= 1",
      "SELECT subject FROM cordon.accounts WHERE token_discarded = 1 AND latest_authorization <= 1",
      "SELECT hash, subject FROM cordon.prepared_transfers WHERE transfer = 'x'",
      "SELECT team FROM cordon.prepared_transfers WHERE subject = 'x'",
      "SELECT 1 FROM cordon.prepared_transfers WHERE hash = '\\x00'",
      "SELECT transfer FROM cordon.prepared_transfers WHERE prepared <= 1",
      "SELECT 1 FROM cordon.prepared_transfers WHERE moved = '\\x00'",
    ] {
      let plan = try PostgreSQLServer.current.query("SET enable_seqscan = off; EXPLAIN \(statement)", at: url)
      #expect(plan.contains("Index") && !plan.contains("Seq Scan"), "\(statement):\n\(plan)")
    }
  }
}
