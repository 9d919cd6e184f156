import Foundation
import PostgreSQLServerTesting
import SessionStoreTesting
import Sessions
import Testing

@testable import PostgreSQLSessions

// Databases of earlier versions of cordon. The schema stands here as it was, whatever becomes of the migrations.
@Suite("Databases of earlier versions", .postgreSQL)
struct MigrationTests {
  @Test("A database of the first schema is brought up by several gateways at once, and everybody in it stays signed in")
  func firstSchema() async throws {
    let server = try PostgreSQLServer.current
    let url = try server.makeDatabase()
    let old = try signIn()
    let (session, token) = (old.session, try #require(old.token))
    func hex(_ bytes: [UInt8]) -> String { "'\\x" + bytes.map { String(format: "%02x", $0) }.joined() + "'" }
    try server.query(Self.firstSchema, at: url)
    try server.query(
      """
      INSERT INTO cordon.accounts VALUES ('\(session.subject.text)', '{"given":"Ada"}',
        \(hex(PostgreSQLAccountRow.emailKey("ada@example.com"))), '\(try RecordText.encode(old.claims))', \(noon.stored),
        \(noon.stored), \(noon.addingTimeInterval(86_400).stored), 'no good answer', 7);
      INSERT INTO cordon.refresh_tokens VALUES ('\(session.subject.text)', '\(session.clientID)', \(hex(token.bytes)),
        \(token.key.number), 7);
      INSERT INTO cordon.sessions VALUES (\(hex(session.handle.bytes)), '\(session.subject.text)', '\(session.clientID)',
        \(noon.stored), \(session.ends.stored), \(noon.stored), NULL);
      """, at: url)
    try await EarlierVersionContract.run(with: old) {
      try await withThrowingTaskGroup(of: PostgreSQLSessionStore.self, returning: [any SessionStore].self) { group in
        for _ in 0..<6 { group.addTask { try await openStore(url, connections: 1) } }
        var stores: [any SessionStore] = []
        for try await store in group { stores.append(store) }
        return stores
      }
    }
    #expect(try server.query("SELECT version FROM cordon.schema_version", at: url) == "\(Tables.versions.count)")
    #expect(try server.query("SELECT minimum_reader FROM cordon.store", at: url) == "4")
  }

  @Test(
    "A migration that a long transaction keeps from a table gives up in time, and is made once that has ended",
    arguments: 1...3)
  func longTransaction(version: Int) async throws {
    let server = try PostgreSQLServer.current
    let url = try server.makeDatabase()
    try server.query(Self.firstSchema, at: url)
    let other = try Connection(
      try ServerAddress(url), limits: TimeLimits(connect: .seconds(120), statement: .seconds(60)))
    for statement in Tables.versions[1..<version].joined() { try other.run(statement) }
    try other.run("UPDATE cordon.schema_version SET version = $1", [.integer(Int64(version))])
    try other.run("BEGIN")
    try other.run("LOCK TABLE cordon.accounts IN ROW EXCLUSIVE MODE")
    let refused = try #require(await storeError { _ = try await openStore(url) })
    #expect(refused.code == .busy && refused.message.contains("pg_stat_activity"), "\(refused)")
    #expect(!refused.isFinal(at: .postgreSQL(url)))
    #expect(try server.query("SELECT version FROM cordon.schema_version", at: url) == "\(version)")
    try other.run("COMMIT")
    let store = try await openStore(url)
    #expect(try server.query("SELECT version FROM cordon.schema_version", at: url) == "\(Tables.versions.count)")
    try await store.close()
  }

  private static let firstSchema = """
    CREATE SCHEMA cordon;
    CREATE TABLE cordon.schema_version (id bigint PRIMARY KEY CHECK (id = 1), version bigint NOT NULL);
    INSERT INTO cordon.schema_version VALUES (1, 1);
    CREATE TABLE cordon.store (
      id bigint PRIMARY KEY CHECK (id = 1),
      identity text NOT NULL,
      pings bigint NOT NULL,
      copied_from text,
      is_copied bigint NOT NULL DEFAULT 0
    );
    CREATE TABLE cordon.accounts (
      subject text COLLATE "C" PRIMARY KEY,
      name text,
      email_key bytea,
      claims text NOT NULL,
      latest_authorization bigint NOT NULL,
      last_verified bigint NOT NULL,
      last_asked bigint,
      last_answer text,
      claim_number bigint NOT NULL
    );
    CREATE INDEX accounts_by_email ON cordon.accounts (email_key) WHERE email_key IS NOT NULL;
    CREATE TABLE cordon.submitted_names (
      subject text COLLATE "C" PRIMARY KEY,
      name text NOT NULL,
      submitted bigint NOT NULL
    );
    CREATE TABLE cordon.refresh_tokens (
      subject text COLLATE "C" NOT NULL REFERENCES cordon.accounts (subject) ON DELETE CASCADE,
      client_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL,
      key bigint NOT NULL,
      version bigint NOT NULL,
      PRIMARY KEY (subject, client_id)
    );
    CREATE INDEX refresh_tokens_by_key ON cordon.refresh_tokens (key);
    CREATE TABLE cordon.sessions (
      handle bytea PRIMARY KEY,
      subject text COLLATE "C" NOT NULL REFERENCES cordon.accounts (subject) ON DELETE CASCADE,
      client_id text COLLATE "C" NOT NULL,
      began bigint NOT NULL,
      ends bigint NOT NULL,
      last_seen bigint NOT NULL,
      user_agent text
    );
    CREATE INDEX sessions_by_subject ON cordon.sessions (subject);
    CREATE INDEX sessions_by_end ON cordon.sessions (ends);
    CREATE INDEX sessions_by_last_seen ON cordon.sessions (last_seen);
    CREATE TABLE cordon.single_use_marks (
      mark bytea PRIMARY KEY,
      until bigint NOT NULL
    );
    CREATE INDEX single_use_marks_by_end ON cordon.single_use_marks (until);
    CREATE TABLE cordon.change_lanes (
      lane bigint PRIMARY KEY,
      last bigint NOT NULL,
      forgotten bigint NOT NULL,
      written bigint NOT NULL
    );
    CREATE TABLE cordon.changes (
      lane bigint NOT NULL,
      number bigint NOT NULL,
      handle bytea,
      reason text,
      subject text COLLATE "C",
      at bigint NOT NULL,
      written bigint NOT NULL,
      PRIMARY KEY (lane, number)
    );
    CREATE INDEX changes_by_handle ON cordon.changes (handle) WHERE handle IS NOT NULL;
    CREATE INDEX changes_by_age ON cordon.changes (at);
    CREATE TABLE cordon.messages (
      identifier text COLLATE "C" PRIMARY KEY,
      text text NOT NULL,
      queued bigint NOT NULL,
      due bigint NOT NULL,
      attempts bigint NOT NULL
    );
    CREATE INDEX messages_by_time ON cordon.messages (due);
    INSERT INTO cordon.store (id, identity, pings) VALUES (1, 'fedcba9876543210', 5);
    INSERT INTO cordon.change_lanes SELECT lane, 0, 0, 0 FROM generate_series(0, 31) AS lane;
    """
}
