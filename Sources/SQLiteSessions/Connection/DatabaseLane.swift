import Synchronization
import Threads

/// A connection with a worker of its own: SQLite blocks, which neither an event loop nor one of the few threads of
/// Swift's tasks may.
final class DatabaseLane: Sendable {
  private let worker: SerialWorker
  private let connection: Mutex<Database?>
  private let open: @Sendable () throws -> Database

  /// The time for which the thread waits for more work: several times the pause between two checks of the store, so
  /// that an idle gateway makes no threads.
  private static let lingering = Duration.seconds(20)

  /// - Parameters:
  ///   - name: the thread's, at most 15 bytes.
  ///   - connection: the open connection, if there is one already.
  ///   - open: opens the connection when it is first used.
  init(name: String, connection: sending Database? = nil, open: @escaping @Sendable () throws -> Database) {
    worker = SerialWorker(named: name, lingering: Self.lingering)
    self.connection = Mutex(connection)
    self.open = open
  }

  /// Runs work on the lane's thread. If the system has no thread left, it is done before this returns: the store must
  /// not stand still.
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
