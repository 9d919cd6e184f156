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

extension AccountReport {
  init(_ listed: AccessChanges.ListedAccount, at now: Date) {
    self.init(
      listed.summary.account, groups: listed.groups, at: now, sessions: listed.summary.sessions,
      lastSeen: listed.summary.lastSeen)
  }
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
