/// The transfer identifier of a user of an application that moves to another team: Apple's `transfer_sub`, requested by
/// the team that gives the application away (Apple, "Transferring your apps and users to another team").
package struct PreparedTransfer: Sendable, Hashable, Codable {
  /// `transfer_sub`: good for 60 days.
  package let subject: Subject
  /// The Team ID of the team that the application goes to.
  package let team: String

  /// Creates the identity of a user for another team.
  package init(subject: Subject, team: String) {
    self.subject = subject
    self.team = team
  }
}

/// The outcome of following a transfer identifier to a new subject (`TeamTransferStore.follow`).
package enum FollowOutcome: Sendable, Equatable {
  /// The identifier is unknown, or nothing is left to move.
  case nothing
  /// The user has an account under this previous subject: nothing was changed, and the caller moves the account.
  case account(Subject)
  /// The ban and the memberships of a user without an account are under the new subject.
  case moved
}
