/// German. Formal address; typographic quotation marks.
struct GermanTexts: PageTexts {
  let language = "de"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Bei \(application) anmelden"
    case .signInExplanation(let application):
      "Sie melden sich bei \(application) mit Ihrem Apple Account an. Sie brauchen kein neues Passwort und entscheiden "
        + "selbst, ob Sie Ihre E-Mail-Adresse teilen oder verbergen."
    case .signOutQuestion(let application): "Von \(application) abmelden?"
    case .signedInAs: "Sie sind angemeldet als"
    case .signOutExplanation:
      "Damit endet Ihre Sitzung in diesem Browser. Ihr Apple Account ist davon nicht betroffen."
    case .signOutButton: "Abmelden"
    case .stayButton: "Angemeldet bleiben"
    case .signedOutTitle: "Sie sind abgemeldet"
    case .signedOutExplanation(let application):
      "Ihre Sitzung bei \(application) ist in diesem Browser beendet. Wenn auch andere dieses Gerät benutzen, melden "
        + "Sie sich außerdem von Ihrem Apple Account ab."
    case .signInAgainButton: "Wieder anmelden"
    case .signInButton: "Anmelden"
    case .repostTitle: "Einen Moment …"
    case .repostExplanation:
      "Wir schließen Ihre Anmeldung ab. Wenn nichts geschieht, wählen Sie „Weiter“."
    case .scriptNeeded:
      "Diese Anmeldung braucht JavaScript. Bitte erlauben Sie es für diese Website und versuchen Sie es noch einmal."
    case .continueButton: "Weiter"
    case .tryAgainButton: "Noch einmal versuchen"
    case .startPageButton: "Zur Startseite"
    case .otherAccountButton: "Anderen Apple Account verwenden"
    case .requestIDLabel: "Anfrage"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
