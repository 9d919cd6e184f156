internal import FoundationEssentials
internal import Sessions

/// A ban in force. Times are RFC 3339, in UTC, as in all reports.
package struct BanReport: Codable, Sendable, Equatable {
  /// The moment at which it ends by itself; nil: never.
  package let until: String?
  /// The note that was given when it was made; nil without one.
  package let reason: String?
  /// The moment at which it was made.
  package let since: String
  /// The operator or manager.
  package let by: String

  init(_ ban: Ban) {
    until = ban.until?.rfc3339
    reason = ban.reason
    since = ban.since.rfc3339
    by = ban.by.text
  }
}

/// `PUT /accounts/SUB/ban`.
package struct BannedReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String
  /// The ban that is in force now.
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
  /// Apple's `sub`.
  package let subject: String

  private enum CodingKeys: String, CodingKey {
    case subject = "sub"
  }
}

/// `GET /groups`.
package struct GroupsReport: Codable, Sendable, Equatable {
  /// In the order of their names.
  package let groups: [GroupReport]
}

/// A group, as the operator sees it.
package struct GroupReport: Codable, Sendable, Equatable {
  /// The name of the group.
  package let name: String
  /// Whether a `[[group]]` declares it.
  package let declared: Bool
  /// The number of members by configuration.
  package let configured: Int
  /// The number of users who were added at run time.
  package let added: Int
  /// The subjects of the first hundred of them.
  package let members: [String]
  /// Whether a deny list names it, so that leaving it gives access; earlier versions do not say.
  package let denies: Bool?

  /// - Parameter denyGroups: the groups of all deny lists.
  init(_ group: AccessChanges.ListedGroup, denyGroups: Set<GroupName>) {
    denies = denyGroups.contains { $0.text.utf8.elementsEqual(group.name.utf8) }
    name = group.name
    declared = group.isDeclared
    configured = group.configured
    added = group.added
    members = group.members.map(\.text)
  }
}

/// `PUT` and `DELETE /groups/G/members/SUB`.
package struct MemberReport: Codable, Sendable, Equatable {
  /// Apple's `sub`.
  package let subject: String
  /// The name of the group.
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
  /// A page of them.
  package let requests: [RequestReport]
  /// The code to go on after; nil at the end.
  package let next: String?
  /// The codes of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A request for access.
package struct RequestReport: Codable, Sendable, Equatable {
  /// The code that the user reads out, as in `K7QF-3MDP`.
  package let code: String
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
  /// The code of the request.
  package let code: String
  /// Apple's `sub` of the user who asked.
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
  /// All of them, also those that admit nobody any longer.
  package let invitations: [InvitationReport]
  /// The IDs of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// An invitation.
package struct InvitationReport: Codable, Sendable, Equatable {
  /// Its public name, by which it is revoked.
  package let id: String
  /// The group that it admits to.
  package let group: String
  /// The number of users that it can admit.
  package let uses: Int
  /// The number of users that it has admitted.
  package let used: Int
  /// The moment at which it ends by itself.
  package let expires: String
  /// The note that was given when it was made; nil without one.
  package let note: String?
  /// The moment at which it was made.
  package let created: String
  /// The operator or manager.
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
  /// All of them, also expired ones.
  package let tokens: [TokenReport]
  /// The names of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A machine token.
package struct TokenReport: Codable, Sendable, Equatable {
  /// Its name, by which it is revoked.
  package let name: String
  /// The one group that it is in.
  package let group: String
  /// The moment at which it was made.
  package let created: String
  /// The moment at which it ends by itself; nil: never.
  package let expires: String?
  /// The operator.
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
