import CSQLite
import Sessions

/// The schema, and how older files come to it. A migration that was released is never changed. One that an older
/// gateway must not ignore also raises `store.minimum_reader` to its own number (see `StoreCompatibility`).
enum SQLiteMigrations {
  /// "Crdn", in the file's header, so that a database of another program is not taken for ours.
  static let applicationID: Int64 = 0x4372_646E

  static let migrator = SQLiteMigrator(migrations: [
    SQLiteMigration(identifier: "1: accounts, sessions, tokens, marks, changes") { database in
      try database.execute("PRAGMA application_id = \(applicationID)")
      try database.execute(first)
      try database.run(
        "INSERT INTO store (id, identity, forgotten, pings) VALUES (1, lower(hex(randomblob(8))), 0, 0)")
    },
    SQLiteMigration(identifier: "2: messages") { try $0.execute(second) },
    SQLiteMigration(identifier: "3: minimum reader, failing checks, Apple's time", foreignKeyChecks: .immediate) {
      try $0.execute(third)
    },
    SQLiteMigration(identifier: "4: access", foreignKeyChecks: .immediate) { database in
      try database.execute(fourth)
      // An older gateway must not ignore bans, groups and tokens.
      try database.run(
        "UPDATE store SET access_key = ?, minimum_reader = max(minimum_reader, 4)", [StoreKey.random().exposedBytes])
    },
    // An older gateway goes on without it: it treats a user who comes under another subject as it always has.
    SQLiteMigration(identifier: "5: prepared transfers", foreignKeyChecks: .immediate) { try $0.execute(fifth) },
  ])

  /// The schema version of this program.
  static var version: Int { migrator.migrations.count }

  /// Brings the file to the schema of this program; a newer schema stays as it is.
  ///
  /// Processes may start on one fresh file at the same time. Each migration is a transaction of its own, so a process
  /// that fails because another one was faster goes on after that migration.
  /// - Parameter migrate: runs the migrations that are not applied yet.
  /// - Returns: whether the file had no schema.
  @discardableResult
  static func bringUp(
    _ database: Database, migrate: (Database) throws -> Void = { try migrator.migrate($0) }
  ) throws -> Bool {
    var applied = try migrator.appliedIdentifiers(database)
    while true {
      do {
        try migrate(database)
        return applied.isEmpty
      } catch {
        let appliedNow = try migrator.appliedIdentifiers(database)
        guard appliedNow.count > applied.count else { throw error }
        applied = appliedNow
      }
    }
  }

  /// The oldest schema version that every user of the store must know.
  static func minimumReader(_ database: Database) throws -> Int64 {
    guard let row = try database.row("SELECT minimum_reader FROM store WHERE id = 1") else {
      throw DamagedRowError(what: "store", isOfStore: true)
    }
    return try row.integer(0)
  }

  /// Looks at the file before anything is written to it, through every new connection.
  /// - Throws: `SQLiteError` if the file is not a database, is damaged at its start, or belongs to another program.
  static func requireOurs(_ database: Database) throws {
    // Of one snapshot: between two, another process may have made a fresh file ours.
    try database.transaction(.deferred) {
      try refuseForeign(database)
      // Reads the whole schema.
      _ = try database.row("SELECT * FROM sqlite_master LIMIT 1")
    }
  }

  private static func refuseForeign(_ database: Database) throws {
    let identifier = try database.row("PRAGMA application_id")?.integer(0) ?? 0
    if identifier == applicationID { return }
    let tables = try database.row(
      """
      SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'grdb\\_%' ESCAPE '\\'
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      """
    )?.integer(0)
    guard identifier == 0, tables == 0 else {
      throw SQLiteError(code: SQLITE_NOTADB, message: "a database of another program")
    }
  }

  /// Instants are milliseconds since 1970.
  private static let first = """
    CREATE TABLE store (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      identity TEXT NOT NULL,       -- of this database, for change cursors
      forgotten INTEGER NOT NULL,   -- the highest number of a change that was removed
      pings INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE accounts (
      subject TEXT PRIMARY KEY NOT NULL,
      name TEXT,                    -- JSON of PersonName
      email TEXT COLLATE NOCASE,    -- copy of the claim, to be looked up
      claims TEXT NOT NULL,         -- JSON of AccountClaims
      latest_authorization INTEGER NOT NULL,
      last_verified INTEGER NOT NULL,
      last_asked INTEGER,
      last_answer TEXT,
      claim_number INTEGER NOT NULL -- grows with each claim of a check and each sign-in
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX accounts_by_email ON accounts (email) WHERE email IS NOT NULL;

    CREATE TABLE submitted_names (  -- before the exchange, until the sign-in is complete
      subject TEXT PRIMARY KEY NOT NULL,
      name TEXT NOT NULL,
      submitted INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE refresh_tokens (
      subject TEXT NOT NULL REFERENCES accounts (subject) ON DELETE CASCADE,
      client_id TEXT NOT NULL,
      sealed BLOB NOT NULL,
      key INTEGER NOT NULL,         -- the identifier of the key that sealed it
      version INTEGER NOT NULL,     -- the claim_number of the sign-in that brought it
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

    CREATE TABLE changes (          -- for other replicas, remembered for an hour or so
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      handle BLOB,                  -- an ended session, with the reason,
      reason TEXT,
      subject TEXT,                 -- or an account that changed
      at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX changes_by_handle ON changes (handle) WHERE handle IS NOT NULL;
    """

