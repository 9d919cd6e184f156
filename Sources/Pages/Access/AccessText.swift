/// The texts of asking for access, of invitations and of the people page.
enum AccessText: Sendable, Equatable {
  case askExplanation(application: String)
  case askButton
  case askedTitle
  case codeLabel
  case tellCode(application: String)

  case invitationTitle(application: String)
  case invitationExplanation(application: String)
  case invitationSignIn
  case joinButton
  case joinedTitle(application: String)
  case joinedExplanation
  case memberExplanation
  case hasAccessExplanation

  case peopleTitle
  case requestsHeading
  case noRequests
  case accountsHeading
  case nobodyFound
  case invitationsHeading
  case noInvitations
  case groupsHeading
  case sessionsHeading
  case noSessions
  case newInvitationHeading
  case name
  case email
  case identifier
  case code
  case asked
  case group
  case groups
  case lastSeen
  case sessions
  case browser
  case began
  case uses
  case validUntil
  case note
  case actions
  case searchLabel
  case searchButton
  case showAll
  case more
  case firstPage
  case back
  case admitButton
  case rejectButton
  case detailsButton
  case addButton
  case removeButton
  case endButton
  case endAllButton
  case banButton
  case unbanButton
  case createButton
  case revokeButton
  case cancelButton
  case you
  case configured
  case protected
  case banned
  case bannedUntil(time: String)
  case bannedReason(reason: String)
  case reasonLabel
  case untilLabel
  case untilHint
  case usesLabel
  case daysLabel
  case noteLabel
  case banQuestion(name: String)
  case banExplanation
  case endAllQuestion(name: String)
  case endAllExplanation
  case linkTitle
  case linkExplanation
  case done(PeopleResult)
}

/// The result of an act on the people page, as the page says it afterwards. The raw value is in the address.
package enum PeopleResult: String, Sendable, CaseIterable {
  /// The act was done, and the page confirms it in a sentence of its own.
  case admitted, rejected, added, removed, ended, banned, unbanned, revoked
  /// It was done already, or does not exist.
  case unchanged
  /// A member by configuration cannot be removed.
  case configured
  /// A field of the form is not valid.
  case invalid
  /// The configuration has no such group.
  case unknownGroup
  /// No more invitations may be open.
  case tooManyInvitations

  /// Whether something was changed.
  var isDone: Bool {
    switch self {
    case .unchanged, .configured, .invalid, .unknownGroup, .tooManyInvitations: false
    default: true
    }
  }
}
