import FoundationEssentials
import GRDB
package import Sessions
import Synchronization

/// Accounts and sessions in one SQLite file: the store for one machine. Several processes of that machine may share it.
///
/// WAL, so that readers and the one writer do not wait for each other. `synchronous` is FULL: every commit is on the
/// disk before it is acknowledged, so that a sign-out also survives a power cut; the commits that come often (when
/// sessions were last seen) come in batches.
///
/// An operation that has begun is always finished, whether or not its caller was cancelled meanwhile: a right to ask
/// that was claimed, or a sign-out, is never left in doubt.
package final class SQLiteSessionStore: SessionStore {
  /// The time that a write waits for one of another process, in seconds.
  static let busyTimeout = 5.0
  static let readers = 4

  let file: DatabaseFile
  private let pool: Mutex<DatabasePool?>
  private let compatibility = SchemaCompatibility(known: SQLiteMigrations.version)
  /// The state of the file just before the changes were last read; nil if that failed.
  let readState = Mutex<DatabaseFileState?>(nil)

  package var place: String { "SQLite at \(file.path)" }

  /// Opens the file, or creates it for this user alone (mode 0600), and brings it to the schema of this program.
  /// Blocks.
  ///
  /// - Parameter path: absolute; the folder must exist.
  /// - Throws: `StoreError` with the remedy if the folder is missing, the file cannot be opened or written, is damaged,
  ///   belongs to another program, or was changed by a newer version in a way that this one must not ignore.
  package convenience init(path: String) throws(StoreError) {
    try self.init(path: path, busyTimeout: Self.busyTimeout)
  }

  init(path: String, busyTimeout: Double) throws(StoreError) {
    try DatabaseFile.prepare(path)
    do {
      let pool = try DatabasePool(path: path, configuration: Self.configuration(busyTimeout))
      try SQLiteMigrations.bringUp(pool)
      try compatibility.note(minimumReader: pool.read { try SQLiteMigrations.minimumReader($0) }, of: path)
      // The pool itself sets NORMAL when it switches to WAL.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
      file = try DatabaseFile(path)
      self.pool = Mutex(pool)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  private static func configuration(_ busyTimeout: Double) -> Configuration {
    var configuration = Configuration()
    configuration.label = "cordon"
    configuration.busyMode = .timeout(busyTimeout)
    configuration.foreignKeysEnabled = true
    configuration.maximumReaderCount = readers
    configuration.prepareDatabase { try SQLiteMigrations.refuseForeign($0) }
    return configuration
  }

  /// Finishes what is under way and moves the log into the file. The connections close when the last operation is done.
  package func close() async throws(StoreError) {
    guard let last = pool.withLock({ $0.take() }) else { return }
    try await run { completion in
      last.asyncBarrierWriteWithoutTransaction { result in
        completion(Result { try result.get().execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") })
      }
    }
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
    let pool = try open()
    return try await run { completion in
      pool.asyncRead { result in completion(Result { try body(result.get()) }) }
    }
  }

  /// Writes in one transaction, which takes the write lock from the beginning.
  @discardableResult
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try compatibility.require(place)
    return try await writeAnySchema(body)
  }

  /// Writes in one transaction that begins with `requireCompatibility`.
  private func writeAnySchema<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    let pool = try open()
    return try await run { completion in
      pool.asyncWrite(body) { _, result in completion(result) }
    }
  }

  private func open() throws(StoreError) -> DatabasePool {
    guard let pool = pool.withLock({ $0 }) else {
      throw StoreError(code: .closed, message: "the store \(file.path) was closed; this is a mistake of cordon's")
    }
    return pool
  }

  private func run<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) async throws(StoreError) -> Value {
    do {
      return try await withCheckedThrowingContinuation { continuation in
        start { continuation.resume(with: $0) }
      }
    } catch {
      throw StoreError(error, path: file.path)
    }
  }
}

extension SQLiteSessionStore {
  package func ping() async throws(StoreError) {
    try file.requirePresence()
    // Writing comes first: it is what makes connections that read look at the file again.
    try await writeAnySchema { [self] database in
      try requireCompatibility(database)
      try database.run("UPDATE store SET pings = pings + 1 WHERE id = 1")
    }
    // By a connection that reads: on a damaged file the one that writes may long go on from its own memory.
    let isThere = try await read { database in
      try database.row(
        """
        SELECT pings, (SELECT max(handle) FROM sessions), (SELECT max(subject) FROM accounts) FROM store WHERE id = 1
        """) != nil
    }
    guard isThere else { throw .corrupt(file.path, cause: "unreadable store") }
  }

  package func counts() async throws(StoreError) -> StoreCounts {
    try await read { database in
      let row = try database.row(
        """
        SELECT (SELECT count(*) FROM accounts), (SELECT count(*) FROM sessions), (SELECT count(*) FROM refresh_tokens),
          (SELECT count(*) FROM messages), (SELECT count(*) FROM bans), (SELECT count(*) FROM group_members),
          (SELECT count(*) FROM access_requests), (SELECT count(*) FROM invitations),
          (SELECT count(*) FROM machine_tokens)
        """)
      guard let row else { throw DamagedRow(what: "counts") }
      return StoreCounts(
        accounts: try row.int(0), sessions: try row.int(1), refreshTokens: try row.int(2),
        messages: try row.int(3), bans: try row.int(4), groupMembers: try row.int(5), accessRequests: try row.int(6),
        invitations: try row.int(7), machineTokens: try row.int(8))
    }
  }
}
