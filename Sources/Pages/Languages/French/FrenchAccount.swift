extension FrenchTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Votre compte sur \(application)"
    case .nameLabel: "Nom"
    case .emailLabel: "Adresse e-mail"
    case .notShared: "Non communiqué"
    case .relayNote(let application):
      "Apple a créé cette adresse pour vous. Elle vous transmet vos messages et masque votre propre adresse à "
        + "\(application)."
    case .relayOffNote(let application):
      "Apple a créé cette adresse pour vous. Elle masque votre propre adresse à \(application), mais ne vous transmet "
        + "actuellement aucun message. Vous pouvez activer le transfert dans les réglages de votre compte Apple."
    case .unverifiedNote: "Apple n’a pas vérifié cette adresse."
    case .groupsLabel: "Groupes"
    case .ownSessionsHeading: "Où vous êtes connecté"
    case .thisBrowser: "Ce navigateur"
    case .browser(let name, let device): "\(name) sur \(device)"
    case .unknownBrowser: "Navigateur inconnu"
    case .beganLabel: "Connecté le\u{A0}:"
    case .lastSeenLabel: "Dernier accès\u{A0}:"
    case .endOthersButton: "Se déconnecter partout ailleurs"
    case .moreSessions(let count): "Autres sessions qui ne figurent pas ici\u{A0}: \(count)"
    case .endedOne: "L’autre navigateur est maintenant déconnecté."
    case .endedOthers: "Vous êtes maintenant déconnecté partout ailleurs."
    case .stopQuestion(let application): "Ne plus utiliser \(application)\u{202F}?"
    case .stopButton(let application): "Ne plus utiliser \(application)"
    case .stopExplanation(let application):
      "Cela met fin au lien entre \(application) et votre compte Apple. Votre nom, votre adresse e-mail et vos "
        + "sessions sont supprimés ici, et vous êtes déconnecté partout."
    case .stopHereExplanation(let application):
      "Votre nom, votre adresse e-mail et vos sessions sont supprimés ici, et vous êtes déconnecté partout. Apple "
        + "conserve le lien entre \(application) et votre compte Apple jusqu’à ce que vous le supprimiez dans les "
        + "réglages de votre compte Apple."
    case .stopAdvice(let application):
      "Ce que vous avez enregistré dans \(application) n’est pas supprimé. Contactez ses responsables à ce sujet."
    case .keepUsingButton: "Annuler"
    case .farewellTitle(let application): "Vous n’utilisez plus \(application)"
    case .farewellExplanation(let application):
      "\(application) n’est plus lié à votre compte Apple. Votre nom, votre adresse e-mail et vos sessions ont été "
        + "supprimés ici."
    case .farewellHereExplanation(let application):
      "Votre nom, votre adresse e-mail et vos sessions ont été supprimés ici. Pour rompre aussi le lien avec votre "
        + "compte Apple, ouvrez les réglages de votre compte Apple et supprimez \(application) sous «\u{A0}Se "
        + "connecter avec Apple\u{A0}»."
    case .notRevokedTitle: "Apple n’a pas confirmé"
    case .notRevokedExplanation(let application):
      "Le lien entre \(application) et votre compte Apple n’a pas pu être rompu auprès d’Apple. Rien n’a été supprimé, "
        + "et vous êtes toujours connecté."
    case .notRevokedAdvice(let application):
      "Réessayez dans quelques minutes. Si cela se reproduit, contactez les responsables de \(application)."
    }
  }
}
