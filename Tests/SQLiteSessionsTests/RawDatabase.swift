@testable import SQLiteSessions

/// The database beside the store, as another program sees it.
enum RawDatabase {
  /// Opens a file, which it creates if there is none.
  static func open(_ path: String) throws -> Database {
    _ = try DatabaseFile.prepare(path)
    return try Database(path: path, access: .readWrite, busyTimeout: .seconds(5))
  }

  static func execute(_ sql: String, at path: String) throws { try open(path).execute(sql) }

  static func write(at path: String, _ body: (Database) throws -> Void) throws { try body(open(path)) }
}

/// Result codes as SQLite documents them (sqlite.org/rescode.html).
enum ResultCode {
  static let error: Int32 = 1
  static let abort: Int32 = 4
  static let busy: Int32 = 5
  static let readOnly: Int32 = 8
  static let ioErrorWrite: Int32 = 778
  static let full: Int32 = 13
  static let cannotOpen: Int32 = 14
  static let constraint: Int32 = 19
  static let mismatch: Int32 = 20
  static let misuse: Int32 = 21
  static let foreignKey: Int32 = 787
  static let primaryKey: Int32 = 1_555
}
