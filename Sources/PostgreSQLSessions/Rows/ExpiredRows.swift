import FoundationEssentials
import Sessions

extension RemovalRule {
  /// The deletion of expired rows of a table, which returns their keys, or another column. Several gateways may remove
  /// expired rows at once: each skips rows that another has locked.
  /// - Parameters:
  ///   - table: its name in the schema.
  ///   - key: the column of the key.
  ///   - column: the column of the time by which a row expires.
  ///   - end: the latest such time of an expired row.
  ///   - result: the column to return instead of the key.
  func deletion(
    from table: SQL, by key: SQL, where column: SQL, until end: Date, returning result: SQL? = nil
  ) -> Statement {
    Statement(
      """
      DELETE FROM cordon.\(table) WHERE \(key) = ANY (ARRAY(
        SELECT \(key) FROM cordon.\(table) WHERE \(column) <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
      RETURNING \(result ?? key)
      """, [.integer(end.stored), .integer(Int64(max(limit, 1)))])
  }
}
