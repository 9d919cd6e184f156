import Synchronization
import Threads

/// A connection with a worker of its own: SQLite blocks, which neither an event loop nor one of the few threads of
/// Swift's tasks may.
final class DatabaseLane: Sendable {
  private let worker: SerialWorker
  private let connection: Mutex<Database?>
  private let open: @Sendable () throws -> Database

  /// - Parameters:
  ///   - name: the thread's, at most 15 bytes.
  ///   - lingering: the time for which the thread waits for more work before it ends.
  ///   - connection: the open connection, if there is one already.
  ///   - open: opens the connection when it is first used.
  init(
    name: String, lingering: Duration, connection: sending Database? = nil,
    open: @escaping @Sendable () throws -> Database
  ) {
    worker = SerialWorker(named: name, lingering: lingering)
    self.connection = Mutex(connection)
    self.open = open
  }

  /// Runs work on the lane's thread.
  /// - Throws: `ThreadError` if the system has no thread left; then `work` is not done.
  func add(_ work: @escaping @Sendable () -> Void) throws(ThreadError) { try worker.add(work) }

  /// Runs work on the lane's thread. If the system has no thread left, it is done before this returns.
  func perform(_ work: @escaping @Sendable () -> Void) { worker.perform(work) }

  /// Calls `body` with the connection, which is opened if necessary. Blocks: to be called by work of the lane.
  func use<Value: Sendable>(_ body: (Database) throws -> Value) throws -> Value {
    try connection.withLock { connection in
      if let connection { return try body(connection) }
      let opened = try open()
      connection = opened
      return try body(opened)
    }
  }

  /// Closes the connection, which must not be in use.
  func close() { connection.withLock { $0 = nil } }
}
