extension GermanTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "Bitte melden Sie sich an",
        explanation: "Um das zu sehen, müssen Sie angemeldet sein.")
    case .formNotSent:
      FailureText(
        heading: "Ihr Formular wurde nicht gesendet",
        explanation: "Sie sind bei \(application) abgemeldet. Deshalb wurden Ihre Eingaben nicht weitergegeben "
          + "und nicht gespeichert.",
        advice: "Wenn Sie Ihre Eingaben behalten möchten, gehen Sie zurück und kopieren Sie sie. Melden Sie sich "
          + "dann an und füllen Sie das Formular noch einmal aus.")
    case .cancelled:
      FailureText(
        heading: "Anmeldung abgebrochen",
        explanation: "Sie haben bei Apple abgebrochen. Es wurde nichts übermittelt, und Sie sind nicht angemeldet.")
    case .attemptExpired:
      FailureText(
        heading: "Das hat etwas zu lange gedauert",
        explanation: "Eine Anmeldung muss nach zehn Minuten abgeschlossen sein, und diese wurde früher begonnen.",
        advice: "Bitte beginnen Sie noch einmal.")
    case .attemptUnknown:
      FailureText(
        heading: "Diese Anmeldung wurde nicht hier begonnen",
        explanation: "Apples Antwort gehört zu keiner Anmeldung dieses Browsers. Vielleicht wurde sie in einem anderen "
          + "Browser oder einem privaten Fenster begonnen, oder Cookies sind blockiert.",
        advice: "Lassen Sie Cookies für diese Website zu und versuchen Sie es noch einmal.")
    case .attemptUsed:
      FailureText(
        heading: "Diese Anmeldung ist schon abgeschlossen",
        explanation: "Jede Antwort von Apple gilt nur einmal, und diese wurde schon verwendet. Hierher führt zum "
          + "Beispiel, wer die Seite neu lädt oder zurückgeht.")
    case .answerInvalid:
      FailureText(
        heading: "Apples Antwort wurde nicht angenommen",
        explanation: "Ein Teil davon fehlte oder ließ sich nicht prüfen. Deshalb sind Sie nicht angemeldet.",
        advice: "Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, sagen Sie denen Bescheid, die "
          + "\(application) betreiben.")
    case .appleRefused:
      FailureText(
        heading: "Die Anmeldung ist gestört",
        explanation: "Apple hat eine Anfrage von \(application) abgelehnt. Mit Ihrem Apple Account ist alles in "
          + "Ordnung, und Sie haben nichts falsch gemacht.",
        advice: "Beheben können es die, die \(application) betreiben.")
    case .appleUnreachable:
      FailureText(
        heading: "Apple ist nicht erreichbar",
        explanation: "Wir konnten Apple nicht erreichen, um Ihre Anmeldung abzuschließen.",
        advice: "Bitte versuchen Sie es in einer Minute noch einmal.")
    case .storeUnavailable:
      FailureText(
        heading: "Die Anmeldung ist gerade nicht möglich",
        explanation: "\(application) kann im Moment keine Sitzungen nachschlagen oder speichern.",
        advice: "Bitte versuchen Sie es in einer Minute noch einmal.")
    case .forbidden:
      FailureText(
        heading: "Kein Zugang mit diesem Account",
        explanation: "Sie sind angemeldet, aber Ihr Apple Account darf das nicht sehen.",
        advice: "Wenn er es dürfen sollte, wenden Sie sich an die, die \(application) betreiben.")
    case .closed:
      FailureText(
        heading: "Hier ist geschlossen",
        explanation: "Diese Adresse darf niemand öffnen, ob angemeldet oder nicht.")
    case .emailHidden:
      FailureText(
        heading: "Kein Zugang mit verborgener Adresse",
        explanation: "Der Zugang hängt von Ihrer E-Mail-Adresse ab, und die haben Sie vor \(application) verborgen.",
        advice: "Um sie zu teilen, öffnen Sie die Einstellungen Ihres Apple Accounts, entfernen Sie \(application) "
          + "unter „Mit Apple anmelden“ und melden Sie sich neu an.")
    case .emailMissing:
      FailureText(
        heading: "Kein Zugang ohne Adresse",
        explanation: "Der Zugang hängt von Ihrer E-Mail-Adresse ab, und Ihr Apple Account hat keine angegeben.",
        advice: "Wenden Sie sich an die, die \(application) betreiben, oder verwenden Sie einen Account mit Adresse.")
    case .emailNotVerified:
      FailureText(
        heading: "Ihre Adresse ist nicht bestätigt",
        explanation: "Der Zugang hängt von Ihrer E-Mail-Adresse ab, und Apple hat sie nicht bestätigt.",
        advice: "Bestätigen Sie sie in den Einstellungen Ihres Apple Accounts und melden Sie sich dann neu an.")
    case .crossSite:
      FailureText(
        heading: "Bitte tun Sie das auf unserer eigenen Seite",
        explanation: "Die Anfrage kam von einer anderen Website. Deshalb ist nichts geschehen.")
    case .badRequest:
      FailureText(
        heading: "Diese Anfrage ist nicht zu verstehen",
        explanation: "Etwas an der Adresse oder der Anfrage ist ungültig. Deshalb wurde sie nicht weitergegeben.",
        advice: "Prüfen Sie die Adresse, oder beginnen Sie auf der Startseite.")
    case .notFound:
      FailureText(
        heading: "Hier ist nichts",
        explanation: "Unter dieser Adresse gibt es keine Seite.",
        advice: "Prüfen Sie die Adresse, oder beginnen Sie auf der Startseite.")
    case .methodNotAllowed:
      FailureText(
        heading: "Das geht hier nicht",
        explanation: "Diese Seite gibt es, aber nicht für diese Art von Anfrage.")
    case .requestTimeout:
      FailureText(
        heading: "Die Anfrage hat zu lange gedauert",
        explanation: "Sie kam nicht rechtzeitig vollständig an.",
        advice: "Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.")
    case .contentTooLarge:
      FailureText(
        heading: "Das ist zu groß",
        explanation: "Was gesendet wurde, ist größer, als hier angenommen wird, und wurde nicht verarbeitet.")
    case .targetTooLong:
      FailureText(
        heading: "Die Adresse ist zu lang",
        explanation: "Sie ist länger, als hier angenommen wird.")
    case .unsupportedMediaType:
      FailureText(
        heading: "Diese Art von Daten wird nicht angenommen",
        explanation: "Was gesendet wurde, hat keine Form, die hier verstanden wird.")
    case .expectationFailed:
      FailureText(
        heading: "Die Anfrage erwartet zu viel",
        explanation: "Sie verlangt etwas, das hier nicht unterstützt wird.")
    case .misdirected:
      FailureText(
        heading: "Das ist die Adresse einer anderen Website",
        explanation: "Die Anfrage galt einer Website, die hier nicht zu Hause ist.",
        advice: "Prüfen Sie die Adresse in Ihrem Browser.")
    case .tooManyRequests:
      FailureText(
        heading: "Zu viele Anfragen",
        explanation: "Von Ihnen kamen mehr Anfragen, als in so kurzer Zeit angenommen werden.",
        advice: "Bitte warten Sie eine halbe Minute und versuchen Sie es noch einmal.")
    case .headTooLarge:
      FailureText(
        heading: "Die Anfrage bringt zu viel mit",
        explanation: "Ihr Kopf ist mit allen Cookies größer, als hier angenommen wird.",
        advice: "Meist hilft es, die Cookies dieser Website zu löschen.")
    case .internalError:
      FailureText(
        heading: "Hier ist etwas schiefgegangen",
        explanation: "Der Fehler liegt bei uns, nicht bei Ihnen.",
        advice: "Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, sagen Sie denen Bescheid, die "
          + "\(application) betreiben.")
    case .notImplemented:
      FailureText(
        heading: "Das wird nicht unterstützt",
        explanation: "Die Anfrage verwendet etwas, das hier nicht unterstützt wird.")
    case .badGateway:
      FailureText(
        heading: "\(application) hat nicht richtig geantwortet",
        explanation: "Bis zur Tür sind Sie gekommen, aber die Anwendung dahinter gab keine brauchbare Antwort.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .unavailable:
      FailureText(
        heading: "\(application) ist gerade nicht verfügbar",
        explanation: "Die Anwendung startet, wird beendet oder ist stark ausgelastet.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) hat zu lange nicht geantwortet",
        explanation: "Bis zur Tür sind Sie gekommen, aber die Anwendung dahinter hat nicht rechtzeitig geantwortet.",
        advice: "Bitte versuchen Sie es gleich noch einmal.")
    case .versionNotSupported:
      FailureText(
        heading: "Diese HTTP-Version wird nicht unterstützt",
        explanation: "Die Anfrage verwendet eine HTTP-Version, die hier nicht gesprochen wird.")
    }
  }
}
