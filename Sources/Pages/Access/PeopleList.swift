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
  /// The secret code of its link, which the form sends: sent twice, it gets the same link. Worth nothing until then.
  package var newInvitationCode = ""
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
    /// The note of its author; nil if it has no note.
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
