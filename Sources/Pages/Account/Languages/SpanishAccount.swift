extension SpanishTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Su cuenta en \(application)"
    case .nameLabel: "Nombre"
    case .emailLabel: "Correo electrónico"
    case .notShared: "No compartido"
    case .relayNote(let application):
      "Apple creó esta dirección para usted. Le reenvía el correo y oculta su propia dirección a \(application)."
    case .unverifiedNote: "Apple no ha verificado esta dirección."
    case .groupsLabel: "Grupos"
    case .ownSessionsHeading: "Dónde tiene una sesión abierta"
    case .thisBrowser: "Este navegador"
    case .browser(let name, let device): "\(name) en \(device)"
    case .unknownBrowser: "Navegador desconocido"
    case .beganLabel: "Inicio de sesión:"
    case .lastSeenLabel: "Último uso:"
    case .endOthersButton: "Cerrar todas las demás sesiones"
    case .moreSessions(let count): "Otras sesiones que no aparecen aquí: \(count)"
    case .endedOne: "Se ha cerrado la sesión en ese navegador."
    case .endedOthers: "Se han cerrado todas las demás sesiones."
    case .stopQuestion(let application): "¿Dejar de usar \(application)?"
    case .stopButton(let application): "Dejar de usar \(application)"
    case .stopExplanation(let application):
      "Esto termina la conexión entre \(application) y su cuenta de Apple. Su nombre, su dirección y sus sesiones se "
        + "eliminan aquí, y se cierra la sesión en todas partes."
    case .stopAdvice(let application):
      "Lo que haya guardado en \(application) no se elimina. Consulte al responsable de \(application)."
    case .keepUsingButton: "Cancelar"
    case .farewellTitle(let application): "Ha dejado de usar \(application)"
    case .farewellExplanation(let application):
      "\(application) ya no está conectado a su cuenta de Apple. Su nombre, su dirección y sus sesiones se han "
        + "eliminado aquí."
    case .notRevokedTitle: "Apple no lo ha confirmado"
    case .notRevokedExplanation(let application):
      "No se ha podido terminar en Apple la conexión entre \(application) y su cuenta de Apple. No se ha eliminado "
        + "nada y su sesión sigue abierta."
    case .notRevokedAdvice(let application):
      "Inténtelo de nuevo en unos minutos. Si vuelve a ocurrir, póngase en contacto con el responsable de "
        + "\(application)."
    }
  }
}
