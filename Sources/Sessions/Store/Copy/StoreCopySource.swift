/// A store that can be copied from.
package protocol StoreCopySource: SessionStore {
  /// Rows in the order of their keys, from after this key; from the beginning where it is empty.
  func rows(
    of table: StoreTable, after key: [StoredValue], limit: Int
  ) async throws(StoreError) -> [[StoredValue]]

  /// The number of rows of a table.
  func rowCount(of table: StoreTable) async throws(StoreError) -> Int

  /// - Throws: `StoreError.Code.newerSchema` if the store may hold data that this version does not know and cannot
  ///   copy.
  func requireKnownSchema() async throws(StoreError)
}
