import CSQLite
package import FoundationEssentials
package import Sessions
import Synchronization
import Threads

/// Accounts and sessions in one SQLite file: the store for one machine. Several processes of that machine may share it.
///
/// WAL, so that readers and the one writer do not wait for each other. `synchronous` is FULL: every commit is on the
/// disk before it is acknowledged, so that a sign-out also survives a power cut; the commits that come often (when
/// sessions were last seen) come in batches.
///
/// An operation that has begun is always finished, whether or not its caller was cancelled meanwhile: a lease that was
/// acquired, or a sign-out, is never left in doubt.
///
/// The exception is a file that does not answer, because its volume hangs: after `answerLimit` an operation fails, and
/// one that writes may still be carried out when the volume answers again, as with a server whose answer is lost. Of
/// what is in doubt then nothing is relied on: a sign-in that was answered with 503 may leave a session whose cookie
/// nobody has; a lease that nobody uses ends like that of a gateway that was killed; a notification that Apple repeats
/// is found to be carried out; and a message that was not discarded is delivered again under the same identifier.
package final class SQLiteSessionStore: SessionStore {
  /// The time that a write waits for one of another process, and that a read waits for a lock.
  static let busyTimeout = Duration.seconds(5)
  /// The time in which an operation that has begun must end: longer than it waits for a lock, which is no hang. SQLite
  /// adds up the pauses that it asked for, so that on a busy machine the wait takes longer than `busyTimeout`.
  static let answerLimit = busyTimeout + .seconds(5)
  static let readers = 4
  /// The size that the write-ahead log shrinks to when it is begun again, in bytes. Usually it is a quarter of that; it
  /// grows while a program keeps a transaction open that has read.
  static let restingLogBytes = 16 << 20

  let file: DatabaseFile
  private let pool: DatabasePool
  private let compatibility = StoreCompatibility(known: SQLiteMigrations.version)
  /// Whether rows are being counted.
  private let isCounting = Atomic<Bool>(false)
  /// The size of the write-ahead log when it was last looked at, in bytes; -1 if it is unknown.
  private let latestLogBytes = Atomic<Int>(-1)
  /// The state of the files just before the changes were last read; nil if that failed, or they were written since.
  let readState = Mutex<DatabaseFileState?>(nil)
  /// Nil where the system gives none: then the files are looked at each time.
  let watch: FileWatch?

  /// The file's absolute path, after `SQLite at`.
  package var place: String { "SQLite at \(file.path)" }
  /// Whether the file had no tables before this process made them.
  package let isNew: Bool
  /// Whether the store is new although there was a file: an empty one, as somebody makes it to set its owner, but also
  /// as a crash of the machine or a full disk may leave it of a store with sessions.
  package let wasEmptied: Bool

  /// Opens the file, or creates it for this user alone (mode 0600), and brings it to the schema of this program.
  /// Blocks.
  ///
  /// - Parameters:
  ///   - path: absolute, perhaps a symbolic link to the file; the folder must exist.
  ///   - isWholeRead: whether whole tables are read, for which operations may take as long as they need.
  /// - Throws: `StoreError` with the remedy if the folder is missing, the file cannot be opened or written, is damaged,
  ///   belongs to another program, or was changed by a newer version in a way that this one must not ignore.
  package convenience init(path: String, isWholeRead: Bool = false) throws(StoreError) {
    try self.init(path: path, busyTimeout: Self.busyTimeout, answerLimit: isWholeRead ? nil : Self.answerLimit)
  }

  /// - Parameter isWatched: whether to ask the system for events of the files.
  init(
    path: String, busyTimeout: Duration, answerLimit: Duration? = SQLiteSessionStore.answerLimit,
    isWatched: Bool = true
  ) throws(StoreError) {
    let path = DatabaseFile.resolved(path)
    let isEmpty = try DatabaseFile.prepare(path)
    do {
      let writer = try Self.openWriter(path, busyTimeout)
      let isNew = try SQLiteMigrations.bringUp(writer)
      self.isNew = isNew
      wasEmptied = isNew && isEmpty
      try compatibility.note(minimumReader: SQLiteMigrations.minimumReader(writer), of: path)
      let file = try DatabaseFile(path)
      self.file = file
      watch = isWatched ? FileWatch([path, DatabaseFile.log(of: path)]) : nil
      pool = DatabasePool(
        writer: writer, readers: Self.readers, lockTimeout: busyTimeout, answerLimit: answerLimit
      ) {
        // Opened when it is first needed: by then another file may have the name.
        try file.requirePresence()
        return try Self.openReader(path)
      }
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// The same on a thread of its own: the calls of a volume that hangs do not return, and must not take one of the few
  /// threads of Swift's tasks with them.
  package static func open(path: String) async throws(StoreError) -> SQLiteSessionStore {
    let opened = await SerialWorker(named: "cordon-opening").run { () -> Result<SQLiteSessionStore, StoreError> in
      do throws(StoreError) {
        return .success(try SQLiteSessionStore(path: path))
      } catch {
        return .failure(error)
      }
    }
    return try opened.get()
  }

  private static func openWriter(_ path: String, _ busyTimeout: Duration) throws -> sending Database {
    let database = try Database(path: path, access: .readWrite, busyTimeout: busyTimeout)
    try SQLiteMigrations.requireOurs(database)
    guard try database.row("PRAGMA journal_mode = WAL")?.text(0) == "wal" else {
      throw SQLiteError(code: SQLITE_ERROR, message: "no write-ahead log can be had")
    }
    try database.execute("PRAGMA synchronous = FULL")
    try database.execute("PRAGMA journal_size_limit = \(restingLogBytes)")
    return database
  }

  /// A connection that reads is locked out only while another process opens the file after a kill, or closes it.
  private static func openReader(_ path: String) throws -> Database {
    let database = try Database(path: path, access: .readOnly, busyTimeout: busyTimeout)
    try SQLiteMigrations.requireOurs(database)
    return database
  }

  /// Finishes what is under way, moves the log into the file and closes the connections.
  package func close() async throws(StoreError) {
    do { try await pool.close() } catch { throw failure(error) }
  }

  /// Reads in one transaction.
  func read<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try compatibility.require(place)
    return try await readAnySchema(body)
  }

  /// Looks whether this program may still use the store.
  /// - Throws: `StoreError.Code.newerSchema` if not; so does every other operation from then on, until this returns
  ///   again.
  func requireCompatibility(_ database: Database) throws {
    try compatibility.note(minimumReader: SQLiteMigrations.minimumReader(database), of: place)
  }

  /// Reads in one transaction that begins with `requireCompatibility`.
  func readAnySchema<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    do { return try await pool.read(body) } catch { throw failure(error) }
  }

  /// Looks at the file without a connection, by calls that may hang: then `answer` gets an error.
  func look<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value, then answer: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    pool.look(body, then: answer)
  }

  /// Writes in one transaction, which takes the write lock from the beginning.
  @discardableResult
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try compatibility.require(place)
    do {
      return try await pool.write { [file] database in
        // SQLite would write on into the file that nobody can open any more, and report success.
        try file.requirePresence()
        return try body(database)
      }
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> StoreError {
    switch error {
    case is DatabasePool.ClosedError:
      StoreError(
        code: .closed, message: "the store \(file.path) was closed; this is a bug in cordon; please report it")
    case is ConnectionGroup.NoAnswerError: .silent(file.path)
    default: StoreError(error, path: file.path)
    }
  }
}

