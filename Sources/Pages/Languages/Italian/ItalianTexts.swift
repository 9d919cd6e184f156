/// Italian.
struct ItalianTexts: PageTexts {
  let language = "it"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Accedi a \(application)"
    case .signInExplanation(let application):
      "Accedi a \(application) con il tuo account Apple. Non ti serve una nuova password e scegli tu se condividere o "
        + "nascondere il tuo indirizzo e-mail."
    case .signOutQuestion(let application): "Uscire da \(application)?"
    case .signedInAs: "Hai eseguito l’accesso come"
    case .signOutExplanation: "La tua sessione in questo browser terminerà. Il tuo account Apple non cambia."
    case .signOutButton: "Esci"
    case .stayButton: "Rimani connesso"
    case .signedOutTitle: "Disconnessione effettuata"
    case .signedOutExplanation(let application):
      "La tua sessione con \(application) è terminata in questo browser. Se condividi questo dispositivo, esci anche "
        + "dal tuo account Apple."
    case .signInAgainButton: "Accedi di nuovo"
    case .signInButton: "Accedi"
    case .repostTitle: "Un momento…"
    case .repostExplanation:
      "Stiamo completando l’accesso. Se non succede nulla, premi «Continua»."
    case .scriptNeeded: "Questo accesso richiede JavaScript. Consentilo per questo sito e riprova."
    case .continueButton: "Continua"
    case .tryAgainButton: "Riprova"
    case .startPageButton: "Vai alla pagina iniziale"
    case .otherAccountButton: "Usa un altro account Apple"
    case .requestIDLabel: "Richiesta"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
