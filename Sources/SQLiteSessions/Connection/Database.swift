import CSQLite
import Sessions

/// An open connection to a database file: the one owner of an `sqlite3`. It blocks, and one thread at a time may use
/// it.
final class Database {
  /// The permission of a connection on the file.
  enum Access {
    case readWrite
    case readOnly
  }

  private let handle: OpaquePointer
  /// Compiled statements by their text.
  private var statements: [String: PreparedStatement] = [:]
  /// Whether the body of a transaction is running.
  private var isInBody = false

  /// Configures the library, once. Its refusal costs memory, nothing else.
  private static let configured: Void = { _ = cordon_sqlite3_allocate_pages_one_by_one() }()

  /// Opens a file that exists, and enforces foreign keys.
  /// - Parameter busyTimeout: the time that a statement waits for a lock that another connection holds.
  init(path: String, access: Access, busyTimeout: Duration) throws {
    let mode =
      switch access {
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    Self.configured
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let opened else {
      // Also a connection that failed to open has a message, and is to be closed.
      let error = SQLiteError(code: code, of: opened)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(handle, Int32(clamping: busyTimeout.milliseconds))
    let configured = cordon_sqlite3_refuse_double_quoted_strings(handle)
    guard configured == SQLITE_OK else { throw SQLiteError(code: configured, of: handle) }
    try execute("PRAGMA foreign_keys = ON")
  }

  deinit {
    // A connection stays open as long as it has statements.
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Carries out a statement and returns its first row.
  func row(_ sql: String, _ arguments: SQLiteArguments = []) throws -> SQLiteRow? {
    // To the end: what a statement changes is only complete then.
    try rows(sql, arguments).first
  }

  /// Carries out a statement and returns its rows.
  func rows(_ sql: String, _ arguments: SQLiteArguments = []) throws -> [SQLiteRow] {
    var rows: [SQLiteRow] = []
    try perform(sql, arguments) { rows.append(try $0.row()) }
    return rows
  }

  /// Carries out a statement.
  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ arguments: SQLiteArguments = []) throws -> Int {
    try perform(sql, arguments) { _ in }
    return Int(sqlite3_changes(handle))
  }

  /// Carries out any number of statements without parameters, which are not kept compiled.
  func execute(_ script: String) throws {
    try requireTransaction()
    try PreparedStatement.execute(script, on: handle)
  }

  private func perform(
    _ sql: String, _ arguments: SQLiteArguments, onRow: (PreparedStatement) throws -> Void
  ) throws {
    try requireTransaction()
    let statement = try statement(sql)
    defer { statement.reset() }
    try statement.bind(arguments)
    while try statement.step() { try onRow(statement) }
  }

  private func statement(_ sql: String) throws -> PreparedStatement {
    if let known = statements[sql] { return known }
    let statement = try PreparedStatement(sql, on: handle)
    statements[sql] = statement
    return statement
  }
}

extension Database {
  /// The lock with which a transaction begins.
  enum TransactionKind {
    /// None: the first statement that reads takes a snapshot.
    case deferred
    /// The lock to write, for which it waits.
    case immediate
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Carries out `body` in one transaction, which is rolled back if `body` throws or the commit fails.
  @discardableResult
  func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
    // The rollback of an earlier one failed.
    if isInTransaction { try run("ROLLBACK") }
    switch kind {
    case .deferred: try run("BEGIN DEFERRED")
    case .immediate: try run("BEGIN IMMEDIATE")
    }
    isInBody = true
    do {
      let value = try body()
      try requireTransaction()
      isInBody = false
      try run("COMMIT")
      return value
    } catch {
      isInBody = false
      // The caller gets the first error. If the rollback fails, the next transaction repeats it.
      if isInTransaction { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Throws if SQLite has rolled the transaction back, as it may after an error: each further statement would be a
  /// transaction of its own.
  private func requireTransaction() throws {
    guard !isInBody || isInTransaction else {
      throw SQLiteError(code: SQLITE_ABORT, message: "the transaction was rolled back")
    }
  }
}
