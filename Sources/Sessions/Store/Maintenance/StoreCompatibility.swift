import Synchronization

/// Whether this program may use a store: decided by what the store says of itself in its table `store`, and looked at
/// again every second or two.
///
/// A migration that only adds leaves `minimum_reader`, the oldest schema version that every user of the store must
/// know, alone, so an older gateway goes on with a newer schema. A migration that an older gateway must not ignore
/// (because it restricts access) raises it to its own version: running gateways that do not know that version stop
/// within two seconds, and none starts.
///
/// A copy of another store that was begun and not finished lacks bans, for instance: nobody may use it either.
package final class StoreCompatibility: Sendable {
  /// The schema version that this program knows.
  package let known: Int64
  private let admitsUnfinishedCopies: Bool
  private let minimumReader = Atomic<Int64>(0)
  private let isUnfinishedCopy = Atomic(false)

  /// - Parameters:
  ///   - known: the schema version that this program knows.
  ///   - admitsUnfinishedCopies: whether this program is the one that copies.
  package init(known: Int, admitsUnfinishedCopies: Bool = false) {
    self.known = Int64(known)
    self.admitsUnfinishedCopies = admitsUnfinishedCopies
  }

  /// Records what the store says now.
  /// - Throws: as `require`.
  package func note(
    minimumReader: Int64, isUnfinishedCopy: Bool = false, of place: String
  ) throws(StoreError) {
    self.minimumReader.store(minimumReader, ordering: .relaxed)
    self.isUnfinishedCopy.store(isUnfinishedCopy && !admitsUnfinishedCopies, ordering: .relaxed)
    try require(place)
  }

  /// - Throws: `StoreError.Code.newerSchema` if this program was too old for the store when it last looked,
  ///   `unfinishedCopy` if the store was one then.
  @inline(__always)
  package func require(_ place: @autoclosure () -> String) throws(StoreError) {
    let minimumReader = minimumReader.load(ordering: .relaxed)
    guard minimumReader <= known else {
      throw StoreError(
        code: .newerSchema,
        message:
          "the store (\(place())) was changed by a newer version of cordon, which this one must not ignore (it wants "
          + "schema version \(minimumReader), this one knows \(known)); run the newer version, or restore the backup "
          + "from before the update")
    }
    guard isUnfinishedCopy.load(ordering: .relaxed) else { return }
    throw StoreError(
      code: .unfinishedCopy,
      message:
        "the store (\(place())) is a copy that is not complete, so that bans or sessions may be missing; run cordon "
        + "store copy again, or empty it (DROP SCHEMA cordon CASCADE)")
  }
}
