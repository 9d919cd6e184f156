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
