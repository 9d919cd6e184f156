/// French. A narrow no-break space stands before `?` and `;`, a no-break space before `:` and inside quotation marks.
struct FrenchTexts: PageTexts {
  let language = "fr"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Se connecter à \(application)"
    case .signInExplanation(let application):
      "Vous vous connectez à \(application) avec votre compte Apple. Vous n’avez pas besoin d’un nouveau mot de passe, "
        + "et vous choisissez de partager ou de masquer votre adresse e-mail."
    case .signOutQuestion(let application): "Se déconnecter de \(application)\u{202F}?"
    case .signedInAs: "Vous êtes connecté en tant que"
    case .signOutExplanation:
      "Cela met fin à votre session dans ce navigateur. Votre compte Apple n’est pas modifié."
    case .signOutButton: "Se déconnecter"
    case .stayButton: "Rester connecté"
    case .signedOutTitle: "Vous êtes déconnecté"
    case .signedOutExplanation(let application):
      "Votre session sur \(application) est terminée dans ce navigateur. Si vous partagez cet appareil, "
        + "déconnectez-vous aussi de votre compte Apple."
    case .signInAgainButton: "Se reconnecter"
    case .signInButton: "Se connecter"
    case .repostTitle: "Un instant…"
    case .repostExplanation:
      "Nous terminons votre connexion. S’il ne se passe rien, choisissez «\u{A0}Continuer\u{A0}»."
    case .scriptNeeded: "Cette connexion nécessite JavaScript. Autorisez-le pour ce site, puis réessayez."
    case .continueButton: "Continuer"
    case .tryAgainButton: "Réessayer"
    case .startPageButton: "Aller à la page d’accueil"
    case .otherAccountButton: "Utiliser un autre compte Apple"
    case .requestIDLabel: "Requête"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
