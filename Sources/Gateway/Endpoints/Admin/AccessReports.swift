internal import FoundationEssentials
internal import Sessions

/// A ban in force.
package struct BanReport: Codable, Sendable, Equatable {
  /// The moment at which it ends by itself; nil: never.
  package let until: String?
  package let reason: String?
  package let since: String
  /// The operator or manager.
  package let by: String

  init(_ ban: Ban) {
    until = ban.until?.rfc3339
    reason = ban.reason
    since = ban.since.rfc3339
    by = ban.by
  }
}

/// `PUT /accounts/SUB/ban`.
package struct BannedReport: Codable, Sendable, Equatable {
  package let subject: String
  package let ban: BanReport
  /// Sessions that ended.
  package let ended: Int

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case ban, ended
  }
}

/// `DELETE /accounts/SUB/ban`.
package struct UnbannedReport: Codable, Sendable, Equatable {
  package let subject: String

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
  }
}

/// `GET /groups`.
package struct GroupsReport: Codable, Sendable, Equatable {
  package let groups: [GroupReport]
}

/// A group, as the operator sees it.
package struct GroupReport: Codable, Sendable, Equatable {
  package let name: String
  /// Whether a `[[group]]` declares it.
  package let declared: Bool
  /// The number of members by configuration.
  package let configured: Int
  /// The number of users who were added at run time.
  package let added: Int
  /// The subjects of the first hundred of them.
  package let members: [String]

  init(_ group: AccessChanges.ListedGroup) {
    name = group.name
    declared = group.isDeclared
    configured = group.configured
    added = group.added
    members = group.members.map(\.text)
  }
}

/// `PUT` and `DELETE /groups/G/members/SUB`.
package struct MemberReport: Codable, Sendable, Equatable {
  package let subject: String
  package let group: String
  /// Whether the user is a member from now on.
  package let isMember: Bool
  /// Whether that is new.
  package let isChanged: Bool

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
    case group
    case isMember = "member"
    case isChanged = "changed"
  }
}

/// `GET /requests`: open requests, oldest first.
package struct RequestsReport: Codable, Sendable, Equatable {
  package let requests: [RequestReport]
  /// The code to go on after; nil at the end.
  package let next: String?
  /// The codes of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A request for access.
package struct RequestReport: Codable, Sendable, Equatable {
  package let code: String
  package let subject: String
  package let name: String?
  package let email: String?
  package let emailVerified: Bool?
  package let isPrivateEmail: Bool?
  /// The time of the first request.
  package let asked: String

  private enum CodingKeys: String, CodingKey {
    case code
    case subject = "sub"
    case name, email
    case emailVerified = "email_verified"
    case isPrivateEmail = "is_private_email"
    case asked
  }

  init(_ request: AccessRequest, _ account: Account) {
    code = request.code.text
    subject = request.subject.text
    name = account.name?.text
    email = account.claims.email
    emailVerified = account.claims.emailVerified
    isPrivateEmail = account.claims.isPrivateEmail
    asked = request.asked.rfc3339
  }
}

/// `POST /requests/CODE/admit` and `…/reject`.
package struct DecisionReport: Codable, Sendable, Equatable {
  package let code: String
  package let subject: String
  /// The group that the user is in from now on; nil if the request was rejected.
  package let group: String?

  private enum CodingKeys: String, CodingKey {
    case code
    case subject = "sub"
    case group
  }

  init(_ request: AccessRequest, group: String?) {
    code = request.code.text
    subject = request.subject.text
    self.group = group
  }
}

/// `GET /invitations`: newest first.
package struct InvitationsReport: Codable, Sendable, Equatable {
  package let invitations: [InvitationReport]
  /// The IDs of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// An invitation.
package struct InvitationReport: Codable, Sendable, Equatable {
  package let id: String
  package let group: String
  package let uses: Int
  package let used: Int
  package let expires: String
  package let note: String?
  package let created: String
  package let by: String
  /// Whether it still admits somebody.
  package let open: Bool
  /// The link, in the answer to `POST /invitations` only.
  package let link: String?

  init(_ invitation: Invitation, at now: Date, link: String? = nil) {
    id = invitation.id
    group = invitation.group.text
    uses = invitation.uses
    used = invitation.used
    expires = invitation.expires.rfc3339
    note = invitation.note
    created = invitation.created.rfc3339
    by = invitation.by
    open = invitation.isOpen(at: now)
    self.link = link
  }
}

/// `GET /tokens`: in the order of their names.
package struct TokensReport: Codable, Sendable, Equatable {
  package let tokens: [TokenReport]
  /// The names of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A machine token.
package struct TokenReport: Codable, Sendable, Equatable {
  package let name: String
  package let group: String
  package let created: String
  /// Nil: never.
  package let expires: String?
  package let by: String
  /// Whether it is still accepted.
  package let valid: Bool
  /// The token itself, in the answer to `POST /tokens` only.
  package let token: String?

  init(_ token: MachineToken, at now: Date, text: String? = nil) {
    name = token.name.text
    group = token.group.text
    created = token.created.rfc3339
    expires = token.expires?.rfc3339
    by = token.by
    valid = token.isInForce(at: now)
    self.token = text
  }
}

/// `DELETE /invitations/ID` and `DELETE /tokens/NAME`.
package struct RevokedReport: Codable, Sendable, Equatable {
  /// The ID or the name.
  package let revoked: String
}

extension AccountReport {
  init(_ listed: AccessChanges.ListedAccount, at now: Date) {
    self.init(
      listed.summary.account, groups: listed.groups, at: now, sessions: listed.summary.sessions,
      lastSeen: listed.summary.lastSeen)
  }
}
