extension GermanTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept:
      "Auf dieser Seite bleiben Ihre Eingaben erhalten, und nur hier. Melden Sie sich in einem neuen Tab "
        + "an, kommen Sie dann hierher zurück und senden Sie das Formular."
    case .ready: "Sie sind angemeldet. Sie können das Formular jetzt senden."
    case .sendButton: "Formular senden"
    case .otherAccount:
      "Sie sind mit einem anderen Account angemeldet. Das Formular kann nur mit dem Account gesendet werden, "
        + "mit dem es ausgefüllt wurde."
    case .keepingNeedsScript: "Ohne JavaScript kann diese Seite Ihre Eingaben nicht behalten."
    case .notKept:
      "Diese Seite konnte Ihre Eingaben nicht behalten. Wenn Sie sie wiederhaben möchten, gehen Sie zurück "
        + "und kopieren Sie sie. Melden Sie sich dann an und füllen Sie das Formular noch einmal aus."
    case .signedInTitle: "Sie sind angemeldet"
    case .signedInExplanation:
      "Gehen Sie zurück zum Tab mit Ihrem Formular, um es zu senden. Diesen Tab können Sie schließen."
    }
  }
}
