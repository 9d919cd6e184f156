extension SpanishTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Inicie sesión, por favor",
        explanation: "Para ver esto es necesario haber iniciado sesión.")
    case .formNotSent:
      FailureText(
        heading: "Su formulario no se ha enviado",
        explanation: "Su sesión en \(application) no está iniciada. Por eso, lo que ha escrito no se ha enviado "
          + "ni se ha guardado.",
        advice: "Para conservar lo que ha escrito, vuelva atrás y cópielo. Después, inicie sesión y rellene de "
          + "nuevo el formulario.")
    case .cancelled:
      FailureText(
        heading: "Inicio de sesión cancelado",
        explanation: "Ha cancelado en Apple. No se ha compartido nada y no ha iniciado sesión.")
    case .attemptExpired:
      FailureText(
        heading: "Ha tardado demasiado",
        explanation: "El inicio de sesión debe completarse en diez minutos, y este empezó hace más tiempo.",
        advice: "Empiece de nuevo, por favor.")
    case .attemptUnknown:
      FailureText(
        heading: "Este inicio de sesión no empezó aquí",
        explanation: "La respuesta de Apple no corresponde a ningún inicio de sesión de este navegador. Quizá empezó "
          + "en "
          + "otro navegador o en una ventana privada, o las cookies están bloqueadas.",
        advice: "Permita las cookies de este sitio y vuelva a intentarlo.")
    case .attemptUsed:
      FailureText(
        heading: "Este inicio de sesión ya se ha completado",
        explanation: "Cada respuesta de Apple sirve una sola vez, y esta ya se ha usado. Recargar la página o volver "
          + "atrás puede llevar aquí.")
    case .answerInvalid:
      FailureText(
        heading: "No se ha aceptado la respuesta de Apple",
        explanation: "Faltaba una parte o no se ha podido verificar, así que no ha iniciado sesión.",
        advice: "Vuelva a intentarlo. Si ocurre de nuevo, avise a quienes gestionan \(application).")
    case .appleRefused:
      FailureText(
        heading: "El inicio de sesión no funciona",
        explanation: "Apple ha rechazado una solicitud de \(application). Su cuenta de Apple está bien, y usted no ha "
          + "hecho nada mal.",
        advice: "Quienes gestionan \(application) pueden solucionarlo.")
    case .appleUnreachable:
      FailureText(
        heading: "No se puede contactar con Apple",
        explanation: "No hemos podido contactar con Apple para completar su inicio de sesión.",
        advice: "Vuelva a intentarlo dentro de un minuto.")
    case .storeUnavailable:
      FailureText(
        heading: "No es posible iniciar sesión por el momento",
        explanation: "\(application) no puede consultar ni guardar sesiones ahora mismo.",
        advice: "Vuelva a intentarlo dentro de un minuto.")
    case .forbidden:
      FailureText(
        heading: "Sin acceso con esta cuenta",
        explanation: "Ha iniciado sesión, pero su cuenta de Apple no tiene permiso para ver esto.",
        advice: "Si debería tenerlo, consulte a quienes gestionan \(application).")
    case .closed:
      FailureText(
        heading: "Este acceso está cerrado",
        explanation: "Nadie puede abrir esta dirección, con o sin sesión iniciada.")
    case .emailHidden:
      FailureText(
        heading: "Sin acceso con una dirección oculta",
        explanation: "El acceso depende de su dirección de correo electrónico, y usted se la ha ocultado a "
          + "\(application).",
        advice: "Para compartirla, abra los ajustes de su cuenta de Apple, elimine \(application) en «Iniciar sesión "
          + "con Apple» y vuelva a iniciar sesión.")
    case .emailMissing:
      FailureText(
        heading: "Sin acceso sin una dirección",
        explanation: "El acceso depende de su dirección de correo electrónico, y su cuenta de Apple no ha facilitado "
          + "ninguna.",
        advice: "Consulte a quienes gestionan \(application) o use una cuenta que tenga dirección.")
    case .emailNotVerified:
      FailureText(
        heading: "Su dirección no está verificada",
        explanation: "El acceso depende de su dirección de correo electrónico, y Apple no la ha verificado.",
        advice: "Verifíquela en los ajustes de su cuenta de Apple y vuelva a iniciar sesión.")
    case .crossSite:
      FailureText(
        heading: "Hágalo en nuestra propia página, por favor",
        explanation: "La solicitud venía de otro sitio, así que no se ha hecho nada.")
    case .badRequest:
      FailureText(
        heading: "No se entiende esta solicitud",
        explanation: "Algo en la dirección o en la solicitud no es válido, así que no ha seguido adelante.",
        advice: "Compruebe la dirección o empiece por la página de inicio.")
    case .notFound:
      FailureText(
        heading: "Aquí no hay nada",
        explanation: "La página de esta dirección no existe.",
        advice: "Compruebe la dirección o empiece por la página de inicio.")
    case .methodNotAllowed:
      FailureText(
        heading: "Eso no se puede hacer aquí",
        explanation: "Esta página existe, pero no para este tipo de solicitud.")
    case .requestTimeout:
      FailureText(
        heading: "La solicitud ha tardado demasiado",
        explanation: "No ha llegado completa a tiempo.",
        advice: "Compruebe su conexión y vuelva a intentarlo.")
    case .contentTooLarge:
      FailureText(
        heading: "Es demasiado grande",
        explanation: "Lo que se ha enviado es más grande de lo que se acepta aquí, así que no se ha procesado.")
    case .targetTooLong:
      FailureText(
        heading: "La dirección es demasiado larga",
        explanation: "Es más larga de lo que se acepta aquí.")
    case .unsupportedMediaType:
      FailureText(
        heading: "No se acepta este tipo de datos",
        explanation: "Lo que se ha enviado no tiene un formato que se entienda aquí.")
    case .expectationFailed:
      FailureText(
        heading: "La solicitud espera demasiado",
        explanation: "Pide algo que aquí no se admite.")
    case .misdirected:
      FailureText(
        heading: "Esta es la dirección de otro sitio",
        explanation: "La solicitud pedía un sitio que no se sirve aquí.",
        advice: "Compruebe la dirección en su navegador.")
    case .tooManyRequests:
      FailureText(
        heading: "Demasiadas solicitudes",
        explanation: "Ha enviado más solicitudes de las que se aceptan en tan poco tiempo.",
        advice: "Espere medio minuto y vuelva a intentarlo.")
    case .headTooLarge:
      FailureText(
        heading: "La solicitud lleva demasiado",
        explanation: "Su cabecera, con las cookies, es más grande de lo que se acepta aquí.",
        advice: "Suele bastar con borrar las cookies de este sitio.")
    case .internalError:
      FailureText(
        heading: "Algo ha fallado aquí",
        explanation: "El error es nuestro, no suyo.",
        advice: "Vuelva a intentarlo. Si ocurre de nuevo, avise a quienes gestionan \(application).")
    case .notImplemented:
      FailureText(
        heading: "Eso no se admite",
        explanation: "La solicitud usa algo que aquí no se admite.")
    case .badGateway:
      FailureText(
        heading: "\(application) no ha respondido bien",
        explanation: "Ha llegado hasta la puerta, pero la aplicación que hay detrás no ha dado una respuesta válida.",
        advice: "Vuelva a intentarlo dentro de un momento.")
    case .unavailable:
      FailureText(
        heading: "\(application) no está disponible por el momento",
        explanation: "La aplicación se está iniciando, se está deteniendo o tiene mucha carga.",
        advice: "Vuelva a intentarlo dentro de un momento.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) ha tardado demasiado en responder",
        explanation: "Ha llegado hasta la puerta, pero la aplicación que hay detrás no ha respondido a tiempo.",
        advice: "Vuelva a intentarlo dentro de un momento.")
    case .versionNotSupported:
      FailureText(
        heading: "No se admite esa versión de HTTP",
        explanation: "La solicitud usa una versión de HTTP que aquí no se habla.")
    }
  }
}
