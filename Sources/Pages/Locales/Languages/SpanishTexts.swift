/// Spanish, understood on both sides of the Atlantic. Formal address.
struct SpanishTexts: PageTexts {
  let language = "es"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Iniciar sesión en \(application)"
    case .signInExplanation(let application):
      "\(application) le reconoce por su cuenta de Apple. Sin contraseña nueva, y usted decide si comparte su "
        + "dirección "
        + "de correo electrónico o la oculta."
    case .signOutQuestion(let application): "¿Cerrar sesión en \(application)?"
    case .signedInAs: "Ha iniciado sesión como"
    case .signOutExplanation:
      "Su sesión terminará en este navegador. Su cuenta de Apple seguirá como está."
    case .signOutButton: "Cerrar sesión"
    case .stayButton: "Mantener la sesión"
    case .signedOutTitle: "Ha cerrado sesión"
    case .signedOutExplanation(let application):
      "Su sesión en \(application) ha terminado en este navegador. Si comparte este dispositivo, cierre también la "
        + "sesión de su cuenta de Apple."
    case .signInAgainButton: "Volver a iniciar sesión"
    case .signInButton: "Iniciar sesión"
    case .repostTitle: "Un momento…"
    case .repostExplanation:
      "Estamos completando su inicio de sesión. Si no ocurre nada, pulse «Continuar»."
    case .scriptNeeded: "Este inicio de sesión necesita JavaScript. Permítalo para este sitio e inténtelo de nuevo."
    case .continueButton: "Continuar"
    case .tryAgainButton: "Volver a intentarlo"
    case .startPageButton: "Ir a la página de inicio"
    case .otherAccountButton: "Usar otra cuenta de Apple"
    case .requestIDLabel: "Solicitud"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
