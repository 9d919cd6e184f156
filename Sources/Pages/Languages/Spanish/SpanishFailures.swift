extension SpanishTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Inicia sesión",
        explanation: "Para ver esto tienes que iniciar sesión.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Vuelve a iniciar sesión",
        explanation: "Esta parte de \(application) exige un inicio de sesión más reciente.",
        advice: "Si enviaste un formulario, no se ha transmitido. Vuelve atrás y copia lo que has escrito antes de "
          + "iniciar sesión.")
    case .formNotSent:
      FailureText(
        heading: "Tu formulario no se ha enviado",
        explanation: "No tienes la sesión iniciada en \(application). Por eso, lo que has escrito no se ha enviado ni "
          + "se ha guardado.",
        advice: "Para conservar lo que has escrito, vuelve atrás y cópialo. Después, inicia sesión y rellena de nuevo "
          + "el formulario.")
    case .formIncomplete:
      FailureText(
        heading: "Tu formulario no se ha enviado completo",
        explanation: "No tienes la sesión iniciada en \(application). Por eso se ha interrumpido el envío del "
          + "formulario, que no ha llegado completo.",
        advice: "Para conservar lo que has escrito, vuelve atrás y cópialo. Después, inicia sesión, comprueba si se "
          + "ha guardado algo y rellena de nuevo el formulario.")
    case .formUnanswered:
      FailureText(
        heading: "Puede que tu formulario se haya procesado",
        explanation: "No tienes la sesión iniciada en \(application). El formulario ya se había enviado, pero aún no "
          + "había respuesta.",
        advice: "Inicia sesión y comprueba si el formulario se ha procesado antes de volver a enviarlo.")
    case .cancelled:
      FailureText(
        heading: "Inicio de sesión cancelado",
        explanation: "Has cancelado en la página de Apple. No se ha compartido nada y no has iniciado sesión.")
    case .cancelledAgain:
      FailureText(
        heading: "Tu sesión sigue iniciada",
        explanation: "Has cancelado el nuevo inicio de sesión en la página de Apple. No se ha compartido nada y tu "
          + "sesión continúa.")
    case .attemptExpired:
      FailureText(
        heading: "Tu inicio de sesión ha tardado demasiado",
        explanation: "El inicio de sesión debe completarse en diez minutos.",
        advice: "Empieza de nuevo.")
    case .attemptUnknown:
      FailureText(
        heading: "Este inicio de sesión se empezó en otro navegador",
        explanation: "La respuesta de Apple no corresponde a ningún inicio de sesión en este navegador. Quizá lo "
          + "empezaste en otro navegador o en una ventana privada, o las cookies están bloqueadas.",
        advice: "Permite las cookies de este sitio y vuelve a intentarlo.")
    case .attemptUsed:
      FailureText(
        heading: "Ya has completado este inicio de sesión",
        explanation: "Cada respuesta de Apple sirve una sola vez. Puedes llegar aquí al recargar la página o al volver "
          + "atrás.")
    case .attemptEnded:
      FailureText(
        heading: "Este inicio de sesión ha terminado",
        explanation: "Cada respuesta de Apple sirve una sola vez, y esta ya se ha usado. Puedes llegar aquí al "
          + "recargar la página.",
        advice: "Empieza de nuevo.")
    case .answerInvalid:
      FailureText(
        heading: "No se ha aceptado la respuesta de Apple",
        explanation: "Faltaba una parte o no se ha podido verificar, así que no has iniciado sesión.",
        advice: "Vuelve a intentarlo. Si ocurre de nuevo, ponte en contacto con los responsables de \(application).")
    case .appleRefused:
      FailureText(
        heading: "No es posible iniciar sesión en este momento",
        explanation: "Apple no ha aceptado una solicitud de \(application). Tu cuenta de Apple está bien y no has "
          + "hecho nada mal.",
        advice: "Ponte en contacto con los responsables de \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "Apple no responde",
        explanation: "No hemos podido contactar con Apple para completar tu inicio de sesión.",
        advice: "Vuelve a intentarlo dentro de un minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "El inicio de sesión no está disponible temporalmente",
        explanation: "\(application) no puede cargar ni guardar inicios de sesión en este momento.",
        advice: "Vuelve a intentarlo dentro de un minuto.")
    case .forbidden:
      FailureText(
        heading: "Esta cuenta no tiene acceso",
        explanation: "Has iniciado sesión, pero tu cuenta de Apple no tiene permiso para ver esta página.",
        advice: "Si necesitas acceso, ponte en contacto con los responsables de \(application).")
    case .closed:
      FailureText(
        heading: "Esta página no está disponible",
        explanation: "Nadie puede abrir esta página, con o sin sesión iniciada.")
    case .network:
      FailureText(
        heading: "No disponible desde tu red",
        explanation: "Esta página de \(application) solo se puede abrir desde determinadas redes.",
        advice: "Conéctate a la red adecuada, por ejemplo mediante una VPN, e inténtalo de nuevo.")
    case .banned:
      FailureText(
        heading: "Tu cuenta está bloqueada",
        explanation: "Los responsables de \(application) han bloqueado tu cuenta.",
        advice: "Si crees que es un error, ponte en contacto con los responsables de \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "Ahora no se admiten más solicitudes",
        explanation: "Ya han pedido acceso demasiadas personas, así que tu solicitud no se ha guardado.",
        advice: "Ponte en contacto con los responsables de \(application) o vuelve a intentarlo más tarde.")
    case .invitationInvalid:
      FailureText(
        heading: "Esta invitación no es válida",
        explanation: "Ya se ha usado, ha caducado o se ha retirado, o el enlace está incompleto.",
        advice: "Pide una invitación nueva.")
    case .emailHidden:
      FailureText(
        heading: "Sin acceso con el correo electrónico oculto",
        explanation: "El acceso depende de tu dirección de correo electrónico, pero se la has ocultado a "
          + "\(application).",
        advice: "Para compartirla, abre los ajustes de tu cuenta de Apple, elimina \(application) en «Iniciar sesión "
          + "con Apple» y vuelve a iniciar sesión.")
    case .emailMissing:
      FailureText(
        heading: "Sin acceso sin correo electrónico",
        explanation: "El acceso depende de tu dirección de correo electrónico, pero tu cuenta de Apple no ha "
          + "facilitado ninguna.",
        advice: "Ponte en contacto con los responsables de \(application) o usa una cuenta que tenga una dirección de "
          + "correo electrónico.")
    case .emailNotVerified:
      FailureText(
        heading: "Tu correo electrónico no está verificado",
        explanation: "El acceso depende de tu dirección de correo electrónico, y Apple no la ha verificado.",
        advice: "Verifícala en los ajustes de tu cuenta de Apple y vuelve a iniciar sesión.")
    case .crossSite:
      FailureText(
        heading: "Usa nuestra propia página para esto",
        explanation: "La solicitud venía de otro sitio web, así que no se ha cambiado nada.")
    case .badRequest:
      FailureText(
        heading: "Esta solicitud no es válida",
        explanation: "Hay un error en la dirección o en la solicitud.",
        advice: "Comprueba la dirección o ve a la página de inicio.")
    case .notFound:
      FailureText(
        heading: "Página no encontrada",
        explanation: "No hay ninguna página en esta dirección.",
        advice: "Comprueba la dirección o ve a la página de inicio.")
    case .methodNotAllowed:
      FailureText(
        heading: "Esto no es posible aquí",
        explanation: "La página existe, pero no admite este tipo de solicitud.")
    case .requestTimeout:
      FailureText(
        heading: "La solicitud ha tardado demasiado",
        explanation: "No ha llegado completa a tiempo.",
        advice: "Comprueba tu conexión y vuelve a intentarlo.")
    case .lengthRequired:
      FailureText(
        heading: "Falta la longitud",
        explanation:
          "La aplicación solo acepta un envío de este tamaño si se indica antes su "
          + "longitud, así que no se ha procesado.")
    case .contentTooLarge:
      FailureText(
        heading: "Es demasiado grande",
        explanation: "Has enviado más datos de los que se admiten aquí, así que no se han procesado.")
    case .targetTooLong:
      FailureText(
        heading: "La dirección es demasiado larga",
        explanation: "Es más larga de lo que se acepta aquí.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Este tipo de datos no es compatible",
        explanation: "Los datos enviados tienen un formato que aquí no se admite.")
    case .expectationFailed:
      FailureText(
        heading: "Esta solicitud no es compatible",
        explanation: "Pide algo que aquí no se admite.")
    case .misdirected:
      FailureText(
        heading: "Esta dirección es de otro sitio web",
        explanation: "La solicitud era para un sitio web que no está disponible aquí.",
        advice: "Comprueba la dirección en tu navegador.")
    case .tooManyRequests:
      FailureText(
        heading: "Demasiadas solicitudes",
        explanation: "Has enviado demasiadas solicitudes en poco tiempo.",
        advice: "Espera medio minuto y vuelve a intentarlo.")
    case .headTooLarge:
      FailureText(
        heading: "La solicitud es demasiado grande",
        explanation: "Sus cabeceras, incluidas las cookies, superan el tamaño permitido aquí.",
        advice: "Normalmente basta con borrar las cookies de este sitio.")
    case .internalError:
      FailureText(
        heading: "Algo ha salido mal",
        explanation: "El error es nuestro, no tuyo.",
        advice: "Vuelve a intentarlo. Si ocurre de nuevo, ponte en contacto con los responsables de \(application).")
    case .notImplemented:
      FailureText(
        heading: "Eso no se admite",
        explanation: "La solicitud usa algo que aquí no se admite.")
    case .badGateway:
      FailureText(
        heading: "\(application) no responde correctamente",
        explanation: "La aplicación no ha enviado una respuesta válida.",
        advice: "Vuelve a intentarlo en un momento.")
    case .unavailable:
      FailureText(
        heading: "\(application) no está disponible por el momento",
        explanation: "La aplicación se está iniciando, se está deteniendo o tiene mucha carga.",
        advice: "Vuelve a intentarlo en un momento.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) no responde",
        explanation: "La aplicación no ha respondido a tiempo.",
        advice: "Vuelve a intentarlo en un momento.")
    case .versionNotSupported:
      FailureText(
        heading: "Esta versión de HTTP no es compatible",
        explanation: "La solicitud usa una versión de HTTP que aquí no se admite.")
    }
  }
}
