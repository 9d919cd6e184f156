import Synchronization

/// Whether this version of cordon may use a store: decided by the store's `minimum_reader`, the oldest schema version
/// that every user of the store must know. It is in the table `store`, in every schema version.
///
/// A migration that only adds leaves `minimum_reader` alone, so an older gateway goes on with a newer schema. A
/// migration that an older gateway must not ignore (because it restricts access) raises it to its own version: running
/// gateways that do not know that version stop within two seconds, and none starts.
package final class SchemaCompatibility: Sendable {
  /// The schema version that this program knows.
  package let known: Int64
  private let minimumReader = Atomic<Int64>(0)

  /// - Parameter known: the schema version that this program knows.
  package init(known: Int) { self.known = Int64(known) }

  /// Records the `minimum_reader` that the store has now.
  /// - Throws: `StoreError.Code.newerSchema` if this program is too old for the store.
  package func note(minimumReader: Int64, of place: String) throws(StoreError) {
    self.minimumReader.store(minimumReader, ordering: .relaxed)
    try require(place)
  }

  /// - Throws: `StoreError.Code.newerSchema` if this program was too old for the store when it last looked.
  @inline(__always)
  package func require(_ place: @autoclosure () -> String) throws(StoreError) {
    let minimumReader = minimumReader.load(ordering: .relaxed)
    guard minimumReader > known else { return }
    throw StoreError(
      code: .newerSchema,
      message:
        "the store (\(place())) was changed by a newer version of cordon, which this one must not ignore (it wants "
        + "schema version \(minimumReader), this one knows \(known)); run the newer version, or restore the backup "
        + "from before the update")
  }
}
