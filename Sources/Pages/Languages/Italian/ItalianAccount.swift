extension ItalianTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Il tuo account su \(application)"
    case .nameLabel: "Nome"
    case .emailLabel: "Indirizzo e-mail"
    case .notShared: "Non condiviso"
    case .relayNote(let application):
      "Apple ha creato questo indirizzo per te. Ti inoltra la posta e nasconde il tuo indirizzo a \(application)."
    case .relayOffNote(let application):
      "Apple ha creato questo indirizzo per te. Nasconde il tuo indirizzo a \(application), ma al momento non ti "
        + "inoltra la posta. Puoi attivare l’inoltro nelle impostazioni del tuo account Apple."
    case .unverifiedNote: "Apple non ha verificato questo indirizzo."
    case .groupsLabel: "Gruppi"
    case .ownSessionsHeading: "Dove hai effettuato l’accesso"
    case .thisBrowser: "Questo browser"
    case .browser(let name, let device): "\(name) su \(device)"
    case .unknownBrowser: "Browser sconosciuto"
    case .beganLabel: "Accesso:"
    case .lastSeenLabel: "Ultimo utilizzo:"
    case .endOthersButton: "Esci da tutte le altre sessioni"
    case .moreSessions(let count): "Altre sessioni non elencate qui: \(count)"
    case .endedOne: "La sessione in quel browser è terminata."
    case .endedOthers: "Tutte le altre sessioni sono terminate."
    case .stopQuestion(let application): "Smettere di usare \(application)?"
    case .stopButton(let application): "Smetti di usare \(application)"
    case .stopExplanation(let application):
      "Il collegamento tra \(application) e il tuo account Apple termina. Il tuo nome, il tuo indirizzo e-mail e le "
        + "tue sessioni vengono eliminati qui, ed esci da tutti i dispositivi."
    case .stopHereExplanation(let application):
      "Il tuo nome, il tuo indirizzo e-mail e le tue sessioni vengono eliminati qui, ed esci da tutti i dispositivi. "
        + "Apple mantiene il collegamento tra \(application) e il tuo account Apple finché non lo rimuovi nelle "
        + "impostazioni del tuo account Apple."
    case .stopAdvice(let application):
      "Ciò che hai salvato in \(application) non viene eliminato. Rivolgiti a chi gestisce \(application)."
    case .keepUsingButton: "Annulla"
    case .farewellTitle(let application): "Non usi più \(application)"
    case .farewellExplanation(let application):
      "\(application) non è più collegato al tuo account Apple. Il tuo nome, il tuo indirizzo e-mail e le tue sessioni "
        + "sono stati eliminati qui."
    case .farewellHereExplanation(let application):
      "Il tuo nome, il tuo indirizzo e-mail e le tue sessioni sono stati eliminati qui. Per terminare anche il "
        + "collegamento con il tuo account Apple, apri le impostazioni del tuo account Apple e rimuovi \(application) "
        + "da «Accedi con Apple»."
    case .notRevokedTitle: "Apple non lo ha confermato"
    case .notRevokedExplanation(let application):
      "Non è stato possibile terminare presso Apple il collegamento tra \(application) e il tuo account Apple. Non è "
        + "stato eliminato nulla e la tua sessione è ancora attiva."
    case .notRevokedAdvice(let application):
      "Riprova tra qualche minuto. Se succede di nuovo, contatta chi gestisce \(application)."
    }
  }
}
