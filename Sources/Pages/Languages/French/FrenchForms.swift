extension FrenchTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "Votre saisie est conservée sur cette page, et nulle part ailleurs. Connectez-vous dans un nouvel "
        + "onglet, puis revenez ici pour l’envoyer."
    case .ready: "Vous êtes connecté. Vous pouvez maintenant envoyer le formulaire."
    case .sendButton: "Envoyer le formulaire"
    case .otherAccount:
      "Vous êtes connecté avec un autre compte. Le formulaire ne peut être envoyé qu’avec le compte qui l’a "
        + "rempli."
    case .keepingNeedsScript: "Sans JavaScript, cette page ne peut pas conserver votre saisie."
    case .notKept:
      "Cette page n’a pas pu conserver votre saisie. Revenez en arrière pour la copier. Ensuite, connectez-vous et "
        + "remplissez à nouveau le formulaire."
    case .signedInTitle: "Vous êtes connecté"
    case .signedInExplanation:
      "Revenez à l’onglet de votre formulaire pour l’envoyer. Vous pouvez fermer cet onglet."
    }
  }
}
