/// Spanish, understood on both sides of the Atlantic. Informal address, as on Apple's pages.
struct SpanishTexts: PageTexts {
  let language = "es"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "Iniciar sesión en \(application)"
    case .signInExplanation(let application):
      "Inicias sesión en \(application) con tu cuenta de Apple. No necesitas una contraseña nueva y tú decides si "
        + "compartes u ocultas tu dirección de correo electrónico."
    case .signOutQuestion(let application): "¿Cerrar sesión en \(application)?"
    case .signedInAs: "Has iniciado sesión como"
    case .signOutExplanation: "Se cierra tu sesión en este navegador. Tu cuenta de Apple no cambia."
    case .signOutButton: "Cerrar sesión"
    case .stayButton: "Mantener la sesión iniciada"
    case .signedOutTitle: "Has cerrado sesión"
    case .signedOutExplanation(let application):
      "Tu sesión en \(application) ha terminado en este navegador. Si compartes este dispositivo, cierra también la "
        + "sesión de tu cuenta de Apple."
    case .signInAgainButton: "Volver a iniciar sesión"
    case .signInButton: "Iniciar sesión"
    case .repostTitle: "Un momento…"
    case .repostExplanation: "Estamos completando tu inicio de sesión. Si no ocurre nada, pulsa «Continuar»."
    case .scriptNeeded: "Este inicio de sesión necesita JavaScript. Permítelo en este sitio y vuelve a intentarlo."
    case .continueButton: "Continuar"
    case .tryAgainButton: "Volver a intentarlo"
    case .startPageButton: "Ir a la página de inicio"
    case .otherAccountButton: "Usar otra cuenta de Apple"
    case .requestIDLabel: "Solicitud"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
