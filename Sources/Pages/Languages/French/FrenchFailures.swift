extension FrenchTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Veuillez vous connecter",
        explanation: "Vous devez être connecté pour voir cette page.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Veuillez vous reconnecter",
        explanation: "Cette partie de \(application) exige une connexion plus récente.",
        advice: "Si vous avez envoyé un formulaire, il n’a pas été transmis. Revenez en arrière pour copier votre "
          + "saisie avant de vous connecter.")
    case .formNotSent:
      FailureText(
        heading: "Votre formulaire n’a pas été envoyé",
        explanation: "Vous êtes déconnecté de \(application)\u{A0}: votre saisie n’a pas été transmise et rien n’a été "
          + "enregistré.",
        advice: "Pour conserver votre saisie, revenez en arrière pour la copier. Ensuite, connectez-vous et remplissez "
          + "à nouveau le formulaire.")
    case .formIncomplete:
      FailureText(
        heading: "Votre formulaire n’a pas été envoyé en entier",
        explanation: "Vous êtes déconnecté de \(application)\u{A0}: l’envoi de votre formulaire a été interrompu, et "
          + "celui-ci n’est pas arrivé en entier.",
        advice: "Pour conserver votre saisie, revenez en arrière pour la copier. Ensuite, connectez-vous, vérifiez "
          + "si quelque chose a été enregistré et remplissez à nouveau le formulaire.")
    case .formUnanswered:
      FailureText(
        heading: "Votre formulaire a peut-être été traité",
        explanation: "Vous êtes déconnecté de \(application). Votre formulaire avait déjà été envoyé, mais il n’y "
          + "avait pas encore de réponse.",
        advice: "Connectez-vous et vérifiez si votre formulaire a été traité avant de l’envoyer à nouveau.")
    case .cancelled:
      FailureText(
        heading: "Connexion annulée",
        explanation: "Vous avez annulé sur la page d’Apple. Rien n’a été partagé, et vous n’êtes pas connecté.")
    case .cancelledAgain:
      FailureText(
        heading: "Vous êtes toujours connecté",
        explanation: "Vous avez annulé la nouvelle connexion sur la page d’Apple. Rien n’a été partagé, et votre "
          + "session continue.")
    case .attemptExpired:
      FailureText(
        heading: "Votre connexion a pris trop de temps",
        explanation: "Une connexion doit être terminée en dix minutes.",
        advice: "Veuillez recommencer.")
    case .attemptUnknown:
      FailureText(
        heading: "Cette connexion a été commencée dans un autre navigateur",
        explanation: "La réponse d’Apple ne correspond à aucune connexion dans ce navigateur. Vous l’avez peut-être "
          + "commencée dans un autre navigateur ou une fenêtre privée, ou bien les cookies sont bloqués.",
        advice: "Autorisez les cookies pour ce site, puis réessayez.")
    case .attemptUsed:
      FailureText(
        heading: "Vous avez déjà terminé cette connexion",
        explanation: "Chaque réponse d’Apple ne sert qu’une fois. Actualiser la page ou revenir en arrière peut mener "
          + "ici.")
    case .attemptEnded:
      FailureText(
        heading: "Cette connexion est terminée",
        explanation: "Chaque réponse d’Apple ne sert qu’une fois, et celle-ci a déjà été utilisée. Actualiser la page "
          + "peut mener ici.",
        advice: "Veuillez recommencer.")
    case .answerInvalid:
      FailureText(
        heading: "La réponse d’Apple n’a pas été acceptée",
        explanation: "Il en manquait une partie, ou elle n’a pas pu être vérifiée\u{A0}: vous n’êtes donc pas "
          + "connecté.",
        advice: "Veuillez réessayer. Si cela se reproduit, contactez les responsables de \(application).")
    case .appleRefused:
      FailureText(
        heading: "La connexion est actuellement indisponible",
        explanation: "Apple n’a pas accepté une requête de \(application). Votre compte Apple n’est pas en cause, et "
          + "vous n’avez rien fait de mal.",
        advice: "Veuillez contacter les responsables de \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "Apple ne répond pas",
        explanation: "Nous n’avons pas pu joindre Apple pour terminer votre connexion.",
        advice: "Veuillez réessayer dans une minute.")
    case .storeUnavailable:
      FailureText(
        heading: "Connexion temporairement indisponible",
        explanation: "\(application) ne peut ni charger ni enregistrer de connexions pour le moment.",
        advice: "Veuillez réessayer dans une minute.")
    case .forbidden:
      FailureText(
        heading: "Ce compte n’a pas d’accès",
        explanation: "Vous êtes connecté, mais votre compte Apple n’est pas autorisé à voir cette page.",
        advice: "Si vous avez besoin d’un accès, contactez les responsables de \(application).")
    case .closed:
      FailureText(
        heading: "Cette page n’est pas disponible",
        explanation: "Personne ne peut ouvrir cette page, avec ou sans connexion.")
    case .network:
      FailureText(
        heading: "Inaccessible depuis votre réseau",
        explanation: "Cette page de \(application) ne s’ouvre que depuis certains réseaux.",
        advice: "Connectez-vous au bon réseau, par exemple par un VPN, puis réessayez.")
    case .banned:
      FailureText(
        heading: "Votre compte est bloqué",
        explanation: "Les responsables de \(application) ont bloqué votre compte.",
        advice: "Si vous pensez que c’est une erreur, contactez les responsables de \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "Aucune nouvelle demande pour le moment",
        explanation: "Trop de personnes ont déjà demandé un accès\u{202F}; votre demande n’a pas été enregistrée.",
        advice: "Contactez les responsables de \(application), ou réessayez plus tard.")
    case .invitationInvalid:
      FailureText(
        heading: "Cette invitation n’est pas valable",
        explanation: "Elle a déjà servi, a expiré ou a été retirée, ou le lien est incomplet.",
        advice: "Demandez une nouvelle invitation.")
    case .emailHidden:
      FailureText(
        heading: "Accès refusé avec une adresse e-mail masquée",
        explanation: "L’accès dépend de votre adresse e-mail, mais vous l’avez masquée à \(application).",
        advice: "Pour la partager, ouvrez les réglages de votre compte Apple, supprimez \(application) sous «\u{A0}Se "
          + "connecter avec Apple\u{A0}», puis reconnectez-vous.")
    case .emailMissing:
      FailureText(
        heading: "Accès refusé sans adresse e-mail",
        explanation: "L’accès dépend de votre adresse e-mail, mais votre compte Apple n’en a fourni aucune.",
        advice: "Contactez les responsables de \(application), ou utilisez un compte qui a une adresse e-mail.")
    case .emailNotVerified:
      FailureText(
        heading: "Votre adresse e-mail n’est pas vérifiée",
        explanation: "L’accès dépend de votre adresse e-mail, et Apple ne l’a pas vérifiée.",
        advice: "Vérifiez-la dans les réglages de votre compte Apple, puis reconnectez-vous.")
    case .crossSite:
      FailureText(
        heading: "Veuillez utiliser notre propre page pour cela",
        explanation: "La requête venait d’un autre site, donc rien n’a été modifié.")
    case .badRequest:
      FailureText(
        heading: "Cette requête n’est pas valide",
        explanation: "Il y a une erreur dans l’adresse ou dans la requête.",
        advice: "Vérifiez l’adresse, ou allez à la page d’accueil.")
    case .notFound:
      FailureText(
        heading: "Page introuvable",
        explanation: "Il n’y a pas de page à cette adresse.",
        advice: "Vérifiez l’adresse, ou allez à la page d’accueil.")
    case .methodNotAllowed:
      FailureText(
        heading: "Cela n’est pas possible ici",
        explanation: "Cette page existe, mais elle n’accepte pas ce type de requête.")
    case .requestTimeout:
      FailureText(
        heading: "La requête a pris trop de temps",
        explanation: "Elle n’est pas arrivée entière à temps.",
        advice: "Vérifiez votre connexion, puis réessayez.")
    case .lengthRequired:
      FailureText(
        heading: "La longueur manque",
        explanation:
          "L’application n’accepte un envoi de cette taille que si sa longueur est "
          + "annoncée à l’avance. Il n’a pas été traité.")
    case .contentTooLarge:
      FailureText(
        heading: "C’est trop volumineux",
        explanation: "Vous avez envoyé plus de données qu’il n’est permis ici\u{202F}; elles n’ont pas été traitées.")
    case .targetTooLong:
      FailureText(
        heading: "L’adresse est trop longue",
        explanation: "Elle dépasse la longueur acceptée ici.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Ce type de données n’est pas pris en charge",
        explanation: "Les données envoyées ont un format qui n’est pas pris en charge ici.")
    case .expectationFailed:
      FailureText(
        heading: "Cette requête n’est pas prise en charge",
        explanation: "Elle demande quelque chose qui n’est pas pris en charge ici.")
    case .misdirected:
      FailureText(
        heading: "Cette adresse est celle d’un autre site",
        explanation: "La requête concernait un site qui n’est pas disponible ici.",
        advice: "Vérifiez l’adresse dans votre navigateur.")
    case .tooManyRequests:
      FailureText(
        heading: "Trop de requêtes",
        explanation: "Vous avez envoyé trop de requêtes en peu de temps.",
        advice: "Veuillez attendre une demi-minute, puis réessayez.")
    case .headTooLarge:
      FailureText(
        heading: "La requête est trop volumineuse",
        explanation: "Ses en-têtes, cookies compris, dépassent la taille autorisée ici.",
        advice: "Supprimer les cookies de ce site suffit généralement.")
    case .internalError:
      FailureText(
        heading: "Une erreur s’est produite",
        explanation: "L’erreur vient de nous, pas de vous.",
        advice: "Veuillez réessayer. Si cela se reproduit, contactez les responsables de \(application).")
    case .notImplemented:
      FailureText(
        heading: "Cela n’est pas pris en charge",
        explanation: "La requête utilise quelque chose qui n’est pas pris en charge ici.")
    case .badGateway:
      FailureText(
        heading: "\(application) ne répond pas correctement",
        explanation: "L’application n’a pas envoyé de réponse valide.",
        advice: "Veuillez réessayer dans un instant.")
    case .unavailable:
      FailureText(
        heading: "\(application) est momentanément indisponible",
        explanation: "L’application démarre, s’arrête ou est très sollicitée.",
        advice: "Veuillez réessayer dans un instant.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) ne répond pas",
        explanation: "L’application n’a pas répondu à temps.",
        advice: "Veuillez réessayer dans un instant.")
    case .versionNotSupported:
      FailureText(
        heading: "Cette version de HTTP n’est pas prise en charge",
        explanation: "La requête utilise une version de HTTP qui n’est pas prise en charge ici.")
    }
  }
}
