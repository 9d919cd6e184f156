import FoundationEssentials
import Sessions

/// One row, columns by their place. A value that is not of the type asked for is a `DamagedRowError`, never a trap.
struct SQLiteRow: StoredRow, Sendable {
  let values: [SQLiteValue]

  init(_ values: [SQLiteValue]) { self.values = values }

  func text(_ column: Int) throws -> String {
    guard case .text(let text) = try value(column) else { throw damaged(column) }
    return text
  }

  func count(_ column: Int) throws -> Int {
    guard let count = Int(exactly: try integer(column)) else { throw damaged(column) }
    return count
  }

  func integer(_ column: Int) throws -> Int64 {
    guard case .integer(let number) = try value(column) else { throw damaged(column) }
    return number
  }

  func bytes(_ column: Int) throws -> [UInt8] {
    guard case .bytes(let bytes) = try value(column) else { throw damaged(column) }
    return bytes
  }

  func date(_ column: Int) throws -> Date { Date(millisecondsSince1970: try integer(column)) }

  func optionalText(_ column: Int) throws -> String? { try isNull(column) ? nil : text(column) }

  func optionalDate(_ column: Int) throws -> Date? { try isNull(column) ? nil : date(column) }

  func isNull(_ column: Int) throws -> Bool { try value(column) == .null }

  private func value(_ column: Int) throws -> SQLiteValue {
    guard values.indices.contains(column) else { throw damaged(column) }
    return values[column]
  }

  private func damaged(_ column: Int) -> DamagedRowError { DamagedRowError(what: "column \(column)") }
}
