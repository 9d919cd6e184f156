import CSQLite

/// The failure of a call to SQLite.
struct SQLiteError: Error {
  /// The extended result code (sqlite.org/rescode.html).
  let code: Int32
  /// SQLite's own message. It never tells the parameters of a statement.
  let message: String
  /// The system's error (`errno`) for which a file could not be read or written; nil if there is none.
  let systemError: Int32?

  /// The kind of error, whose name the header of SQLite has.
  var primaryCode: Int32 { code & 0xFF }

  init(code: Int32, message: String, systemError: Int32? = nil) {
    self.code = code
    self.message = message
    self.systemError = systemError
  }

  /// The failure of the call that was last made on a connection.
  init(code: Int32, of connection: OpaquePointer?) {
    // SQLite notes it with errors of these kinds only; with others it is that of an earlier call.
    let isOfSystem = code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN
    let systemError = isOfSystem && connection != nil ? sqlite3_system_errno(connection) : 0
    self.init(
      code: code, message: String(cString: connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)),
      systemError: systemError == 0 ? nil : systemError)
  }
}
