extension ItalianTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "Ciò che hai scritto è conservato in questa pagina e in nessun altro luogo. Accedi in una nuova "
        + "scheda, poi torna qui e invialo."
    case .ready: "Hai eseguito l’accesso. Ora puoi inviare il modulo."
    case .sendButton: "Invia il modulo"
    case .otherAccount:
      "Hai eseguito l’accesso con un altro account. Il modulo può essere inviato solo con l’account che lo "
        + "ha compilato."
    case .keepingNeedsScript: "Senza JavaScript questa pagina non può conservare ciò che hai scritto."
    case .notKept:
      "Questa pagina non ha potuto conservare ciò che hai scritto. Per recuperarlo, torna indietro e "
        + "copialo. Poi accedi e compila di nuovo il modulo."
    case .signedInTitle: "Hai eseguito l’accesso"
    case .signedInExplanation: "Torna alla scheda con il modulo per inviarlo. Puoi chiudere questa scheda."
    }
  }
}