  private static let second = """
    CREATE TABLE messages (         -- for the application, until they are delivered
      identifier TEXT PRIMARY KEY NOT NULL,
      text TEXT NOT NULL,
      queued INTEGER NOT NULL,
      due INTEGER NOT NULL,         -- nobody takes it before
      attempts INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX messages_by_time ON messages (due);
    """

  private static let third = """
    ALTER TABLE store ADD COLUMN minimum_reader INTEGER NOT NULL DEFAULT 1;  -- see StoreCompatibility
    ALTER TABLE accounts ADD COLUMN check_failing_since INTEGER;  -- the first attempt since the last good answer
    ALTER TABLE accounts ADD COLUMN apple_authorized INTEGER;     -- latest_authorization by Apple's clock
    """

  private static let fourth = """
    ALTER TABLE store ADD COLUMN access_key BLOB NOT NULL DEFAULT x'';              -- see StoreKey
    ALTER TABLE accounts ADD COLUMN token_discarded INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX accounts_without_token ON accounts (latest_authorization) WHERE token_discarded = 1;

    CREATE TABLE bans (
      hash BLOB PRIMARY KEY NOT NULL,  -- StoreKey.banHash of the subject
      subject TEXT UNIQUE,             -- until the user is forgotten
      until INTEGER,
      reason TEXT,
      since INTEGER NOT NULL,
      made_by TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX bans_by_end ON bans (until) WHERE until IS NOT NULL;

    CREATE TABLE group_members (       -- known users, and those who are to come
      group_name TEXT NOT NULL,
      subject TEXT NOT NULL,
      added INTEGER NOT NULL,
      added_by TEXT NOT NULL,
      PRIMARY KEY (group_name, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX group_members_by_subject ON group_members (subject, group_name);

    CREATE TABLE access_requests (
      code TEXT PRIMARY KEY NOT NULL,
      subject TEXT NOT NULL UNIQUE REFERENCES accounts (subject) ON DELETE CASCADE,
      asked INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX access_requests_by_age ON access_requests (asked, code);

    CREATE TABLE invitations (
      id TEXT PRIMARY KEY NOT NULL,
      hash BLOB NOT NULL UNIQUE,       -- InvitationCode.hash
      group_name TEXT NOT NULL,
      uses INTEGER NOT NULL,
      used INTEGER NOT NULL,
      expires INTEGER NOT NULL,
      closes INTEGER NOT NULL,         -- the moment of the last use, or expires
      note TEXT,
      created INTEGER NOT NULL,
      created_by TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX invitations_by_end ON invitations (closes);

    CREATE TABLE invitation_uses (
      invitation TEXT NOT NULL REFERENCES invitations (id) ON DELETE CASCADE,
      subject TEXT NOT NULL,           -- StoreKey.guestName of the subject
      used INTEGER NOT NULL,
      PRIMARY KEY (invitation, subject)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX invitation_uses_by_subject ON invitation_uses (subject);

    CREATE TABLE machine_tokens (
      name TEXT PRIMARY KEY NOT NULL,
      handle BLOB NOT NULL UNIQUE,     -- half a hash of the token
      group_name TEXT NOT NULL,
      created INTEGER NOT NULL,
      expires INTEGER,
      created_by TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX machine_tokens_by_end ON machine_tokens (expires) WHERE expires IS NOT NULL;
    """

  private static let fifth = """
    CREATE TABLE prepared_transfers (  -- of users who are to have another subject
      transfer TEXT PRIMARY KEY NOT NULL,  -- Apple's transfer_sub
      hash BLOB NOT NULL,              -- StoreKey.banHash of the subject
      subject TEXT,                    -- until the user is forgotten, or has moved
      team TEXT NOT NULL,
      prepared INTEGER NOT NULL,
      moved BLOB                       -- StoreKey.banHash of the new subject, once there is one
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX prepared_transfers_by_subject ON prepared_transfers (subject) WHERE subject IS NOT NULL;
    CREATE INDEX prepared_transfers_by_hash ON prepared_transfers (hash);
    CREATE INDEX prepared_transfers_by_age ON prepared_transfers (prepared);
    CREATE INDEX prepared_transfers_by_move ON prepared_transfers (moved) WHERE moved IS NOT NULL;
    """
}
