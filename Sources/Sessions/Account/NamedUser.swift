/// A user without an account who is named by a ban or by a membership of a group.
package struct NamedUser: Sendable, Equatable {
  /// The user; of one whose subject was deleted, the transfer identifier in its place.
  package let subject: Subject
  /// The transfer identifier that was stored last; nil if none is stored.
  package let prepared: PreparedTransfer?
  /// Whether the subject was deleted with the account. Then there is a ban under its hash.
  package let isDeleted: Bool

  /// A user as a store lists it.
  package init(subject: Subject, prepared: PreparedTransfer?, isDeleted: Bool = false) {
    self.subject = subject
    self.prepared = prepared
    self.isDeleted = isDeleted
  }
}
