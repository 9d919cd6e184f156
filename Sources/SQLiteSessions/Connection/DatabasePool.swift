import CSQLite
import Synchronization

/// The connections to one file: one that writes, and some that read, which are opened when they are first needed. Work
/// that has begun is always finished, whether or not its caller was cancelled, or was told that there is no answer,
/// meanwhile.
final class DatabasePool: Sendable {
  private let writer: DatabaseLane
  private let readers: [DatabaseLane]
  private let writing: ConnectionGroup
  private let reading: ConnectionGroup
  private let lockRefusals: Mutex<LockRefusals>

  /// The pool is closed.
  struct ClosedError: Error {}

  /// - Parameters:
  ///   - writer: the connection that writes.
  ///   - readers: the maximum number of connections that read.
  ///   - lockTimeout: the longest time that a write waits for its turn behind one that waited in vain for the lock of
  ///     another process.
  ///   - answerLimit: the longest time that an operation may take once it has begun, longer than it waits for a lock;
  ///     nil waits without end.
  ///   - openReader: opens a connection that reads.
  init(
    writer: sending Database, readers: Int, lockTimeout: Duration, answerLimit: Duration?,
    openReader: @escaping @Sendable () throws -> Database
  ) {
    lockRefusals = Mutex(LockRefusals(lockTimeout: lockTimeout))
    // An idle gateway writes every five seconds: the end of a thread, and a new one, would wake the process as often as
    // the write.
    let writer = DatabaseLane(name: "cordon-writer", lingering: .seconds(7), connection: writer) {
      throw ClosedError()
    }
    // It looks for changes every second.
    let readers = (0..<readers).map {
      DatabaseLane(name: "cordon-reader-\($0)", lingering: .seconds(20), open: openReader)
    }
    self.writer = writer
    self.readers = readers
    let timer = StallTimer()
    writing = ConnectionGroup([writer], limit: answerLimit, timer: timer)
    reading = ConnectionGroup(readers, limit: answerLimit, timer: timer)
  }

  deinit { closeConnections() }

  /// Reads in one transaction, of one snapshot.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await reading.run { [self] reader in try readNow(body, by: reader) }
  }

  /// Writes in one transaction, which takes the lock to write from the beginning.
  func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    let accepted = SuspendingClock.now
    return try await writing.run { [self] _ in try writeNow(body, accepted: accepted) }
  }

  /// Writes in one transaction, and then reads in another one, by a connection that reads. Its thread is woken by that
  /// of the writer: an idle gateway does this every five seconds.
  func write<Value: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> Void,
    thenRead reading: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let accepted = SuspendingClock.now
    return try await withCheckedThrowingContinuation { continuation in
      writing.start({ [self] _ in try writeNow(body, accepted: accepted) }) { [self] written in
        switch written {
        case .success:
          self.reading.start({ [self] reader in try readNow(reading, by: reader) }) { continuation.resume(with: $0) }
        case .failure(let error): continuation.resume(throwing: error)
        }
      }
    }
  }

  /// Looks at the file without a connection, by calls that may hang as those of connections do. Does not block.
  /// - Parameter answer: is called once with the result, on any thread.
  func look<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value, then answer: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    reading.start({ _ in body() }, answer)
  }

  private func readNow<Value: Sendable>(
    _ body: (Database) throws -> Value, by reader: DatabaseLane
  ) throws -> Value {
    // The pool is kept also after its caller was told that there is no answer: it closes its connections at its end.
    try withExtendedLifetime(self) {
      try reader.use { database in try database.transaction(.deferred) { try body(database) } }
    }
  }

  private func writeNow<Value: Sendable>(
    _ body: (Database) throws -> Value, accepted: SuspendingClock.Instant
  ) throws -> Value {
    if lockRefusals.withLock({ $0.refuses(accepted: accepted, at: .now) }) {
      throw SQLiteError(code: SQLITE_BUSY, message: "database is locked")
    }
    let result = Result {
      try writer.use { database in try database.transaction(.immediate) { try body(database) } }
    }
    var wasLocked = false
    if case .failure(let error as SQLiteError) = result { wasLocked = error.primaryCode == SQLITE_BUSY }
    lockRefusals.withLock { $0.note(wasLocked: wasLocked, at: .now) }
    return try result.get()
  }

  /// Finishes what is under way, moves the log into the file, and closes the connections.
  func close() async throws {
    guard reading.close() else { return }
    writing.close()
    await reading.waitUntilIdle()
    await writing.waitUntilIdle()
    try await withCheckedThrowingContinuation { continuation in
      writer.perform { [self] in
        let result = Result { try writer.use { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") } }
        closeConnections()
        continuation.resume(with: result)
      }
    }
  }

  /// Closes the writer last: closing it moves the log into the file, which a connection that only reads cannot do.
  private func closeConnections() {
    for reader in readers { reader.close() }
    writer.close()
  }
}
