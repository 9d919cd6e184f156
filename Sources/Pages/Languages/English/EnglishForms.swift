extension EnglishTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "What you entered is kept on this page, and nowhere else. Sign in in a new tab, then come back here and send "
        + "it."
    case .ready: "You are signed in. You can send the form now."
    case .sendButton: "Send the form"
    case .otherAccount:
      "You are signed in with another account. The form can only be sent with the account that filled it "
        + "in."
    case .keepingNeedsScript: "Without JavaScript, this page cannot keep what you entered."
    case .notKept:
      "This page could not keep what you entered. To have it again, go back and copy it. Then sign in and "
        + "fill in the form again."
    case .signedInTitle: "You are signed in"
    case .signedInExplanation: "Go back to the tab with your form to send it. You can close this tab."
    }
  }
}
