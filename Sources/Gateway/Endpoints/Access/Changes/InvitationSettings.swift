/// The settings of an invitation that is to be made.
struct InvitationSettings: Equatable {
  var group: String
  /// The number of users whom it admits, ``mostUses`` at most.
  var uses = 1
  /// As the operator wrote it, see ``AccessTimes``.
  var expires = "7d"
  var note: String?

  /// The largest number of users that an invitation can admit.
  static let mostUses = 10_000
}
