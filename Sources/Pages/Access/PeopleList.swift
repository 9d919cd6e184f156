/// A person as the people page shows one.
package struct PersonEntry: Sendable, Equatable {
  /// Apple's `sub`.
  package var subject: String
  /// The name that the user submitted.
  package var name: String?
  /// The address of the account.
  package var email: String?
  /// Whether Apple has not verified the address, which may then be another person's.
  package var isEmailUnverified = false
  /// The groups, sorted.
  package var groups: [PersonGroup] = []
  /// The latest use; nil for somebody who never signed in.
  package var lastSeen: PageTime?
  /// The number of sessions.
  package var sessionCount = 0
  /// A ban that is in force.
  package var ban: PersonBan?
  /// Whether this is the manager who looks.
  package var isSelf = false
  /// Whether only the command line may change anything about this person: another manager.
  package var isProtected = false

  /// A person of whom no more than the subject is known: no sessions, groups or ban.
  package init(subject: String) { self.subject = subject }

  /// The name, or else the address, or else the subject.
  package var title: String {
    [name, email].compactMap(\.self).first { !$0.isEmpty } ?? subject
  }
}

/// A group of a person.
package struct PersonGroup: Sendable, Equatable {
  /// Its name.
  package var name: String
  /// The origin of the membership, which decides on who may end it.
  package var membership: Membership

  /// The origin of a membership.
  package enum Membership: Sendable, Equatable {
    /// The configuration, or a members file: it cannot be ended at run time.
    case configured
    /// Added at run time; managers may remove the person.
    case removable
    /// Added at run time to a group that only the command line changes.
    case protected
  }

  /// A group with the origin of the person's membership.
  package init(name: String, membership: Membership) {
    self.name = name
    self.membership = membership
  }
}

/// A ban as the people page shows it.
package struct PersonBan: Sendable, Equatable {
  /// Its end; nil if it has none.
  package var until: PageTime?
  /// The note of its author.
  package var reason: String?
  /// Whether managers may lift it.
  package var isLiftable: Bool

  /// A ban; its end and reason may be nil.
  package init(until: PageTime?, reason: String?, isLiftable: Bool = true) {
    self.until = until
    self.reason = reason
    self.isLiftable = isLiftable
  }
}

/// A session of a person.
package struct PersonSession: Sendable, Equatable {
  /// The public session ID, which cannot be used as a credential.
  package var handle: String
  /// `User-Agent` at the sign-in, as it was kept; nil if there was none. The page names the browser and the device.
  package var userAgent: String?
  /// The time of the sign-in.
  package var began: PageTime
  /// The time of the latest request, up to a few minutes behind.
  package var lastSeen: PageTime

  /// A session as the store has it.
  package init(handle: String, userAgent: String?, began: PageTime, lastSeen: PageTime) {
    self.handle = handle
    self.userAgent = userAgent
    self.began = began
    self.lastSeen = lastSeen
  }
}

/// The contents of the people page.
package struct PeopleList: Sendable, Equatable {
  /// Requests for access, oldest first.
  package var requests: [Request] = []
  /// The code that the next page of requests goes on after; nil on the last page.
  package var nextRequest: String?
  /// One page of accounts.
  package var people: [PersonEntry] = []
  /// The beginning that was searched for; empty for all.
  package var search = ""
  /// The subject that the next page begins after; nil on the last page.
  package var next: String?
  /// Whether this is not the first page.
  package var isContinued = false
  /// Invitations, newest first.
  package var invitations: [Invitation] = []
  /// The public name of the next invitation: sent twice, the form makes one.
  package var newInvitation = ""
  /// The groups that managers may add to.
  package var groups: [String] = []
  /// The result of the act before.
  package var result: PeopleResult?

  /// An empty page, without a result of an act.
  package init() {}

  /// A request for access.
  package struct Request: Sendable, Equatable {
    /// The code that the person was shown and can pass on to a manager: as in `K7QF-3MDP`.
    package var code: String
    /// The account that made the request.
    package var person: PersonEntry
    /// The time of the request.
    package var asked: PageTime

    /// A request that nobody has decided yet.
    package init(code: String, person: PersonEntry, asked: PageTime) {
      self.code = code
      self.person = person
      self.asked = asked
    }
  }

  /// An invitation.
  package struct Invitation: Sendable, Equatable {
    /// Its public name.
    package var id: String
    /// The name of the group that it admits to.
    package var group: String
    /// The number of people who have used it, at most ``uses``.
    package var used: Int
    /// The number of people who may use it.
    package var uses: Int
    /// Its end; nobody can use it from then on.
    package var expires: PageTime
    /// The note of its author; nil if there is none.
    package var note: String?
    /// Whether managers may revoke it.
    package var isRevocable: Bool

    /// An invitation, also one that is used up or expired.
    package init(
      id: String, group: String, used: Int, uses: Int, expires: PageTime, note: String?, isRevocable: Bool
    ) {
      self.id = id
      self.group = group
      self.used = used
      self.uses = uses
      self.expires = expires
      self.note = note
      self.isRevocable = isRevocable
    }
  }
}

/// The page of one person.
package struct PersonDetails: Sendable, Equatable {
  /// The account, with its groups and ban.
  package var person: PersonEntry
  /// The sessions, latest first.
  package var sessions: [PersonSession]
  /// The groups that managers may add this person to.
  package var groups: [String]
  /// The result of the act before.
  package var result: PeopleResult?

  /// - Parameter result: nil unless the page follows an act.
  package init(person: PersonEntry, sessions: [PersonSession], groups: [String], result: PeopleResult? = nil) {
    self.person = person
    self.sessions = sessions
    self.groups = groups
    self.result = result
  }
}

/// The acts of the people page: the values of the form field `act`.
package enum PeopleAct: String, Sendable, CaseIterable {
  /// Adds the user of a request for access to a group.
  case admit
  /// Deletes a request for access.
  case reject
  /// Adds a user to a group.
  case add
  /// Removes a user from a group.
  case remove
  /// Bans a user, after ``PeopleQuestion/ban``.
  case ban
  /// Lifts the ban of a user.
  case unban
  /// Creates an invitation to a group.
  case invite
  /// Revokes an invitation.
  case revoke
  /// Ends one session of a user.
  case endSession = "end-session"
  /// Ends every session of a user, after ``PeopleQuestion/endSessions``.
  case endSessions = "end-sessions"
}

/// The questions that the people page asks before an act: the values of `ask` in its address.
package enum PeopleQuestion: String, Sendable, CaseIterable {
  /// Whether to ban a user, and until when.
  case ban
  /// Whether to end every session of a user.
  case endSessions = "end-sessions"
}
