extension SpanishTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "Tu cuenta en \(application)"
    case .nameLabel: "Nombre"
    case .emailLabel: "Correo electrónico"
    case .notShared: "No compartido"
    case .relayNote(let application):
      "Apple creó esta dirección para ti. Te reenvía el correo y oculta tu propia dirección a \(application)."
    case .relayOffNote(let application):
      "Apple creó esta dirección para ti. Oculta tu propia dirección a \(application), pero ahora mismo no te reenvía "
        + "el correo. Puedes activar el reenvío en los ajustes de tu cuenta de Apple."
    case .unverifiedNote: "Apple no ha verificado esta dirección."
    case .groupsLabel: "Grupos"
    case .ownSessionsHeading: "Dónde tienes la sesión iniciada"
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
      "Se termina la conexión entre \(application) y tu cuenta de Apple. Tu nombre, tu dirección de correo electrónico "
        + "y tus sesiones se eliminan aquí, y se cierra tu sesión en todas partes."
    case .stopHereExplanation(let application):
      "Tu nombre, tu dirección de correo electrónico y tus sesiones se eliminan aquí, y se cierra tu sesión en todas "
        + "partes. Apple mantiene la conexión entre \(application) y tu cuenta de Apple hasta que la elimines en los "
        + "ajustes de tu cuenta de Apple."
    case .stopAdvice(let application):
      "Lo que hayas guardado en \(application) no se elimina. Consulta a los responsables de \(application)."
    case .keepUsingButton: "Cancelar"
    case .farewellTitle(let application): "Has dejado de usar \(application)"
    case .farewellExplanation(let application):
      "La conexión entre \(application) y tu cuenta de Apple ha terminado. Tu nombre, tu dirección de correo "
        + "electrónico y tus sesiones se han eliminado aquí."
    case .farewellHereExplanation(let application):
      "Tu nombre, tu dirección de correo electrónico y tus sesiones se han eliminado aquí. Para terminar también la "
        + "conexión con tu cuenta de Apple, abre los ajustes de tu cuenta de Apple y elimina \(application) en "
        + "«Iniciar sesión con Apple»."
    case .notRevokedTitle: "Apple no lo ha confirmado"
    case .notRevokedExplanation(let application):
      "No se ha podido terminar en Apple la conexión entre \(application) y tu cuenta de Apple. No se ha eliminado "
        + "nada y tu sesión sigue iniciada."
    case .notRevokedAdvice(let application):
      "Vuelve a intentarlo en unos minutos. Si ocurre de nuevo, ponte en contacto con los responsables de "
        + "\(application)."
    }
  }
}
