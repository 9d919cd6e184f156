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
  /// Whether the configuration makes the person a member.
  package var isConfigured: Bool
  /// Whether managers may remove the person.
  package var isRemovable: Bool

  package init(name: String, isConfigured: Bool, isRemovable: Bool) {
    self.name = name
    self.isConfigured = isConfigured
    self.isRemovable = isRemovable
  }
}

/// A ban as the people page shows it.
package struct PersonBan: Sendable, Equatable {
  /// Its end; nil if it has none.
  package var until: PageTime?
  /// The note of its author.
  package var reason: String?

  package init(until: PageTime?, reason: String?) {
    self.until = until
    self.reason = reason
  }
}

/// A session of a person.
package struct PersonSession: Sendable, Equatable {
  /// Its public name.
  package var handle: String
  /// The user agent.
  package var browser: String?
  package var began: PageTime
  package var lastSeen: PageTime

  package init(handle: String, browser: String?, began: PageTime, lastSeen: PageTime) {
    self.handle = handle
    self.browser = browser
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
  package var invitations: [Entry] = []
  /// The public name of the next invitation: sent twice, the form makes one.
  package var newInvitation = ""
  /// The groups that managers may add to.
  package var groups: [String] = []
  /// The result of the act before.
  package var result: PeopleResult?

  package init() {}

  /// A request for access.
  package struct Request: Sendable, Equatable {
    /// As in `K7QF-3MDP`.
    package var code: String
    package var person: PersonEntry
    package var asked: PageTime

    package init(code: String, person: PersonEntry, asked: PageTime) {
      self.code = code
      self.person = person
      self.asked = asked
    }
  }

  /// An invitation.
  package struct Entry: Sendable, Equatable {
    /// Its public name.
    package var id: String
    package var group: String
    /// As in `2 / 5`.
    package var used: Int
    package var uses: Int
    package var expires: PageTime
    package var note: String?
    /// Whether managers may revoke it.
    package var isRevocable: Bool

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
  package var person: PersonEntry
  /// The sessions, latest first.
  package var sessions: [PersonSession]
  /// The groups that managers may add this person to.
  package var groups: [String]
  /// The result of the act before.
  package var result: PeopleResult?

  package init(person: PersonEntry, sessions: [PersonSession], groups: [String], result: PeopleResult? = nil) {
    self.person = person
    self.sessions = sessions
    self.groups = groups
    self.result = result
  }
}

/// The acts of the people page: the values of the form field `act`.
package enum PeopleAct: String, Sendable, CaseIterable {
  case admit, reject, add, remove, ban, unban, invite, revoke
  case endSession = "end-session"
  case endSessions = "end-sessions"
}

/// The questions that the people page asks before an act: the values of `ask` in its address.
package enum PeopleQuestion: String, Sendable, CaseIterable {
  case ban
  case endSessions = "end-sessions"
}
