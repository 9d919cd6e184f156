extension SpanishTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "Lo que has escrito se conserva en esta página y en ningún otro lugar. Inicia sesión en una pestaña nueva, "
        + "vuelve aquí y envíalo."
    case .ready: "Has iniciado sesión. Ya puedes enviar el formulario."
    case .sendButton: "Enviar el formulario"
    case .otherAccount:
      "Has iniciado sesión con otra cuenta. El formulario solo se puede enviar con la cuenta con la que se rellenó."
    case .keepingNeedsScript: "Sin JavaScript, esta página no puede conservar lo que has escrito."
    case .notKept:
      "Esta página no ha podido conservar lo que has escrito. Para recuperarlo, vuelve atrás y cópialo. Después, "
        + "inicia sesión y rellena de nuevo el formulario."
    case .signedInTitle: "Has iniciado sesión"
    case .signedInExplanation: "Vuelve a la pestaña del formulario para enviarlo. Puedes cerrar esta pestaña."
    }
  }
}
