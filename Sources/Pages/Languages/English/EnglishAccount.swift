extension EnglishTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Your account at \(application)"
    case .nameLabel: "Name"
    case .emailLabel: "E-mail address"
    case .notShared: "Not shared"
    case .relayNote(let application):
      "Apple made this address for you. It forwards mail to you and hides your own address from \(application)."
    case .relayOffNote(let application):
      "Apple made this address for you. It hides your own address from \(application), but at present forwards no mail "
        + "to you. You can turn forwarding on in your Apple Account’s settings."
    case .unverifiedNote: "Apple has not verified this address."
    case .groupsLabel: "Groups"
    case .ownSessionsHeading: "Where you are signed in"
    case .thisBrowser: "This browser"
    case .browser(let name, let device): "\(name) on \(device)"
    case .unknownBrowser: "Unknown browser"
    case .beganLabel: "Signed in:"
    case .lastSeenLabel: "Last used:"
    case .endOthersButton: "Sign out everywhere else"
    case .moreSessions(let count): "More sessions that are not listed here: \(count)"
    case .endedOne: "That browser is now signed out."
    case .endedOthers: "You are now signed out everywhere else."
    case .stopQuestion(let application): "Stop using \(application)?"
    case .stopButton(let application): "Stop using \(application)"
    case .stopExplanation(let application):
      "This ends the connection between \(application) and your Apple Account. Your name, your e-mail address and your "
        + "sessions are deleted here, and you are signed out everywhere."
    case .stopHereExplanation(let application):
      "Your name, your e-mail address and your sessions are deleted here, and you are signed out everywhere. Apple "
        + "keeps the connection between \(application) and your Apple Account until you remove it in your Apple "
        + "Account’s settings."
    case .stopAdvice(let application):
      "What you have saved in \(application) itself is not deleted. Ask its operator about that."
    case .keepUsingButton: "Cancel"
    case .farewellTitle(let application): "You have stopped using \(application)"
    case .farewellExplanation(let application):
      "\(application) is no longer connected to your Apple Account. Your name, your e-mail address and your sessions "
        + "were deleted here."
    case .farewellHereExplanation(let application):
      "Your name, your e-mail address and your sessions were deleted here. To end the connection with your Apple "
        + "Account as well, open your Apple Account’s settings and remove \(application) under Sign in with Apple."
    case .notRevokedTitle: "Apple did not confirm this"
    case .notRevokedExplanation(let application):
      "The connection between \(application) and your Apple Account could not be ended at Apple. Nothing was deleted, "
        + "and you are still signed in."
    case .notRevokedAdvice(let application):
      "Please try again in a few minutes. If this happens again, contact the operator of \(application)."
    }
  }
}
