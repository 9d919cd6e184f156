/// A store that can be copied to.
package protocol StoreCopyTarget: SessionStore {
  /// Begins a copy, or resumes one of the same content of the same source.
  /// - Throws: `StoreError.Code.conflict` if the store holds anything else, or a gateway is using it.
  func beginCopy(of source: CopiedContent) async throws(StoreError) -> CopyProgress

  /// Replaces the store's own key by that of the source, under which bans and machine tokens are kept.
  func adopt(_ key: StoreKey) async throws(StoreError)

  /// The key of the last row that was copied; empty if there is none.
  func lastKey(of table: StoreTable) async throws(StoreError) -> [StoredValue]

  /// Adds rows. Rows that exist already are left as they are.
  func add(_ rows: [[StoredValue]], to table: StoreTable) async throws(StoreError)

  /// The number of rows of a table.
  func rowCount(of table: StoreTable) async throws(StoreError) -> Int

  /// Marks the copy as complete.
  func finishCopy() async throws(StoreError)
}

/// The progress of a copy.
package enum CopyProgress: Sendable, Equatable {
  /// The target was empty.
  case begun
  /// An interrupted copy is resumed.
  case resumed
  /// An earlier copy was complete: there is nothing to do.
  case finished
}
