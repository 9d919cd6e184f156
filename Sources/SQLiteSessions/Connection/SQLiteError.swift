import CSQLite

/// The failure of a call to SQLite.
struct SQLiteError: Error {
  /// The extended result code (sqlite.org/rescode.html).
  let code: Int32
  /// SQLite's own message. It never tells the parameters of a statement.
  let message: String

  /// The kind of error, whose name the header of SQLite has.
  var primaryCode: Int32 { code & 0xFF }

  init(code: Int32, message: String) {
    self.code = code
    self.message = message
  }

  /// The failure of the call that was last made on a connection.
  init(code: Int32, of connection: OpaquePointer?) {
    self.init(
      code: code, message: String(cString: connection == nil ? sqlite3_errstr(code) : sqlite3_errmsg(connection)))
  }
}
