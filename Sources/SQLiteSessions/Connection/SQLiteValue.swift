/// A value as SQLite stores it (sqlite.org/datatype3.html).
enum SQLiteValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// Text that is not UTF-8: the record is damaged, and those beside it need not be.
  case malformedText
  case bytes([UInt8])
}

/// A value that can be bound to a parameter of a statement.
protocol SQLiteBindable: Sendable {
  /// The value that is stored.
  var sqliteValue: SQLiteValue { get }
}

extension SQLiteValue: SQLiteBindable {
  var sqliteValue: SQLiteValue { self }
}

extension Int64: SQLiteBindable {
  var sqliteValue: SQLiteValue { .integer(self) }
}

extension Int: SQLiteBindable {
  var sqliteValue: SQLiteValue { .integer(Int64(self)) }
}

extension String: SQLiteBindable {
  var sqliteValue: SQLiteValue { .text(self) }
}

extension [UInt8]: SQLiteBindable {
  var sqliteValue: SQLiteValue { .bytes(self) }
}

/// The values of the parameters of a statement, in their order. Written as a list, in which nil is NULL.
struct SQLiteArguments: Sendable, ExpressibleByArrayLiteral {
  let values: [SQLiteValue]

  init(_ values: [SQLiteValue]) { self.values = values }

  init(arrayLiteral elements: (any SQLiteBindable)?...) {
    values = elements.map { $0?.sqliteValue ?? .null }
  }
}
