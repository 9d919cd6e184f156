/// Copies one store to another (`cordon store copy`). An interrupted copy is resumed; no gateway may use either
/// store meanwhile.
package enum StoreCopy {
  /// Rows in one transaction.
  static let batch = 500

  /// - Parameter report: called for each table after each batch, with the rows copied and the rows in all.
  /// - Returns: whether anything was to be done.
  /// - Throws: `StoreError.Code.conflict` if the target holds something else, or the source changed meanwhile.
  package static func run(
    from source: any StoreCopySource, to target: any StoreCopyTarget,
    report: (StoreTable, Int, Int) -> Void = { _, _, _ in }
  ) async throws(StoreError) -> Bool {
    try await source.requireKnownSchema()
    let content = try await CopiedContent.read(source)
    if try await target.beginCopy(of: content) == .finished { return false }
    try await target.adopt(source.storeKey())
    for table in StoreTable.allCases {
      let total = try await source.rowCount(of: table)
      var copied = try await target.rowCount(of: table)
      var key = try await target.lastKey(of: table)
      while true {
        let rows = try await source.rows(of: table, after: key, limit: batch)
        guard let last = rows.last else { break }
        try await target.add(rows, to: table)
        copied += rows.count
        key = Array(last.prefix(table.keyCount))
        report(table, copied, total)
      }
    }
    try await requireSameness(source, target, content)
    try await target.finishCopy()
    return true
  }

  private static func requireSameness(
    _ source: any StoreCopySource, _ target: any StoreCopyTarget, _ content: CopiedContent
  ) async throws(StoreError) {
    var isSame = try await CopiedContent.read(source) == content
    for table in StoreTable.allCases where isSame {
      isSame = try await source.rowCount(of: table) == target.rowCount(of: table)
    }
    guard isSame else {
      throw StoreError(
        code: .conflict,
        message:
          "the store changed while it was copied: stop the gateways, empty the target (DROP SCHEMA cordon CASCADE) "
          + "and copy again")
    }
  }
}
