extension GermanTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Ihr Account bei \(application)"
    case .nameLabel: "Name"
    case .emailLabel: "E-Mail-Adresse"
    case .notShared: "Nicht geteilt"
    case .relayNote(let application):
      "Diese Adresse hat Apple für Sie angelegt. Sie leitet E-Mails an Sie weiter und verbirgt Ihre eigene Adresse vor "
        + "\(application)."
    case .relayOffNote(let application):
      "Diese Adresse hat Apple für Sie angelegt. Sie verbirgt Ihre eigene Adresse vor \(application), leitet aber "
        + "zurzeit keine E-Mails an Sie weiter. In den Einstellungen Ihres Apple Accounts können Sie die Weiterleitung "
        + "einschalten."
    case .unverifiedNote: "Apple hat diese Adresse nicht bestätigt."
    case .groupsLabel: "Gruppen"
    case .ownSessionsHeading: "Wo Sie angemeldet sind"
    case .thisBrowser: "Dieser Browser"
    case .browser(let name, let device): "\(name) auf \(device)"
    case .unknownBrowser: "Unbekannter Browser"
    case .beganLabel: "Angemeldet:"
    case .lastSeenLabel: "Zuletzt benutzt:"
    case .endOthersButton: "Überall sonst abmelden"
    case .moreSessions(let count): "Weitere Sitzungen, die hier nicht stehen: \(count)"
    case .endedOne: "Der andere Browser ist jetzt abgemeldet."
    case .endedOthers: "Sie sind jetzt überall sonst abgemeldet."
    case .stopQuestion(let application): "\(application) nicht mehr benutzen?"
    case .stopButton(let application): "\(application) nicht mehr benutzen"
    case .stopExplanation(let application):
      "Damit endet die Verbindung zwischen \(application) und Ihrem Apple Account. Ihr Name, Ihre E-Mail-Adresse und "
        + "Ihre Sitzungen werden hier gelöscht, und Sie werden überall abgemeldet."
    case .stopHereExplanation(let application):
      "Ihr Name, Ihre E-Mail-Adresse und Ihre Sitzungen werden hier gelöscht, und Sie werden überall abgemeldet. Bei "
        + "Apple bleibt die Verbindung zwischen \(application) und Ihrem Apple Account bestehen, bis Sie sie in den "
        + "Einstellungen Ihres Apple Accounts entfernen."
    case .stopAdvice(let application):
      "Was Sie in \(application) selbst gespeichert haben, wird nicht gelöscht. Fragen Sie dazu den Betreiber."
    case .keepUsingButton: "Abbrechen"
    case .farewellTitle(let application): "Sie benutzen \(application) nicht mehr"
    case .farewellExplanation(let application):
      "\(application) ist nicht mehr mit Ihrem Apple Account verbunden. Ihr Name, Ihre E-Mail-Adresse und Ihre "
        + "Sitzungen wurden hier gelöscht."
    case .farewellHereExplanation(let application):
      "Ihr Name, Ihre E-Mail-Adresse und Ihre Sitzungen wurden hier gelöscht. Um auch die Verbindung mit Ihrem Apple "
        + "Account zu beenden, öffnen Sie die Einstellungen Ihres Apple Accounts und entfernen Sie \(application) "
        + "unter „Mit Apple anmelden“."
    case .notRevokedTitle: "Apple hat das nicht bestätigt"
    case .notRevokedExplanation(let application):
      "Die Verbindung zwischen \(application) und Ihrem Apple Account konnte bei Apple nicht beendet werden. Es wurde "
        + "nichts gelöscht, und Sie sind weiterhin angemeldet."
    case .notRevokedAdvice(let application):
      "Bitte versuchen Sie es in einigen Minuten noch einmal. Wenn es wieder geschieht, wenden Sie sich an den "
        + "Betreiber von \(application)."
    }
  }
}
