import Dispatch
import Synchronization

/// A connection with a queue of its own: SQLite blocks, which neither an event loop nor one of the few threads of
/// Swift's tasks may.
final class DatabaseLane: Sendable {
  private let queue: DispatchQueue
  private let connection: Mutex<Database?>
  private let open: @Sendable () throws -> Database

  /// - Parameters:
  ///   - connection: the open connection, if there is one already.
  ///   - open: opens the connection when it is first used.
  init(label: String, connection: sending Database? = nil, open: @escaping @Sendable () throws -> Database) {
    queue = DispatchQueue(label: label)
    self.connection = Mutex(connection)
    self.open = open
  }

  /// Runs work on the queue.
  func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

  /// Calls `body` with the connection, which is opened if necessary. Blocks: to be called on the queue.
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
