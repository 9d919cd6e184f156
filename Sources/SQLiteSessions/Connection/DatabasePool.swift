import CSQLite
import Synchronization

/// The connections to one file: one that writes, and some that read, which are opened when they are first needed. Work
/// that has begun is always finished, whether or not its caller was cancelled meanwhile.
final class DatabasePool: Sendable {
  private let writer: DatabaseLane
  private let readers: [DatabaseLane]
  private let shared: Mutex<Shared>
  private let lockRefusals: Mutex<LockRefusals>

  private typealias Job = @Sendable (DatabaseLane) -> Void

  private struct Shared {
    var schedule: ReaderSchedule<Job>
    /// The call of `close` that waits for the readers.
    var closing: CheckedContinuation<Bool, Never>?
  }

  /// The pool is closed.
  struct ClosedError: Error {}

  /// - Parameters:
  ///   - writer: the connection that writes.
  ///   - readers: the maximum number of connections that read.
  ///   - lockTimeout: the longest time that a write waits for its turn behind one that waited in vain for the lock of
  ///     another process.
  ///   - openReader: opens a connection that reads.
  init(
    writer: sending Database, readers: Int, lockTimeout: Duration, openReader: @escaping @Sendable () throws -> Database
  ) {
    lockRefusals = Mutex(LockRefusals(lockTimeout: lockTimeout))
    self.writer = DatabaseLane(label: "cordon.store.writer", connection: writer) { throw ClosedError() }
    self.readers = (0..<readers).map { DatabaseLane(label: "cordon.store.reader.\($0)", open: openReader) }
    shared = Mutex(Shared(schedule: ReaderSchedule(readers: readers)))
  }

  deinit { closeConnections() }

  /// Reads in one transaction, of one snapshot.
  func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let job: Job = { reader in
        continuation.resume(
          with: Result { try reader.use { database in try database.transaction(.deferred) { try body(database) } } })
      }
      switch shared.withLock({ $0.schedule.place(job) }) {
      case .start(let reader): readers[reader].async { [self] in serve(job, as: reader) }
      case .queued: break
      case .refused: continuation.resume(throwing: ClosedError())
      }
    }
  }

  /// Writes in one transaction, which takes the lock to write from the beginning.
  func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
    let accepted = ContinuousClock.now
    return try await withCheckedThrowingContinuation { continuation in
      let isAccepted = shared.withLock { shared in
        guard !shared.schedule.isClosed else { return false }
        writer.async { [self] in continuation.resume(with: Result { try writeNow(body, accepted: accepted) }) }
        return true
      }
      if !isAccepted { continuation.resume(throwing: ClosedError()) }
    }
  }

  private func writeNow<Value: Sendable>(
    _ body: (Database) throws -> Value, accepted: ContinuousClock.Instant
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
    guard await finishReading() else { return }
    try await withCheckedThrowingContinuation { continuation in
      // Behind everything that was accepted before.
      writer.async { [self] in
        let result = Result { try writer.use { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") } }
        closeConnections()
        continuation.resume(with: result)
      }
    }
  }

  /// Refuses new work, and waits until the readers have nothing to do.
  /// - Returns: false if the pool was closed before.
  private func finishReading() async -> Bool {
    await withCheckedContinuation { continuation in
      let answer: Bool? = shared.withLock { shared in
        if shared.schedule.isClosed { return false }
        shared.schedule.close()
        if shared.schedule.isIdle { return true }
        shared.closing = continuation
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  /// Does one job, and then those that wait.
  private func serve(_ first: @escaping Job, as reader: Int) {
    var job: Job? = first
    while let current = job {
      current(readers[reader])
      let (next, closing) = shared.withLock { shared in
        let next = shared.schedule.next(for: reader)
        guard next == nil, shared.schedule.isClosed, shared.schedule.isIdle else {
          return (next, CheckedContinuation<Bool, Never>?.none)
        }
        return (next, shared.closing.take())
      }
      closing?.resume(returning: true)
      job = next
    }
  }

  /// Closes the writer last: closing it moves the log into the file, which a connection that only reads cannot do.
  private func closeConnections() {
    for reader in readers { reader.close() }
    writer.close()
  }
}
