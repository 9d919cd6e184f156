internal import AppleIdentity
internal import Sessions

/// An operation of the admin API on accounts, sessions or the configuration; those on access are ``AccessOperation``.
enum AdminOperation: Equatable {
  case findSubject(Subject)
  case findEmail(String)
  case sessions(of: Subject, after: SessionPlace, limit: Int)
  case endSession(PublicSessionID)
  case endSessions(of: Subject)
  /// Revokes the tokens at Apple and deletes the user; with `evenUnrevoked` even if Apple did not revoke them.
  case disconnect(Subject, evenUnrevoked: Bool)
  /// Migrates a page of accounts to the subjects of another team.
  case migrate(MigrationPageRequest)
  /// Reads the configuration again.
  case reload

  /// The name in the audit.
  var name: String {
    switch self {
    case .findSubject, .findEmail: "find_account"
    case .sessions: "list_sessions"
    case .endSession: "end_session"
    case .endSessions: "end_sessions"
    case .disconnect: "disconnect"
    case .migrate: "migrate"
    case .reload: "reload"
    }
  }

  /// The user that it concerns, if any.
  var subject: Subject? {
    switch self {
    case .findSubject(let subject), .sessions(of: let subject, after: _, limit: _), .endSessions(of: let subject),
      .disconnect(let subject, _):
      subject
    case .findEmail, .endSession, .migrate, .reload: nil
    }
  }

  /// The session that it concerns, if any.
  var session: PublicSessionID? { if case .endSession(let handle) = self { handle } else { nil } }
}
