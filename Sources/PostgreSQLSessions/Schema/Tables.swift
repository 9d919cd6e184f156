/// The tables, in a schema of their own, `cordon`: a database may be shared with others. A version that was released is
/// never changed; one that an older gateway must not ignore also raises `cordon.store.minimum_reader` to its own number
/// (see `StoreCompatibility`). Instants are milliseconds since 1970; texts that are compared are compared by their
/// bytes.
enum Tables {
  /// The statements that migrate from each version to the next. Each is idempotent: not every engine rolls them back
  /// with the transaction.
  static let versions: [[SQL]] = [first, second, third, fourth, fifth]

  /// The number of changes that can be written at a time (see `ShardedSequence`).
  static let lanes = 32

  private static let first: [SQL] = [
    """
    CREATE TABLE IF NOT EXISTS cordon.store (
      id bigint PRIMARY KEY CHECK (id = 1),
      identity text NOT NULL,            -- of this database, for change cursors
      pings bigint NOT NULL,
      copied_from text,                  -- the content that this is a copy of (see CopiedContent),
      is_copied bigint NOT NULL DEFAULT 0  -- and whether the copy is whole
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS cordon.accounts (
      subject text COLLATE "C" PRIMARY KEY,
      name text,                         -- JSON of PersonName
      email_key bytea,                   -- of the claim, to be looked up (see PostgreSQLAccountRow)
      claims text NOT NULL,              -- JSON of AccountClaims
      latest_authorization bigint NOT NULL,
      last_verified bigint NOT NULL,
      last_asked bigint,
      last_answer text,
      claim_number bigint NOT NULL       -- grows with each claim of a check and each sign-in
    )
    """,
    "CREATE INDEX IF NOT EXISTS accounts_by_email ON cordon.accounts (email_key) WHERE email_key IS NOT NULL",
    """
    CREATE TABLE IF NOT EXISTS cordon.submitted_names (  -- before the exchange, until the sign-in is complete
      subject text COLLATE "C" PRIMARY KEY,
      name text NOT NULL,
      submitted bigint NOT NULL
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS cordon.refresh_tokens (
      subject text COLLATE "C" NOT NULL REFERENCES cordon.accounts (subject) ON DELETE CASCADE,
      client_id text COLLATE "C" NOT NULL,
      sealed bytea NOT NULL,
      key bigint NOT NULL,               -- the identifier of the key that sealed it
      version bigint NOT NULL,           -- the claim_number of the sign-in that brought it
      PRIMARY KEY (subject, client_id)
    )
    """,
    "CREATE INDEX IF NOT EXISTS refresh_tokens_by_key ON cordon.refresh_tokens (key)",
    """
    CREATE TABLE IF NOT EXISTS cordon.sessions (
      handle bytea PRIMARY KEY,
      subject text COLLATE "C" NOT NULL REFERENCES cordon.accounts (subject) ON DELETE CASCADE,
      client_id text COLLATE "C" NOT NULL,
      began bigint NOT NULL,
      ends bigint NOT NULL,
      last_seen bigint NOT NULL,
      user_agent text
    )
    """,
    "CREATE INDEX IF NOT EXISTS sessions_by_subject ON cordon.sessions (subject)",
    "CREATE INDEX IF NOT EXISTS sessions_by_end ON cordon.sessions (ends)",
    "CREATE INDEX IF NOT EXISTS sessions_by_last_seen ON cordon.sessions (last_seen)",
    """
    CREATE TABLE IF NOT EXISTS cordon.single_use_marks (
      mark bytea PRIMARY KEY,
      until bigint NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS single_use_marks_by_end ON cordon.single_use_marks (until)",
    """
    CREATE TABLE IF NOT EXISTS cordon.change_lanes (     -- see ShardedSequence
      lane bigint PRIMARY KEY,
      last bigint NOT NULL,              -- the number of its latest change
      forgotten bigint NOT NULL,         -- the highest number of a change that was removed
      written bigint NOT NULL            -- when its latest change was written, in microseconds since 1970
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS cordon.changes (          -- for other replicas, remembered for an hour or so
      lane bigint NOT NULL,
      number bigint NOT NULL,
      handle bytea,                      -- an ended session, with the reason,
      reason text,
      subject text COLLATE "C",          -- or an account that changed
      at bigint NOT NULL,
      written bigint NOT NULL,
      PRIMARY KEY (lane, number)
    )
    """,
    "CREATE INDEX IF NOT EXISTS changes_by_handle ON cordon.changes (handle) WHERE handle IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS changes_by_age ON cordon.changes (at)",
    """
    CREATE TABLE IF NOT EXISTS cordon.messages (         -- for the application, until they are delivered
      identifier text COLLATE "C" PRIMARY KEY,
      text text NOT NULL,
      queued bigint NOT NULL,
      due bigint NOT NULL,               -- nobody takes it before
      attempts bigint NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS messages_by_time ON cordon.messages (due)",
  ]

  private static let second: [SQL] = [
    // See StoreCompatibility.
    "ALTER TABLE cordon.store ADD COLUMN IF NOT EXISTS minimum_reader bigint NOT NULL DEFAULT 1",
    // The first attempt to check the account since the last good answer.
    "ALTER TABLE cordon.accounts ADD COLUMN IF NOT EXISTS check_failing_since bigint",
    // latest_authorization by Apple's clock.
    "ALTER TABLE cordon.accounts ADD COLUMN IF NOT EXISTS apple_authorized bigint",
  ]

  private static let third: [SQL] = [
    // See StoreKey.
    "ALTER TABLE cordon.store ADD COLUMN IF NOT EXISTS access_key bytea",
    "ALTER TABLE cordon.accounts ADD COLUMN IF NOT EXISTS token_discarded bigint NOT NULL DEFAULT 0",
    """
    CREATE TABLE IF NOT EXISTS cordon.bans (
      hash bytea PRIMARY KEY,            -- StoreKey.banHash of the subject
      subject text COLLATE "C" UNIQUE,   -- until the user is forgotten
      until bigint,
      reason text,
      since bigint NOT NULL,
      made_by text NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS bans_by_end ON cordon.bans (until) WHERE until IS NOT NULL",
    """
    CREATE TABLE IF NOT EXISTS cordon.group_members (    -- known users, and those who are to come
      group_name text COLLATE "C" NOT NULL,
      subject text COLLATE "C" NOT NULL,
      added bigint NOT NULL,
      added_by text NOT NULL,
      PRIMARY KEY (group_name, subject)
    )
    """,
    "CREATE INDEX IF NOT EXISTS group_members_by_subject ON cordon.group_members (subject, group_name)",
    """
    CREATE TABLE IF NOT EXISTS cordon.access_requests (
      code text COLLATE "C" PRIMARY KEY,
      subject text COLLATE "C" NOT NULL UNIQUE REFERENCES cordon.accounts (subject) ON DELETE CASCADE,
      asked bigint NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS access_requests_by_age ON cordon.access_requests (asked, code)",
    """
    CREATE TABLE IF NOT EXISTS cordon.invitations (
      id text COLLATE "C" PRIMARY KEY,
      hash bytea NOT NULL UNIQUE,        -- InvitationCode.hash
      group_name text COLLATE "C" NOT NULL,
      uses bigint NOT NULL,
      used bigint NOT NULL,
      expires bigint NOT NULL,
      closes bigint NOT NULL,            -- the moment of the last use, or expires
      note text,
      created bigint NOT NULL,
      created_by text NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS invitations_by_end ON cordon.invitations (closes)",
    """
    CREATE TABLE IF NOT EXISTS cordon.invitation_uses (
      invitation text COLLATE "C" NOT NULL REFERENCES cordon.invitations (id) ON DELETE CASCADE,
      subject text COLLATE "C" NOT NULL, -- StoreKey.guestName of the subject
      used bigint NOT NULL,
      PRIMARY KEY (invitation, subject)
    )
    """,
    "CREATE INDEX IF NOT EXISTS invitation_uses_by_subject ON cordon.invitation_uses (subject)",
    """
    CREATE TABLE IF NOT EXISTS cordon.machine_tokens (
      name text COLLATE "C" PRIMARY KEY,
      handle bytea NOT NULL UNIQUE,      -- half a hash of the token
      group_name text COLLATE "C" NOT NULL,
      created bigint NOT NULL,
      expires bigint,
      created_by text NOT NULL
    )
    """,
    "CREATE INDEX IF NOT EXISTS machine_tokens_by_end ON cordon.machine_tokens (expires) WHERE expires IS NOT NULL",
  ]

  /// Uses the columns of the version before, which some engines show to later transactions only. `PostgreSQLMigrations`
  /// fills in `access_key` and raises `minimum_reader`: an older gateway must not ignore bans, groups and tokens.
  private static let fourth: [SQL] = [
    """
    CREATE INDEX IF NOT EXISTS accounts_without_token ON cordon.accounts (latest_authorization)
    WHERE token_discarded = 1
    """
  ]

  /// An older gateway goes on without them: it treats a user who comes under another subject as it always has.
  private static let fifth: [SQL] = [
    """
    CREATE TABLE IF NOT EXISTS cordon.prepared_transfers (  -- of users who are to have another subject
      transfer text COLLATE "C" PRIMARY KEY,  -- Apple's transfer_sub
      hash bytea NOT NULL,               -- StoreKey.banHash of the subject
      subject text COLLATE "C",          -- until the user is forgotten, or has moved
      team text NOT NULL,
      prepared bigint NOT NULL,
      moved bytea                        -- StoreKey.banHash of the new subject, once there is one
    )
    """,
    """
    CREATE INDEX IF NOT EXISTS prepared_transfers_by_subject ON cordon.prepared_transfers (subject)
    WHERE subject IS NOT NULL
    """,
    "CREATE INDEX IF NOT EXISTS prepared_transfers_by_hash ON cordon.prepared_transfers (hash)",
    "CREATE INDEX IF NOT EXISTS prepared_transfers_by_age ON cordon.prepared_transfers (prepared)",
    """
    CREATE INDEX IF NOT EXISTS prepared_transfers_by_move ON cordon.prepared_transfers (moved) WHERE moved IS NOT NULL
    """,
  ]
}
