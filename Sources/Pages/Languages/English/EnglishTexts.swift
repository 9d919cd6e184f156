/// English.
struct EnglishTexts: PageTexts {
  let language = "en"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Sign in to \(application)"
    case .signInExplanation(let application):
      "You sign in to \(application) with your Apple Account. You need no new password, and you choose whether to "
        + "share or hide your e-mail address."
    case .signOutQuestion(let application): "Sign out of \(application)?"
    case .signedInAs: "You are signed in as"
    case .signOutExplanation: "This ends your session in this browser. Your Apple Account is not affected."
    case .signOutButton: "Sign out"
    case .stayButton: "Stay signed in"
    case .signedOutTitle: "You are signed out"
    case .signedOutExplanation(let application):
      "Your session with \(application) has ended in this browser. If you share this device, sign out of your Apple "
        + "Account too."
    case .signInAgainButton: "Sign in again"
    case .signInButton: "Sign in"
    case .repostTitle: "One moment…"
    case .repostExplanation: "We are completing your sign-in. If nothing happens, press Continue."
    case .scriptNeeded: "This sign-in needs JavaScript. Please allow it for this site, then try again."
    case .continueButton: "Continue"
    case .tryAgainButton: "Try again"
    case .startPageButton: "Go to the start page"
    case .otherAccountButton: "Use another Apple Account"
    case .requestIDLabel: "Request"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
