import CSQLite
import Sessions

/// A compiled statement: the one owner of an `sqlite3_stmt`. Its connection must outlive it.
final class PreparedStatement {
  private let handle: OpaquePointer
  private let connection: OpaquePointer

  /// Compiles one statement, to be used often.
  init(_ sql: String, on connection: OpaquePointer) throws {
    let compiled = try sql.withCString { text in
      let (compiled, rest) = try Self.compile(text, on: connection, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
      guard String(cString: rest).utf8.allSatisfy({ Self.separators.contains($0) }) else {
        sqlite3_finalize(compiled)
        throw SQLiteError(code: SQLITE_MISUSE, message: "more than one statement")
      }
      return compiled
    }
    guard let compiled else { throw SQLiteError(code: SQLITE_MISUSE, message: "no statement") }
    handle = compiled
    self.connection = connection
  }

  private init(handle: OpaquePointer, connection: OpaquePointer) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Carries out the statements of a script, one after the other, and drops their rows.
  static func execute(_ script: String, on connection: OpaquePointer) throws {
    try script.withCString { text in
      var rest = text
      while rest.pointee != 0 {
        let (compiled, next) = try compile(rest, on: connection, flags: 0)
        rest = next
        // Only white space or a comment.
        guard let compiled else { continue }
        let statement = PreparedStatement(handle: compiled, connection: connection)
        while try statement.step() {}
      }
    }
  }

  /// Compiles the first statement of a text.
  /// - Returns: the statement, nil if there is none, and the rest of the text.
  private static func compile(
    _ text: UnsafePointer<CChar>, on connection: OpaquePointer, flags: UInt32
  ) throws(SQLiteError) -> (compiled: OpaquePointer?, rest: UnsafePointer<CChar>) {
    var compiled: OpaquePointer?
    var rest: UnsafePointer<CChar>?
    let code = sqlite3_prepare_v3(connection, text, -1, flags, &compiled, &rest)
    guard code == SQLITE_OK, let rest else { throw SQLiteError(code: code, of: connection) }
    return (compiled, rest)
  }

  /// The bytes that may follow a statement: white space and semicolons.
  private static let separators = Set(" \t\r\n;".utf8)
}

extension PreparedStatement {
  /// Binds a value to each parameter.
  func bind(_ arguments: SQLiteArguments) throws(SQLiteError) {
    guard arguments.values.count == Int(sqlite3_bind_parameter_count(handle)) else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "wrong number of parameters")
    }
    var index: Int32 = 0
    for value in arguments.values {
      index += 1
      let code = bind(value, at: index)
      guard code == SQLITE_OK else { throw SQLiteError(code: code, of: connection) }
    }
  }

  private func bind(_ value: SQLiteValue, at index: Int32) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let number): return sqlite3_bind_int64(handle, index, number)
    case .real(let number): return sqlite3_bind_double(handle, index, number)
    case .text(var text):
      return text.withUTF8 { cordon_sqlite3_bind_text(handle, index, $0.baseAddress, $0.count) }
    case .malformedText: return SQLITE_MISMATCH
    case .bytes(let bytes):
      return bytes.withUnsafeBytes { cordon_sqlite3_bind_blob(handle, index, $0.baseAddress, $0.count) }
    }
  }

  /// Advances to the next row.
  /// - Returns: false after the last row.
  func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteError(code: code, of: connection)
    }
  }

  /// Makes it ready for the next use and forgets the values of its parameters.
  func reset() {
    // Returns the error of the last step, which was thrown there.
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// A copy of the current row.
  func row() throws -> SQLiteRow {
    SQLiteRow(try (0..<sqlite3_column_count(handle)).map { try value(at: $0) })
  }

  private func value(at column: Int32) throws -> SQLiteValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
    case SQLITE_TEXT:
      guard let text = sqlite3_column_text(handle, column) else {
        throw SQLiteError(code: SQLITE_NOMEM, of: connection)
      }
      // The length is that of the encoding asked for last.
      let count = Int(sqlite3_column_bytes(handle, column))
      guard let valid = String(validating: UnsafeBufferPointer(start: text, count: count), as: UTF8.self) else {
        return .malformedText
      }
      return .text(valid)
    default:
      // NULL where there are no bytes.
      guard let bytes = sqlite3_column_blob(handle, column) else { return .bytes([]) }
      return .bytes([UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))))
    }
  }
}
