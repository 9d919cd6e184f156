extension ItalianTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Accedi, per favore",
        explanation: "Per vedere questa pagina devi avere eseguito l’accesso.")
    case .formNotSent:
      FailureText(
        heading: "Il modulo non è stato inviato",
        explanation: "Non hai eseguito l’accesso a \(application), quindi ciò che hai scritto non è stato "
          + "trasmesso né salvato.",
        advice: "Per conservare ciò che hai scritto, torna indietro e copialo. Poi accedi e compila di nuovo il "
          + "modulo.")
    case .cancelled:
      FailureText(
        heading: "Accesso annullato",
        explanation: "Hai annullato sulla pagina di Apple. Non è stato condiviso nulla e non hai eseguito l’accesso.")
    case .attemptExpired:
      FailureText(
        heading: "È passato troppo tempo",
        explanation: "L’accesso va completato entro dieci minuti, e questo è iniziato prima.",
        advice: "Comincia di nuovo, per favore.")
    case .attemptUnknown:
      FailureText(
        heading: "Questo accesso non è iniziato qui",
        explanation: "La risposta di Apple non corrisponde ad alcun accesso di questo browser. Forse è iniziato in un "
          + "altro browser o in una finestra privata, oppure i cookie sono bloccati.",
        advice: "Consenti i cookie per questo sito, poi riprova.")
    case .attemptUsed:
      FailureText(
        heading: "Questo accesso è già stato completato",
        explanation: "Ogni risposta di Apple vale una volta sola, e questa è già stata usata. Si può arrivare qui "
          + "ricaricando la pagina o tornando indietro.")
    case .answerInvalid:
      FailureText(
        heading: "La risposta di Apple non è stata accettata",
        explanation: "Ne mancava una parte o non è stato possibile verificarla, quindi non hai eseguito l’accesso.",
        advice: "Riprova. Se succede di nuovo, avvisa chi gestisce \(application).")
    case .appleRefused:
      FailureText(
        heading: "L’accesso non funziona",
        explanation: "Apple ha rifiutato una richiesta di \(application). Il tuo account Apple è a posto e non hai "
          + "sbagliato nulla.",
        advice: "Chi gestisce \(application) può rimediare.")
    case .appleUnreachable:
      FailureText(
        heading: "Apple non è raggiungibile",
        explanation: "Non siamo riusciti a raggiungere Apple per completare l’accesso.",
        advice: "Riprova tra un minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "Accesso momentaneamente non disponibile",
        explanation: "\(application) non può cercare né salvare sessioni in questo momento.",
        advice: "Riprova tra un minuto.")
    case .forbidden:
      FailureText(
        heading: "Nessun accesso con questo account",
        explanation: "Hai eseguito l’accesso, ma il tuo account Apple non è autorizzato a vedere questa pagina.",
        advice: "Se dovrebbe esserlo, rivolgiti a chi gestisce \(application).")
    case .closed:
      FailureText(
        heading: "Questo accesso è chiuso",
        explanation: "Nessuno può aprire questo indirizzo, nemmeno dopo l’accesso.")
    case .emailHidden:
      FailureText(
        heading: "Nessun accesso con un indirizzo nascosto",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, e lo hai nascosto a \(application).",
        advice: "Per condividerlo, apri le impostazioni del tuo account Apple, rimuovi \(application) da «Accedi con "
          + "Apple» ed esegui di nuovo l’accesso.")
    case .emailMissing:
      FailureText(
        heading: "Nessun accesso senza un indirizzo",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, e il tuo account Apple non ne ha fornito uno.",
        advice: "Rivolgiti a chi gestisce \(application), oppure usa un account che abbia un indirizzo.")
    case .emailNotVerified:
      FailureText(
        heading: "Il tuo indirizzo non è verificato",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, e Apple non lo ha verificato.",
        advice: "Verificalo nelle impostazioni del tuo account Apple, poi esegui di nuovo l’accesso.")
    case .crossSite:
      FailureText(
        heading: "Fallo dalla nostra pagina, per favore",
        explanation: "La richiesta veniva da un altro sito, quindi non è stato fatto nulla.")
    case .badRequest:
      FailureText(
        heading: "Questa richiesta non è comprensibile",
        explanation: "Qualcosa nell’indirizzo o nella richiesta non è valido, quindi non è andata oltre.",
        advice: "Controlla l’indirizzo, oppure riparti dalla pagina iniziale.")
    case .notFound:
      FailureText(
        heading: "Qui non c’è nulla",
        explanation: "A questo indirizzo non esiste alcuna pagina.",
        advice: "Controlla l’indirizzo, oppure riparti dalla pagina iniziale.")
    case .methodNotAllowed:
      FailureText(
        heading: "Qui non si può fare",
        explanation: "Questa pagina esiste, ma non per questo tipo di richiesta.")
    case .requestTimeout:
      FailureText(
        heading: "La richiesta ha impiegato troppo tempo",
        explanation: "Non è arrivata per intero in tempo.",
        advice: "Controlla la connessione, poi riprova.")
    case .contentTooLarge:
      FailureText(
        heading: "È troppo grande",
        explanation: "Quello che è stato inviato supera le dimensioni accettate qui e non è stato elaborato.")
    case .targetTooLong:
      FailureText(
        heading: "L’indirizzo è troppo lungo",
        explanation: "Supera la lunghezza accettata qui.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Questo tipo di dati non è accettato",
        explanation: "Quello che è stato inviato non ha una forma che qui venga compresa.")
    case .expectationFailed:
      FailureText(
        heading: "La richiesta pretende troppo",
        explanation: "Chiede qualcosa che qui non è previsto.")
    case .misdirected:
      FailureText(
        heading: "Questo è l’indirizzo di un altro sito",
        explanation: "La richiesta riguardava un sito che non è servito qui.",
        advice: "Controlla l’indirizzo nel browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Troppe richieste",
        explanation: "Hai inviato più richieste di quante se ne accettino in così poco tempo.",
        advice: "Attendi mezzo minuto, poi riprova.")
    case .headTooLarge:
      FailureText(
        heading: "La richiesta porta troppo con sé",
        explanation: "La sua intestazione, cookie compresi, supera le dimensioni accettate qui.",
        advice: "Di solito basta cancellare i cookie di questo sito.")
    case .internalError:
      FailureText(
        heading: "Qui qualcosa è andato storto",
        explanation: "L’errore è nostro, non tuo.",
        advice: "Riprova. Se succede di nuovo, avvisa chi gestisce \(application).")
    case .notImplemented:
      FailureText(
        heading: "Questo non è previsto",
        explanation: "La richiesta usa qualcosa che qui non è previsto.")
    case .badGateway:
      FailureText(
        heading: "\(application) non ha risposto come doveva",
        explanation: "Sei arrivato alla porta, ma l’applicazione dietro di essa non ha dato una risposta utilizzabile.",
        advice: "Riprova tra un momento.")
    case .unavailable:
      FailureText(
        heading: "\(application) non è disponibile per il momento",
        explanation: "L’applicazione si sta avviando, si sta fermando o è molto occupata.",
        advice: "Riprova tra un momento.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) ha impiegato troppo a rispondere",
        explanation: "Sei arrivato alla porta, ma l’applicazione dietro di essa non ha risposto in tempo.",
        advice: "Riprova tra un momento.")
    case .versionNotSupported:
      FailureText(
        heading: "Questa versione di HTTP non è supportata",
        explanation: "La richiesta usa una versione di HTTP che qui non si parla.")
    }
  }
}
