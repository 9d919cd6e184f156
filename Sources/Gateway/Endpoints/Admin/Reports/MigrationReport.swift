internal import Sessions

/// `POST /accounts/migrate`: the results for a page of accounts.
package struct MigrationReport: Codable, Sendable, Equatable {
  /// In the order of the subjects.
  package let results: [Result]
  /// The place to go on from; nil after the last page.
  package let next: String?
  /// The reason that it stopped early; nil if it did not. Results before it are final.
  package let stopped: String?
  /// The number of bans that cannot follow their users, because their accounts were deleted before; on the last page of
  /// a preparation.
  package let unpreparedBans: Int?

  private enum CodingKeys: String, CodingKey {
    case results, next, stopped
    case unpreparedBans = "unprepared_bans"
  }

  init(results: [Result], next: String? = nil, stopped: String? = nil, unpreparedBans: Int? = nil) {
    self.results = results
    self.next = next
    self.stopped = stopped
    self.unpreparedBans = unpreparedBans
  }

  /// The outcome for one user.
  package struct Result: Codable, Sendable, Equatable {
    /// The present subject of the user; of one whose account was deleted after the preparation, the transfer
    /// identifier.
    package let subject: String
    /// Whether the user was prepared or migrated, or why not.
    package let outcome: Outcome
    /// The new subject of the user.
    package let newSubject: String?
    /// The problem and the remedy.
    package let message: String?

    private enum CodingKeys: String, CodingKey {
      case subject = "sub"
      case outcome
      case newSubject = "new_sub"
      case message
    }

    init(_ subject: Subject, _ outcome: Outcome, new: Subject? = nil, message: String? = nil) {
      self.subject = subject.text
      self.outcome = outcome
      newSubject = new?.text
      self.message = message
    }
  }

  /// The outcome of the preparation or the migration of a user. The raw values are part of the report. A newer gateway
  /// may have others.
  package struct Outcome: RawRepresentable, Codable, Hashable, Sendable {
    /// The name in the report.
    package let rawValue: String

    /// An outcome by its name in a report.
    package init(rawValue: String) { self.rawValue = rawValue }

    /// By this run.
    package static let done = Outcome(rawValue: "done")
    /// By an earlier run.
    package static let doneBefore = Outcome(rawValue: "done_before")
    /// In a dry run.
    package static let wouldBeDone = Outcome(rawValue: "would_be_done")
    /// Not prepared before the transfer, and not migrated.
    package static let notPrepared = Outcome(rawValue: "not_prepared")
    /// Prepared for a team that is not that of the configuration.
    package static let otherTeam = Outcome(rawValue: "other_team")
    /// By Apple.
    package static let refused = Outcome(rawValue: "refused")
    /// Refused by Apple, and without an account.
    package static let unknownToApple = Outcome(rawValue: "unknown_to_apple")
    /// Because of the store, the account or its tokens, not of Apple.
    package static let failed = Outcome(rawValue: "failed")
    /// Deleted while the migration ran.
    package static let gone = Outcome(rawValue: "gone")

    /// Whether nothing is left to do for the user; nil for an outcome of a newer gateway.
    package var isFinal: Bool? {
      switch self {
      case .done, .doneBefore, .wouldBeDone, .unknownToApple, .gone: true
      case .notPrepared, .otherTeam, .refused, .failed: false
      default: nil
      }
    }
  }
}
