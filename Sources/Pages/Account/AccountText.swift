/// The keys of the texts of the account page and of those that it leads to.
enum AccountText: Sendable, Equatable {
  case heading(application: String)
  case nameLabel
  case emailLabel
  /// In the place of a name or an address that Apple did not give.
  case notShared
  /// An address of Apple's mail relay.
  case relayNote(application: String)
  /// The same while Apple forwards no mail.
  case relayOffNote(application: String)
  case unverifiedNote
  case groupsLabel
  case ownSessionsHeading
  case thisBrowser
  case browser(_ name: String, device: String)
  case unknownBrowser
  /// A time follows.
  case beganLabel
  /// A time follows.
  case lastSeenLabel
  case endOthersButton
  case moreSessions(Int)
  case endedOne
  case endedOthers
  /// The question, the link that leads to it and the button that answers it.
  case stopQuestion(application: String)
  case stopButton(application: String)
  case stopExplanation(application: String)
  /// The same where no token of the user is stored, so that nothing can be revoked at Apple.
  case stopHereExplanation(application: String)
  case stopAdvice(application: String)
  case keepUsingButton
  case farewellTitle(application: String)
  case farewellExplanation(application: String)
  case farewellHereExplanation(application: String)
  case notRevokedTitle
  case notRevokedExplanation(application: String)
  case notRevokedAdvice(application: String)
}