extension SQLiteSessionStore {
  /// One read of the index by last use; without sessions, of some accounts and bans.
  package func latestUse() async throws(StoreError) -> Date? {
    try await read { database in
      try database.row(
        """
        SELECT coalesce(
          (SELECT max(last_seen) FROM sessions),
          (SELECT max(moment) FROM (
            SELECT max(latest_authorization) AS moment FROM (SELECT latest_authorization FROM accounts LIMIT 1000)
            UNION ALL SELECT max(since) FROM (SELECT since FROM bans LIMIT 1000))))
        """)?.optionalDate(0)
    }
  }

  /// Counts `store.pings` up by the connection that writes, then reads from the large tables by one that reads. Works
  /// on a store of a newer schema, so as to report that.
  package func ping() async throws(StoreError) {
    // Writing comes first: it is what makes connections that read look at the file again. On a damaged file the one
    // that writes may long go on from its own memory.
    let isThere: Bool
    do {
      isThere = try await pool.write(
        { [self] database in
          try file.requirePresence()
          try requireCompatibility(database)
          try database.run("UPDATE store SET pings = pings + 1 WHERE id = 1")
        },
        thenRead: { [self] database in
          latestLogBytes.store(file.logBytes ?? -1, ordering: .relaxed)
          return try database.row(
            """
            SELECT pings, (SELECT max(handle) FROM sessions), (SELECT max(subject) FROM accounts) FROM store
            WHERE id = 1
            """) != nil
        })
    } catch {
      throw failure(error)
    }
    guard isThere else { throw .corrupt(file.path, cause: "unreadable store") }
  }

  /// The size of the write-ahead log at the last ping, in bytes; nil before the first.
  package var logBytes: Int? {
    let bytes = latestLogBytes.load(ordering: .relaxed)
    return bytes < 0 ? nil : bytes
  }

  /// Reads whole tables, which of a large store on a slow disk takes longer than other operations may: that is `.busy`,
  /// not an outage. A count that was given up still runs, and another one must not take a second connection.
  package func counts() async throws(StoreError) -> StoreCounts {
    try compatibility.require(place)
    do {
      return try await pool.read { [self] database in
        guard !isCounting.exchange(true, ordering: .acquiringAndReleasing) else {
          throw SQLiteError(code: SQLITE_BUSY, message: "rows are still being counted")
        }
        defer { isCounting.store(false, ordering: .releasing) }
        return try Self.counts(in: database)
      }
    } catch is ConnectionGroup.NoAnswerError {
      throw failure(SQLiteError(code: SQLITE_BUSY, message: "counting the rows takes long"))
    } catch {
      throw failure(error)
    }
  }

  private static func counts(in database: Database) throws -> StoreCounts {
    let row = try database.row(
      """
      SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM sessions), (SELECT count(*) FROM refresh_tokens),
        (SELECT count(*) FROM messages), (SELECT count(*) FROM bans), (SELECT count(*) FROM group_members),
        (SELECT count(*) FROM access_requests), (SELECT count(*) FROM invitations),
        (SELECT count(*) FROM machine_tokens)
      """)
    guard let row else { throw DamagedRowError(what: "counts", isOfStore: true) }
    return StoreCounts(
      accounts: try row.count(0), sessions: try row.count(1), refreshTokens: try row.count(2),
      messages: try row.count(3), bans: try row.count(4), groupMembers: try row.count(5),
      accessRequests: try row.count(6), invitations: try row.count(7), machineTokens: try row.count(8))
  }
}
