internal import FoundationEssentials
internal import Sessions

/// `GET /accounts`: the accounts that were found, or a page of a list.
package struct AccountsReport: Codable, Sendable, Equatable {
  /// Those that can be read.
  package let accounts: [AccountReport]
  /// In a list, the subject to go on after; nil at the end. A page may be empty and yet not be the last.
  package let next: String?
  /// The subjects of accounts that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?

  init(accounts: [AccountReport], next: String? = nil, damaged: [String?]? = nil) {
    self.accounts = accounts
    self.next = next
    self.damaged = damaged
  }
}

extension [DamagedRecord] {
  /// Their names, as reports list them; nil if there are none.
  var names: [String?]? { isEmpty ? nil : map(\.name) }
}

/// One Apple user, as the operator sees them. Times are RFC 3339, in UTC.
package struct AccountReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String
  /// The display name; nil if Apple sent none.
  package let name: String?
  /// The last known address; nil without one.
  package let email: String?
  /// Apple's `email_verified`; nil if it does not say.
  package let emailVerified: Bool?
  /// Whether it is an address of Apple's relay; nil if Apple does not say.
  package let isPrivateEmail: Bool?
  /// Apple's `org_id`, of a Managed Apple Account.
  package let organization: String?
  /// Whether Apple forwards mail; nil until Apple notified of it.
  package let mailForwarding: Bool?
  /// For an application that is about to go to another team: the user's transfer identifier for that team.
  package let transferSubject: String?
  /// The Team ID of that team; nil for an identifier of an identity token.
  package let transferTeam: String?
  /// The user's subject before the application came to this team.
  package let formerSubject: String?
  /// The time of the user's last sign-in.
  package let latestAuthorization: String
  /// The time of Apple's last confirmation of the account.
  package let lastVerified: String
  /// The time when Apple was last asked.
  package let lastAsked: String?
  /// The result of the last revalidation: `good`, `revoked`, `no good answer`; nil before the first.
  package let lastAnswer: String?
  /// The groups that admit the user, by configuration or at run time.
  package let groups: [String]?
  /// The ban, if one is in force.
  package let ban: BanReport?
  /// In lists, the number of sessions that have not ended.
  package let sessions: Int?
  /// In lists, the latest use or sign-in.
  package let lastSeen: String?

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case name, email
    case emailVerified = "email_verified"
    case isPrivateEmail = "is_private_email"
    case organization = "org_id"
    case mailForwarding = "mail_forwarding"
    case transferSubject = "transfer_sub"
    case transferTeam = "transfer_team"
    case formerSubject = "former_sub"
    case latestAuthorization = "latest_authorization"
    case lastVerified = "last_verified"
    case lastAsked = "last_asked"
    case lastAnswer = "last_answer"
    case groups, ban, sessions
    case lastSeen = "last_seen"
  }

  init(_ account: Account, groups: [String], at now: Date, sessions: Int? = nil, lastSeen: Date? = nil) {
    self.groups = groups
    ban = account.access.ban.flatMap { $0.isInForce(at: now) ? BanReport($0) : nil }
    self.sessions = sessions
    self.lastSeen = lastSeen?.rfc3339
    subject = account.subject.text
    name = account.name?.text
    email = account.claims.email
    emailVerified = account.claims.emailVerified
    isPrivateEmail = account.claims.isPrivateEmail
    organization = account.claims.organizationID
    mailForwarding = account.claims.mailForwarding?.isOn
    transferSubject = account.claims.preparedTransfer?.subject.text ?? account.claims.transferSubject
    transferTeam = account.claims.preparedTransfer?.team
    formerSubject = account.claims.formerSubject?.text
    latestAuthorization = account.latestAuthorization.rfc3339
    lastVerified = account.lastVerified.rfc3339
    lastAsked = account.lastAsked?.rfc3339
    lastAnswer = account.lastAnswer?.rawValue
  }
}

/// `GET /accounts/SUB/sessions`: a page of the user's sessions, newest first.
package struct SessionsReport: Codable, Sendable, Equatable {
  /// Those that can be read.
  package let sessions: [SessionReport]
  /// The `after` of the following page; nil after the last.
  package let next: String?
  /// The session IDs of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// One browser or app. Times are RFC 3339, in UTC.
package struct SessionReport: Codable, Sendable, Equatable {
  /// Its public name, by which it is ended.
  package let handle: String
  /// The client that was signed in with.
  package let clientID: String
  /// The moment of the sign-in.
  package let began: String
  /// The moment at which it ends at the latest.
  package let ends: String
  /// The last use, up to two minutes behind.
  package let lastSeen: String
  /// The user agent of the browser.
  package let userAgent: String?

  private enum CodingKeys: String, CodingKey {
    case handle
    case clientID = "client_id"
    case began, ends
    case lastSeen = "last_seen"
    case userAgent = "user_agent"
  }

  init(_ session: Session) {
    handle = session.handle.text
    clientID = session.clientID
    began = session.began.rfc3339
    ends = session.ends.rfc3339
    lastSeen = session.lastSeen.rfc3339
    userAgent = session.userAgent?.text
  }
}

/// The result of ending sessions: how many there were.
package struct EndedReport: Codable, Sendable, Equatable {
  /// The number of sessions that ended.
  package let ended: Int
}

/// `POST /accounts/SUB/disconnect`: the results for the user's tokens at Apple and for the account.
package struct DisconnectionReport: Codable, Sendable, Equatable {
  /// Whether all data of the user was deleted.
  package let forgotten: Bool
  /// Sessions that ended.
  package let ended: Int
  /// One for each of the user's tokens.
  package let revocations: [Revocation]

  /// One token.
  package struct Revocation: Codable, Sendable, Equatable {
    /// The client that the token was given to.
    package let clientID: String
    /// `revoked`, or why not: `refused`, `apple_trouble`, `not_sent`, `no_secret`, `unreadable`.
    package let outcome: String
    /// The problem and the remedy.
    package let message: String?

    private enum CodingKeys: String, CodingKey {
      case clientID = "client_id"
      case outcome, message
    }

    /// Whether the token is revoked.
    package var isRevoked: Bool { outcome == "revoked" }
  }
}

/// The answer to a refused operation.
struct RefusalReport: Codable {
  let error: String
  let message: String
}

/// The answer of `/readyz` while something keeps the gateway from being ready.
struct ReadinessReport: Decodable {
  let message: String?
}

extension Date {
  /// In UTC, to the second.
  var rfc3339: String { ISO8601Format() }
}
