extension ItalianTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Effettua l’accesso",
        explanation: "Per vedere questa pagina devi avere eseguito l’accesso.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Accedi di nuovo",
        explanation: "Questa parte di \(application) richiede un accesso più recente.",
        advice: "Se hai inviato un modulo, non è stato trasmesso. Torna indietro e copia quanto hai "
          + "scritto prima di accedere.")
    case .formNotSent:
      FailureText(
        heading: "Il modulo non è stato inviato",
        explanation: "Non hai eseguito l’accesso a \(application), quindi ciò che hai scritto non è stato "
          + "trasmesso né salvato.",
        advice: "Per conservare ciò che hai scritto, torna indietro e copialo. Poi accedi e compila di nuovo il "
          + "modulo.")
    case .formIncomplete:
      FailureText(
        heading: "Il modulo non è stato inviato per intero",
        explanation: "Non hai una sessione attiva su \(application), quindi l’invio del modulo è stato interrotto e "
          + "il modulo non è arrivato per intero.",
        advice: "Per conservare ciò che hai scritto, torna indietro e copialo. Poi accedi, verifica se qualcosa è "
          + "stato salvato e compila di nuovo il modulo.")
    case .formUnanswered:
      FailureText(
        heading: "Il modulo potrebbe essere stato elaborato",
        explanation: "Non hai una sessione attiva su \(application). Il modulo era già stato inviato, ma non c’era "
          + "ancora una risposta.",
        advice: "Accedi e verifica se il modulo è stato elaborato prima di inviarlo di nuovo.")
    case .cancelled:
      FailureText(
        heading: "Accesso annullato",
        explanation: "Hai annullato sulla pagina di Apple. Non è stato condiviso nulla e non hai eseguito l’accesso.")
    case .cancelledAgain:
      FailureText(
        heading: "Il tuo accesso è ancora attivo",
        explanation: "Hai annullato il nuovo accesso sulla pagina di Apple. Non è stato condiviso nulla e la tua "
          + "sessione continua.")
    case .attemptExpired:
      FailureText(
        heading: "Il tuo accesso ha richiesto troppo tempo",
        explanation: "L’accesso va completato entro dieci minuti.",
        advice: "Ricomincia da capo.")
    case .attemptUnknown:
      FailureText(
        heading: "Questo accesso è iniziato in un altro browser",
        explanation: "La risposta di Apple non corrisponde a nessun accesso in questo browser. Forse lo hai iniziato "
          + "in un altro browser o in una finestra privata, oppure i cookie sono bloccati.",
        advice: "Consenti i cookie per questo sito, poi riprova.")
    case .attemptUsed:
      FailureText(
        heading: "Hai già completato questo accesso",
        explanation: "Ogni risposta di Apple vale una sola volta. Puoi arrivare qui ricaricando la pagina o tornando "
          + "indietro.")
    case .attemptEnded:
      FailureText(
        heading: "Questo accesso è terminato",
        explanation: "Ogni risposta di Apple vale una sola volta e questa è già stata usata. Puoi arrivare qui "
          + "ricaricando la pagina.",
        advice: "Ricomincia da capo.")
    case .answerInvalid:
      FailureText(
        heading: "La risposta di Apple non è stata accettata",
        explanation: "Ne mancava una parte o non è stato possibile verificarla, quindi non hai eseguito l’accesso.",
        advice: "Riprova. Se succede di nuovo, contatta chi gestisce \(application).")
    case .appleRefused:
      FailureText(
        heading: "L’accesso non è disponibile al momento",
        explanation: "Apple non ha accettato una richiesta di \(application). Il tuo account Apple è a posto e non hai "
          + "fatto nulla di sbagliato.",
        advice: "Contatta chi gestisce \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "Apple non risponde",
        explanation: "Non siamo riusciti a contattare Apple per completare il tuo accesso.",
        advice: "Riprova tra un minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "Accesso temporaneamente non disponibile",
        explanation: "Al momento \(application) non può caricare né salvare gli accessi.",
        advice: "Riprova tra un minuto.")
    case .forbidden:
      FailureText(
        heading: "Questo account non ha accesso",
        explanation: "Hai eseguito l’accesso, ma il tuo account Apple non è autorizzato a vedere questa pagina.",
        advice: "Se ti serve l’accesso, contatta chi gestisce \(application).")
    case .closed:
      FailureText(
        heading: "Questa pagina non è disponibile",
        explanation: "Nessuno può aprire questa pagina, con o senza accesso.")
    case .network:
      FailureText(
        heading: "Non disponibile dalla tua rete",
        explanation: "Questa pagina di \(application) si può aprire solo da determinate reti.",
        advice: "Collegati alla rete giusta, per esempio tramite una VPN, e riprova.")
    case .banned:
      FailureText(
        heading: "Il tuo account è bloccato",
        explanation: "Chi gestisce \(application) ha bloccato il tuo account.",
        advice: "Se pensi che sia un errore, contatta chi gestisce \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "Al momento non si accettano richieste",
        explanation: "Troppe persone hanno già chiesto l’accesso, quindi la tua richiesta non è stata salvata.",
        advice: "Contatta chi gestisce \(application), oppure riprova più tardi.")
    case .invitationInvalid:
      FailureText(
        heading: "Questo invito non è valido",
        explanation: "È già stato usato, è scaduto o è stato annullato, oppure il link è incompleto.",
        advice: "Chiedi un nuovo invito.")
    case .emailHidden:
      FailureText(
        heading: "Nessun accesso con un indirizzo e-mail nascosto",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, ma lo hai nascosto a \(application).",
        advice: "Per condividerlo, apri le impostazioni del tuo account Apple, rimuovi \(application) da «Accedi con "
          + "Apple» ed esegui di nuovo l’accesso.")
    case .emailMissing:
      FailureText(
        heading: "Nessun accesso senza un indirizzo e-mail",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, ma il tuo account Apple non ne ha fornito uno.",
        advice: "Contatta chi gestisce \(application), oppure usa un account che abbia un indirizzo e-mail.")
    case .emailNotVerified:
      FailureText(
        heading: "Il tuo indirizzo e-mail non è verificato",
        explanation: "L’accesso dipende dal tuo indirizzo e-mail, e Apple non lo ha verificato.",
        advice: "Verificalo nelle impostazioni del tuo account Apple, poi esegui di nuovo l’accesso.")
    case .crossSite:
      FailureText(
        heading: "Usa la nostra pagina per questa operazione",
        explanation: "La richiesta proveniva da un altro sito, quindi non è stato modificato nulla.")
    case .badRequest:
      FailureText(
        heading: "Questa richiesta non è valida",
        explanation: "C’è un errore nell’indirizzo o nella richiesta.",
        advice: "Controlla l’indirizzo, oppure vai alla pagina iniziale.")
    case .notFound:
      FailureText(
        heading: "Pagina non trovata",
        explanation: "A questo indirizzo non c’è alcuna pagina.",
        advice: "Controlla l’indirizzo, oppure vai alla pagina iniziale.")
    case .methodNotAllowed:
      FailureText(
        heading: "Qui non è possibile",
        explanation: "La pagina esiste, ma non supporta questo tipo di richiesta.")
    case .requestTimeout:
      FailureText(
        heading: "La richiesta ha impiegato troppo tempo",
        explanation: "Non è arrivata completa in tempo.",
        advice: "Controlla la connessione, poi riprova.")
    case .lengthRequired:
      FailureText(
        heading: "Manca la lunghezza",
        explanation:
          "L’applicazione accetta un invio di queste dimensioni solo se la lunghezza è "
          + "indicata prima, quindi non è stato elaborato.")
    case .contentTooLarge:
      FailureText(
        heading: "È troppo grande",
        explanation: "Hai inviato più dati di quanti siano consentiti qui, quindi non sono stati elaborati.")
    case .targetTooLong:
      FailureText(
        heading: "L’indirizzo è troppo lungo",
        explanation: "Supera la lunghezza consentita qui.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Questo tipo di dati non è supportato",
        explanation: "I dati inviati hanno un formato che qui non è supportato.")
    case .expectationFailed:
      FailureText(
        heading: "Questa richiesta non è supportata",
        explanation: "Richiede qualcosa che qui non è supportato.")
    case .misdirected:
      FailureText(
        heading: "Questo indirizzo appartiene a un altro sito",
        explanation: "La richiesta riguardava un sito che qui non è disponibile.",
        advice: "Controlla l’indirizzo nel browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Troppe richieste",
        explanation: "Hai inviato troppe richieste in poco tempo.",
        advice: "Attendi mezzo minuto, poi riprova.")
    case .headTooLarge:
      FailureText(
        heading: "La richiesta è troppo grande",
        explanation: "Le sue intestazioni, cookie compresi, superano le dimensioni consentite qui.",
        advice: "Di solito basta eliminare i cookie di questo sito.")
    case .internalError:
      FailureText(
        heading: "Qualcosa è andato storto",
        explanation: "L’errore è nostro, non tuo.",
        advice: "Riprova. Se succede di nuovo, contatta chi gestisce \(application).")
    case .notImplemented:
      FailureText(
        heading: "Questo non è supportato",
        explanation: "La richiesta usa qualcosa che qui non è supportato.")
    case .badGateway:
      FailureText(
        heading: "\(application) non risponde correttamente",
        explanation: "L’applicazione non ha inviato una risposta valida.",
        advice: "Riprova tra un momento.")
    case .unavailable:
      FailureText(
        heading: "\(application) è temporaneamente non disponibile",
        explanation: "L’applicazione si sta avviando, si sta arrestando o è molto occupata.",
        advice: "Riprova tra un momento.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) non risponde",
        explanation: "L’applicazione non ha risposto in tempo.",
        advice: "Riprova tra un momento.")
    case .versionNotSupported:
      FailureText(
        heading: "Questa versione di HTTP non è supportata",
        explanation: "La richiesta usa una versione di HTTP che qui non è supportata.")
    }
  }
}
