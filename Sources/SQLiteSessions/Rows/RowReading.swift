import FoundationEssentials
import GRDB
import Sessions

/// Columns by their place, without traps: GRDB's own subscripts end the process where a value is not of the type asked
/// for.
extension Row {
  func text(_ index: Int) throws -> String { try value(index) }
  func int(_ index: Int) throws -> Int { try value(index) }
  func int64(_ index: Int) throws -> Int64 { try value(index) }
  func optionalText(_ index: Int) throws -> String? { try optional(index) }
  func date(_ index: Int) throws -> Date { Date(millisecondsSince1970: try value(index)) }
  func optionalDate(_ index: Int) throws -> Date? {
    try (optional(index) as Int64?).map { Date(millisecondsSince1970: $0) }
  }

  func bytes(_ index: Int) throws -> [UInt8] {
    let data: Data = try value(index)
    return Array(data)
  }

  func isNull(_ index: Int) -> Bool {
    let stored: DatabaseValue = self[index]
    return stored.isNull
  }

  private func value<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value {
    let stored: DatabaseValue = self[index]
    guard let value = Value.fromDatabaseValue(stored) else { throw DamagedRow(what: "column \(index)") }
    return value
  }

  private func optional<Value: DatabaseValueConvertible>(_ index: Int) throws -> Value? {
    isNull(index) ? nil : try value(index)
  }
}

/// Statements, compiled once for each connection.
extension Database {
  func row(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: sql), arguments: arguments)
  }

  func rows(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
    try Row.fetchAll(cachedStatement(sql: sql), arguments: arguments)
  }

  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ arguments: StatementArguments = []) throws -> Int {
    try cachedStatement(sql: sql).execute(arguments: arguments)
    return changesCount
  }
}

extension [UInt8] {
  var stored: Data { Data(self) }
}
