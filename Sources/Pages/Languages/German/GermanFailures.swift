extension GermanTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Bitte melden Sie sich an",
        explanation: "Um das zu sehen, müssen Sie angemeldet sein.")
    case .reauthenticationRequired:
      FailureText(
        heading: "Bitte melden Sie sich erneut an",
        explanation: "Dieser Teil von \(application) verlangt eine neuere Anmeldung.",
        advice: "Falls Sie ein Formular gesendet haben, wurde es nicht weitergegeben. Gehen Sie "
          + "zurück und kopieren Sie Ihre Eingaben, bevor Sie sich anmelden.")
    case .formNotSent:
      FailureText(
        heading: "Ihr Formular wurde nicht gesendet",
        explanation: "Sie sind bei \(application) abgemeldet. Deshalb wurden Ihre Eingaben nicht weitergegeben "
          + "und nicht gespeichert.",
        advice: "Wenn Sie Ihre Eingaben behalten möchten, gehen Sie zurück und kopieren Sie sie. Melden Sie sich "
          + "dann an und füllen Sie das Formular noch einmal aus.")
    case .formIncomplete:
      FailureText(
        heading: "Ihr Formular wurde nicht vollständig gesendet",
        explanation: "Sie sind bei \(application) abgemeldet. Deshalb wurde die Übertragung Ihres Formulars "
          + "abgebrochen: Es ist nicht vollständig angekommen.",
        advice: "Wenn Sie Ihre Eingaben behalten möchten, gehen Sie zurück und kopieren Sie sie. Melden Sie sich "
          + "dann an, prüfen Sie, ob etwas gespeichert wurde, und füllen Sie das Formular noch einmal aus.")
    case .formUnanswered:
      FailureText(
        heading: "Ihr Formular wurde möglicherweise verarbeitet",
        explanation: "Sie sind bei \(application) abgemeldet. Ihr Formular war bereits gesendet, eine Antwort stand "
          + "aber noch aus.",
        advice: "Melden Sie sich an und prüfen Sie, ob Ihr Formular verarbeitet wurde, bevor Sie es noch einmal "
          + "senden.")
    case .cancelled:
      FailureText(
        heading: "Anmeldung abgebrochen",
        explanation: "Sie haben bei Apple abgebrochen. Es wurde nichts übermittelt, und Sie sind nicht angemeldet.")
    case .cancelledAgain:
      FailureText(
        heading: "Sie sind weiterhin angemeldet",
        explanation: "Sie haben die neue Anmeldung bei Apple abgebrochen. Es wurde nichts übermittelt, und Ihre "
          + "Sitzung läuft weiter.")
    case .attemptExpired:
      FailureText(
        heading: "Ihre Anmeldung hat zu lange gedauert",
        explanation: "Eine Anmeldung muss innerhalb von zehn Minuten abgeschlossen werden.",
        advice: "Bitte beginnen Sie noch einmal.")
    case .attemptUnknown:
      FailureText(
        heading: "Diese Anmeldung wurde in einem anderen Browser begonnen",
        explanation: "Apples Antwort gehört zu keiner Anmeldung in diesem Browser. Vielleicht haben Sie sie in einem "
          + "anderen Browser oder einem privaten Fenster begonnen, oder Cookies sind blockiert.",
        advice: "Lassen Sie Cookies für diese Website zu und versuchen Sie es noch einmal.")
    case .attemptUsed:
      FailureText(
        heading: "Sie haben diese Anmeldung schon abgeschlossen",
        explanation: "Jede Antwort von Apple gilt nur einmal. Wenn Sie die Seite neu laden oder zurückgehen, können "
          + "Sie hierher gelangen.")
    case .attemptEnded:
      FailureText(
        heading: "Diese Anmeldung ist beendet",
        explanation: "Jede Antwort von Apple gilt nur einmal, und diese wurde schon verwendet. Wenn Sie die Seite neu "
          + "laden, können Sie hierher gelangen.",
        advice: "Bitte beginnen Sie noch einmal.")
    case .answerInvalid:
      FailureText(
        heading: "Apples Antwort wurde nicht angenommen",
        explanation: "Ein Teil davon fehlte oder ließ sich nicht prüfen. Deshalb sind Sie nicht angemeldet.",
        advice: "Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, wenden Sie sich an den Betreiber von "
          + "\(application).")
    case .appleRefused:
      FailureText(
        heading: "Die Anmeldung ist zurzeit nicht möglich",
        explanation: "Apple hat eine Anfrage von \(application) nicht angenommen. Mit Ihrem Apple Account ist alles in "
          + "Ordnung, und Sie haben nichts falsch gemacht.",
        advice: "Bitte wenden Sie sich an den Betreiber von \(application).")
    case .appleUnreachable:
      FailureText(
        heading: "Apple antwortet nicht",
        explanation: "Wir konnten Apple nicht erreichen, um Ihre Anmeldung abzuschließen.",
        advice: "Bitte versuchen Sie es in einer Minute noch einmal.")
    case .storeUnavailable:
      FailureText(
        heading: "Die Anmeldung ist vorübergehend nicht möglich",
        explanation: "\(application) kann im Moment keine Anmeldungen laden oder speichern.",
        advice: "Bitte versuchen Sie es in einer Minute noch einmal.")
    case .forbidden:
      FailureText(
        heading: "Dieser Account hat keinen Zugriff",
        explanation: "Sie sind angemeldet, aber Ihr Apple Account darf diese Seite nicht sehen.",
        advice: "Wenn Sie Zugriff benötigen, wenden Sie sich an den Betreiber von \(application).")
    case .closed:
      FailureText(
        heading: "Diese Seite ist nicht verfügbar",
        explanation: "Niemand kann diese Seite öffnen, ob angemeldet oder nicht.")
    case .network:
      FailureText(
        heading: "Aus Ihrem Netz nicht erreichbar",
        explanation: "Diese Seite von \(application) lässt sich nur aus bestimmten Netzen öffnen.",
        advice: "Verbinden Sie sich mit dem richtigen Netz, etwa über ein VPN, und versuchen Sie es noch einmal.")
    case .banned:
      FailureText(
        heading: "Ihr Account ist gesperrt",
        explanation: "Der Betreiber von \(application) hat Ihren Account gesperrt.",
        advice: "Wenn Sie das für einen Irrtum halten, wenden Sie sich an den Betreiber von \(application).")
    case .accessRequestsFull:
      FailureText(
        heading: "Zurzeit sind keine Anfragen möglich",
        explanation: "Es haben schon zu viele Personen um Zugriff gebeten. Ihre Anfrage wurde nicht gespeichert.",
        advice: "Wenden Sie sich an den Betreiber von \(application), oder versuchen Sie es später noch einmal.")
    case .invitationInvalid:
      FailureText(
        heading: "Diese Einladung ist nicht gültig",
        explanation: "Sie ist aufgebraucht, abgelaufen oder zurückgezogen, oder der Link ist unvollständig.",
        advice: "Bitten Sie um eine neue Einladung.")
    case .emailHidden:
      FailureText(
        heading: "Kein Zugriff mit verborgener E-Mail-Adresse",
        explanation: "Der Zugriff hängt von Ihrer E-Mail-Adresse ab, aber Sie haben sie vor \(application) verborgen.",
        advice: "Um sie zu teilen, öffnen Sie die Einstellungen Ihres Apple Accounts, entfernen Sie \(application) "
          + "unter „Mit Apple anmelden“ und melden Sie sich neu an.")
    case .emailMissing:
      FailureText(
        heading: "Kein Zugriff ohne E-Mail-Adresse",
        explanation: "Der Zugriff hängt von Ihrer E-Mail-Adresse ab, aber Ihr Apple Account hat keine übermittelt.",
        advice: "Wenden Sie sich an den Betreiber von \(application), oder verwenden Sie einen Account mit "
          + "E-Mail-Adresse.")
    case .emailNotVerified:
      FailureText(
        heading: "Ihre E-Mail-Adresse ist nicht bestätigt",
        explanation: "Der Zugriff hängt von Ihrer E-Mail-Adresse ab, und Apple hat sie nicht bestätigt.",
        advice: "Bestätigen Sie sie in den Einstellungen Ihres Apple Accounts und melden Sie sich dann neu an.")
    case .crossSite:
      FailureText(
        heading: "Bitte verwenden Sie dafür unsere eigene Seite",
        explanation: "Die Anfrage kam von einer anderen Website. Deshalb wurde nichts geändert.")
    case .badRequest:
      FailureText(
        heading: "Diese Anfrage ist ungültig",
        explanation: "Etwas an der Adresse oder der Anfrage stimmt nicht.",
        advice: "Prüfen Sie die Adresse, oder gehen Sie zur Startseite.")
    case .notFound:
      FailureText(
        heading: "Seite nicht gefunden",
        explanation: "Unter dieser Adresse gibt es keine Seite.",
        advice: "Prüfen Sie die Adresse, oder gehen Sie zur Startseite.")
    case .methodNotAllowed:
      FailureText(
        heading: "Das ist hier nicht möglich",
        explanation: "Diese Seite gibt es, aber sie unterstützt diese Art von Anfrage nicht.")
    case .requestTimeout:
      FailureText(
        heading: "Die Anfrage hat zu lange gedauert",
        explanation: "Sie kam nicht rechtzeitig vollständig an.",
        advice: "Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.")
    case .lengthRequired:
      FailureText(
        heading: "Die Länge fehlt",
        explanation:
          "Die Anwendung nimmt Daten dieser Größe nur an, wenn ihre Länge vorher angegeben "
          + "wird. Sie wurden nicht verarbeitet.")
    case .contentTooLarge:
      FailureText(
        heading: "Das ist zu groß",
        explanation: "Sie haben mehr Daten gesendet, als hier erlaubt ist. Sie wurden nicht verarbeitet.")
    case .targetTooLong:
      FailureText(
        heading: "Die Adresse ist zu lang",
        explanation: "Sie ist länger, als hier erlaubt ist.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Diese Art von Daten wird nicht unterstützt",
        explanation: "Die gesendeten Daten haben ein Format, das hier nicht unterstützt wird.")
    case .expectationFailed:
      FailureText(
        heading: "Diese Anfrage wird nicht unterstützt",
        explanation: "Sie verlangt etwas, das hier nicht unterstützt wird.")
    case .misdirected:
      FailureText(
        heading: "Diese Adresse gehört zu einer anderen Website",
        explanation: "Die Anfrage galt einer Website, die es hier nicht gibt.",
        advice: "Prüfen Sie die Adresse in Ihrem Browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Zu viele Anfragen",
        explanation: "Sie haben in kurzer Zeit zu viele Anfragen gesendet.",
        advice: "Bitte warten Sie eine halbe Minute und versuchen Sie es noch einmal.")
    case .headTooLarge:
      FailureText(
        heading: "Die Anfrage ist zu groß",
        explanation: "Ihre Kopfzeilen samt Cookies sind größer, als hier erlaubt ist.",
        advice: "Meist hilft es, die Cookies dieser Website zu löschen.")
    case .internalError:
      FailureText(
        heading: "Etwas ist schiefgegangen",
        explanation: "Der Fehler liegt bei uns, nicht bei Ihnen.",
        advice: "Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, wenden Sie sich an den Betreiber von "
          + "\(application).")
    case .notImplemented:
      FailureText(
        heading: "Das wird nicht unterstützt",
        explanation: "Die Anfrage verwendet etwas, das hier nicht unterstützt wird.")
    case .badGateway:
      FailureText(
        heading: "\(application) antwortet nicht richtig",
        explanation: "Die Anwendung hat keine gültige Antwort gesendet.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .unavailable:
      FailureText(
        heading: "\(application) ist vorübergehend nicht verfügbar",
        explanation: "Die Anwendung startet, wird beendet oder ist stark ausgelastet.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) antwortet nicht",
        explanation: "Die Anwendung hat nicht rechtzeitig geantwortet.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .versionNotSupported:
      FailureText(
        heading: "Diese HTTP-Version wird nicht unterstützt",
        explanation: "Die Anfrage verwendet eine HTTP-Version, die hier nicht unterstützt wird.")
    }
  }
}
