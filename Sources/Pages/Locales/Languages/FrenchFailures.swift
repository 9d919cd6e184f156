extension FrenchTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Veuillez vous connecter",
        explanation: "Vous devez être connecté pour voir cette page.")
    case .formNotSent:
      FailureText(
        heading: "Votre formulaire n’a pas été envoyé",
        explanation: "Vous êtes déconnecté de \(application)\u{A0}: votre saisie n’a pas été transmise et rien "
          + "n’a été enregistré.",
        advice: "Pour conserver votre saisie, revenez en arrière et copiez-la. Ensuite, connectez-vous et "
          + "remplissez à nouveau le formulaire.")
    case .cancelled:
      FailureText(
        heading: "Connexion annulée",
        explanation: "Vous avez annulé chez Apple. Rien n’a été partagé, et vous n’êtes pas connecté.")
    case .attemptExpired:
      FailureText(
        heading: "Cela a pris un peu trop de temps",
        explanation: "Une connexion doit être terminée en dix minutes, et celle-ci a été commencée il y a plus "
          + "longtemps.",
        advice: "Veuillez recommencer.")
    case .attemptUnknown:
      FailureText(
        heading: "Cette connexion n’a pas été commencée ici",
        explanation: "La réponse d’Apple ne correspond à aucune connexion de ce navigateur. Elle a peut-être été "
          + "commencée dans un autre navigateur ou une fenêtre privée, ou bien les cookies sont bloqués.",
        advice: "Autorisez les cookies pour ce site, puis réessayez.")
    case .attemptUsed:
      FailureText(
        heading: "Cette connexion est déjà terminée",
        explanation: "Chaque réponse d’Apple ne sert qu’une fois, et celle-ci a déjà été utilisée. Actualiser la page "
          + "ou revenir en arrière peut mener ici.")
    case .answerInvalid:
      FailureText(
        heading: "La réponse d’Apple n’a pas été acceptée",
        explanation: "Il en manquait une partie, ou elle n’a pas pu être vérifiée\u{202F}: vous n’êtes donc pas "
          + "connecté.",
        advice: "Veuillez réessayer. Si cela se reproduit, signalez-le aux responsables de \(application).")
    case .appleRefused:
      FailureText(
        heading: "La connexion est en panne",
        explanation: "Apple a refusé une requête de \(application). Votre compte Apple n’est pas en cause, et vous "
          + "n’avez rien fait de mal.",
        advice: "Les responsables de \(application) peuvent y remédier.")
    case .appleUnreachable:
      FailureText(
        heading: "Apple est injoignable",
        explanation: "Nous n’avons pas pu joindre Apple pour terminer votre connexion.",
        advice: "Veuillez réessayer dans une minute.")
    case .storeUnavailable:
      FailureText(
        heading: "Connexion momentanément indisponible",
        explanation: "\(application) ne peut ni consulter ni enregistrer de sessions pour le moment.",
        advice: "Veuillez réessayer dans une minute.")
    case .forbidden:
      FailureText(
        heading: "Accès refusé avec ce compte",
        explanation: "Vous êtes connecté, mais votre compte Apple n’est pas autorisé à voir cette page.",
        advice: "S’il devrait l’être, adressez-vous aux responsables de \(application).")
    case .closed:
      FailureText(
        heading: "Cet accès est fermé",
        explanation: "Personne ne peut ouvrir cette adresse, avec ou sans connexion.")
    case .emailHidden:
      FailureText(
        heading: "Accès refusé avec une adresse masquée",
        explanation: "L’accès dépend de votre adresse e-mail, et vous l’avez masquée à \(application).",
        advice: "Pour la partager, ouvrez les réglages de votre compte Apple, supprimez \(application) sous "
          + "«\u{A0}Se connecter avec Apple\u{A0}», puis reconnectez-vous.")
    case .emailMissing:
      FailureText(
        heading: "Accès refusé sans adresse",
        explanation: "L’accès dépend de votre adresse e-mail, et votre compte Apple n’en a fourni aucune.",
        advice: "Adressez-vous aux responsables de \(application), ou utilisez un compte qui a une adresse.")
    case .emailNotVerified:
      FailureText(
        heading: "Votre adresse n’est pas vérifiée",
        explanation: "L’accès dépend de votre adresse e-mail, et Apple ne l’a pas vérifiée.",
        advice: "Vérifiez-la dans les réglages de votre compte Apple, puis reconnectez-vous.")
    case .crossSite:
      FailureText(
        heading: "Veuillez le faire sur notre propre page",
        explanation: "La requête venait d’un autre site\u{202F}: rien n’a été fait.")
    case .badRequest:
      FailureText(
        heading: "Cette requête est incompréhensible",
        explanation: "Quelque chose dans l’adresse ou la requête n’est pas valide, et elle n’est pas allée plus loin.",
        advice: "Vérifiez l’adresse, ou repartez de la page d’accueil.")
    case .notFound:
      FailureText(
        heading: "Il n’y a rien ici",
        explanation: "Aucune page n’existe à cette adresse.",
        advice: "Vérifiez l’adresse, ou repartez de la page d’accueil.")
    case .methodNotAllowed:
      FailureText(
        heading: "Cela n’est pas possible ici",
        explanation: "Cette page existe, mais pas pour ce type de requête.")
    case .requestTimeout:
      FailureText(
        heading: "La requête a pris trop de temps",
        explanation: "Elle n’est pas arrivée entière à temps.",
        advice: "Vérifiez votre connexion, puis réessayez.")
    case .contentTooLarge:
      FailureText(
        heading: "C’est trop volumineux",
        explanation: "Ce qui a été envoyé dépasse la taille acceptée ici et n’a pas été traité.")
    case .targetTooLong:
      FailureText(
        heading: "L’adresse est trop longue",
        explanation: "Elle dépasse la longueur acceptée ici.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Ce type de données n’est pas accepté",
        explanation: "Ce qui a été envoyé n’a pas une forme comprise ici.")
    case .expectationFailed:
      FailureText(
        heading: "La requête attend trop",
        explanation: "Elle demande quelque chose qui n’est pas pris en charge ici.")
    case .misdirected:
      FailureText(
        heading: "C’est l’adresse d’un autre site",
        explanation: "La requête demandait un site qui n’est pas servi ici.",
        advice: "Vérifiez l’adresse dans votre navigateur.")
    case .tooManyRequests:
      FailureText(
        heading: "Trop de requêtes",
        explanation: "Vous avez envoyé plus de requêtes qu’il n’en est accepté en si peu de temps.",
        advice: "Veuillez attendre une demi-minute, puis réessayez.")
    case .headTooLarge:
      FailureText(
        heading: "La requête est trop chargée",
        explanation: "Son en-tête, cookies compris, dépasse la taille acceptée ici.",
        advice: "Effacer les cookies de ce site suffit en général.")
    case .internalError:
      FailureText(
        heading: "Un problème est survenu ici",
        explanation: "C’est notre erreur, pas la vôtre.",
        advice: "Veuillez réessayer. Si cela se reproduit, signalez-le aux responsables de \(application).")
    case .notImplemented:
      FailureText(
        heading: "Cela n’est pas pris en charge",
        explanation: "La requête utilise quelque chose qui n’est pas pris en charge ici.")
    case .badGateway:
      FailureText(
        heading: "\(application) n’a pas répondu correctement",
        explanation: "Vous êtes arrivé jusqu’à la porte, mais l’application derrière elle n’a pas donné de réponse "
          + "utilisable.",
        advice: "Veuillez réessayer dans un instant.")
    case .unavailable:
      FailureText(
        heading: "\(application) est momentanément indisponible",
        explanation: "L’application démarre, s’arrête ou est très sollicitée.",
        advice: "Veuillez réessayer dans un instant.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) a mis trop de temps à répondre",
        explanation: "Vous êtes arrivé jusqu’à la porte, mais l’application derrière elle n’a pas répondu à temps.",
        advice: "Veuillez réessayer dans un instant.")
    case .versionNotSupported:
      FailureText(
        heading: "Cette version de HTTP n’est pas prise en charge",
        explanation: "La requête utilise une version de HTTP qui n’est pas parlée ici.")
    }
  }
}
