import Foundation
import SessionStoreTesting
import Sessions
import TemporaryDirectoryTesting
import Testing

@testable import SQLiteSessions

// Files of earlier versions of cordon. The schema stands here as it was, whatever becomes of the migrations.
@Suite("Files of earlier versions")
struct MigrationTests {
  @Test("A file of the first schema is brought up, and everybody in it stays signed in")
  func firstSchema() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.file("cordon.db")
    let old = try signIn()
    let (session, token) = (old.session, try #require(old.token))
    try RawDatabase.execute(Self.firstSchema, at: path)
    try RawDatabase.write(at: path) { database in
      try database.run(
        """
        INSERT INTO accounts VALUES (?1, '{"given":"Ada"}', 'ada@example.com', ?2, ?3, ?3, ?4, 'no good answer', 7)
        """,
        [
          session.subject.text, try RecordText.encode(old.claims), noon.stored,
          noon.addingTimeInterval(86_400).stored,
        ])
      try database.run(
        "INSERT INTO refresh_tokens VALUES (?, ?, ?, ?, 7)",
        [session.subject.text, session.clientID, token.bytes, Int64(token.key.number)])
      try database.run(
        "INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5, ?4, NULL)",
        [
          session.handle.bytes, session.subject.text, session.clientID, noon.stored, session.ends.stored,
        ])
    }
    try await EarlierVersionContract.run(with: old) { [try SQLiteSessionStore(path: path)] }
    try RawDatabase.write(at: path) { database in
      let minimumReader = try database.row("SELECT minimum_reader FROM store")?.integer(0)
      #expect(minimumReader == 4)
    }
  }

  private static let firstSchema = """
    PRAGMA application_id = 1131570286;
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1: accounts, sessions, tokens, marks, changes'), ('2: messages');
    CREATE TABLE store (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      identity TEXT NOT NULL,
      forgotten INTEGER NOT NULL,
      pings INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE accounts (
      subject TEXT PRIMARY KEY NOT NULL,
      name TEXT,
      email TEXT COLLATE NOCASE,
      claims TEXT NOT NULL,
      latest_authorization INTEGER NOT NULL,
      last_verified INTEGER NOT NULL,
      last_asked INTEGER,
      last_answer TEXT,
      claim_number INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX accounts_by_email ON accounts (email) WHERE email IS NOT NULL;

    CREATE TABLE submitted_names (
      subject TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      submitted INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE refresh_tokens (
      subject TEXT NOT NULL REFERENCES accounts (subject) ON DELETE CASCADE,
      client_id TEXT NOT NULL,
      sealed BLOB NOT NULL,
      key INTEGER NOT NULL,
      version INTEGER NOT NULL,
      PRIMARY KEY (subject, client_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_tokens_by_key ON refresh_tokens (key);

    CREATE TABLE sessions (
      handle BLOB PRIMARY KEY NOT NULL,
      subject TEXT NOT NULL REFERENCES accounts (subject) ON DELETE CASCADE,
      client_id TEXT NOT NULL,
      began INTEGER NOT NULL,
      ends INTEGER NOT NULL,
      last_seen INTEGER NOT NULL,
      user_agent TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_subject ON sessions (subject);
    CREATE INDEX sessions_by_end ON sessions (ends);
    CREATE INDEX sessions_by_last_seen ON sessions (last_seen);

    CREATE TABLE single_use_marks (
      mark BLOB PRIMARY KEY NOT NULL,
      until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX single_use_marks_by_end ON single_use_marks (until);

    CREATE TABLE changes (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      handle BLOB,
      reason TEXT,
      subject TEXT,
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX changes_by_handle ON changes (handle) WHERE handle IS NOT NULL;
    CREATE TABLE messages (
      identifier TEXT PRIMARY KEY NOT NULL,
      text TEXT NOT NULL,
      queued INTEGER NOT NULL,
      due INTEGER NOT NULL,
      attempts INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX messages_by_time ON messages (due);
    INSERT INTO store (id, identity, forgotten, pings) VALUES (1, 'fedcba9876543210', 0, 5);
    """
}
