import CPostgreSQL
import FoundationEssentials
import Sessions

/// The result of one statement: the only owner of a `PGresult`. Columns are in the binary format.
final class QueryResult {
  fileprivate let handle: OpaquePointer

  /// Takes the result over.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { pq.PQclear(handle) }

  var rows: [Row] { (0..<pq.PQntuples(handle)).map { Row(result: self, index: $0) } }

  var first: Row? { pq.PQntuples(handle) > 0 ? Row(result: self, index: 0) : nil }

  /// The number of rows that a statement inserted, changed or deleted.
  var affected: Int { pq.PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

  /// The command as the server names it when it has carried it out, as `COMMIT`.
  var command: String { pq.PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

  /// Nil where the server carried the statement out.
  var failure: DatabaseError? {
    switch pq.PQresultStatus(handle) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE: return nil
    default:
      let state = pq.PQresultErrorField(handle, Int32(UInt8(ascii: "C"))).map { String(cString: $0) }
      // The primary message alone: the detail names values of the row.
      let message = pq.PQresultErrorField(handle, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
      guard let state else { return nil }
      return .refused(state: SQLState(state), message: message ?? "no message")
    }
  }

  /// Whether a statement before it, sent together with it, failed: then it was not carried out.
  var isSkipped: Bool { pq.PQresultStatus(handle) == PGRES_PIPELINE_ABORTED }

  /// Whether every statement of the pipeline is answered.
  var isEndOfPipeline: Bool { pq.PQresultStatus(handle) == PGRES_PIPELINE_SYNC }

  /// Whether this is an answer at all; an error without a state is libpq's own, about the connection.
  var isAnswer: Bool {
    switch pq.PQresultStatus(handle) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE: true
    default: pq.PQresultErrorField(handle, Int32(UInt8(ascii: "C"))) != nil
    }
  }
}

/// One row, its columns by index. Reading a column as another type throws `DamagedRowError`; it never traps.
struct Row: StoredRow {
  fileprivate let result: QueryResult
  fileprivate let index: Int32

  func text(_ column: Int) throws -> String {
    guard let text = try optionalText(column) else { throw DamagedRowError(what: "column \(column)") }
    return text
  }

  func optionalText(_ column: Int) throws -> String? { raw(column).map { String(decoding: $0, as: UTF8.self) } }

  func bytes(_ column: Int) throws -> [UInt8] {
    guard let bytes = raw(column) else { throw DamagedRowError(what: "column \(column)") }
    return Array(bytes)
  }

  func isNull(_ column: Int) -> Bool { raw(column) == nil }

  func integer(_ column: Int) throws -> Int64 {
    guard let number = try optionalInteger(column) else { throw DamagedRowError(what: "column \(column)") }
    return number
  }

  func count(_ column: Int) throws -> Int {
    guard let count = Int(exactly: try integer(column)) else { throw DamagedRowError(what: "column \(column)") }
    return count
  }

  func optionalInteger(_ column: Int) throws -> Int64? {
    guard let bytes = raw(column) else { return nil }
    guard bytes.count == 8 else { throw DamagedRowError(what: "column \(column)") }
    return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  func date(_ column: Int) throws -> Date { Date(millisecondsSince1970: try integer(column)) }

  func optionalDate(_ column: Int) throws -> Date? {
    try optionalInteger(column).map { Date(millisecondsSince1970: $0) }
  }

  /// The bytes of a column; nil for NULL. They live as long as the result.
  private func raw(_ column: Int) -> UnsafeBufferPointer<UInt8>? {
    let column = Int32(column)
    guard pq.PQgetisnull(result.handle, index, column) == 0, let value = pq.PQgetvalue(result.handle, index, column)
    else {
      return nil
    }
    let length = Int(pq.PQgetlength(result.handle, index, column))
    return value.withMemoryRebound(to: UInt8.self, capacity: length) {
      UnsafeBufferPointer(start: $0, count: length)
    }
  }
}
