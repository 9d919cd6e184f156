/// A row that this version cannot have written: it was changed by hand or is damaged.
package struct DamagedRowError: Error {
  /// The kind of record.
  package let what: String
  /// Whether the store as a whole depends on it, and not one user.
  package let isOfStore: Bool

  /// A row of this kind cannot be read.
  package init(what: String, isOfStore: Bool = false) {
    self.what = what
    self.isOfStore = isOfStore
  }
}
