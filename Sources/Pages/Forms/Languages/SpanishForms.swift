extension SpanishTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "Lo que ha escrito se conserva en esta página y en ningún otro lugar. Inicie sesión en una pestaña "
        + "nueva, vuelva aquí y envíelo."
    case .ready: "Ha iniciado sesión. Ya puede enviar el formulario."
    case .sendButton: "Enviar el formulario"
    case .otherAccount:
      "Ha iniciado sesión con otra cuenta. El formulario solo se puede enviar con la cuenta con la que se "
        + "rellenó."
    case .keepingNeedsScript: "Sin JavaScript, esta página no puede conservar lo que ha escrito."
    case .notKept:
      "Esta página no ha podido conservar lo que ha escrito. Para recuperarlo, vuelva atrás y cópielo. "
        + "Después, inicie sesión y rellene de nuevo el formulario."
    case .signedInTitle: "Ha iniciado sesión"
    case .signedInExplanation: "Vuelva a la pestaña de su formulario para enviarlo. Puede cerrar esta pestaña."
    }
  }
}
