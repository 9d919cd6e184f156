internal import Sessions

/// The request for one page of a migration.
///
/// First come accounts, and users without one whose subjects are known, in the order of their subjects. When the move
/// is completed, those whose subjects were deleted come last, in the order of their transfer identifiers: an account
/// that is deleted while the migration runs becomes one of them, and anywhere else it could be among those that were
/// passed before.
struct MigrationPageRequest: Equatable {
  var stage: Stage
  /// The last user of the page before.
  var after: Subject?
  /// The largest number of accounts; each is one call to Apple.
  var limit = 50
  /// Whether only to report the steps, without calls to Apple except for the permit.
  var isDry = false
  /// Whether it begins among the users whose subjects were deleted.
  var isAmongDeleted = false

  /// The place where it begins, as reports have it. No subject has a space.
  var place: String? { isAmongDeleted ? " " + (after?.text ?? "") : after?.text }

  /// Begins at a place of a report.
  /// - Returns: false if the text is not a place.
  mutating func begin(at place: String) -> Bool {
    isAmongDeleted = place.utf8.first == UInt8(ascii: " ")
    let text = isAmongDeleted ? String(place.dropFirst()) : place
    after = Subject(text)
    return after != nil || isAmongDeleted && text.isEmpty
  }

  enum Stage: Equatable {
    /// Before the transfer, by the sending team: requests each account's transfer identifier for a team.
    case prepare(team: String)
    /// After the transfer, by the receiving team: exchanges those identifiers, and moves the accounts.
    case complete
  }
}
