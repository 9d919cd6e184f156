extension JapaneseTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept: "入力内容はこのページだけに残っています。新しいタブでサインインしてから、ここに戻って送信してください。"
    case .ready: "サインインしました。フォームを送信できます。"
    case .sendButton: "フォームを送信"
    case .otherAccount: "別のアカウントでサインインしています。このフォームは、入力したときのアカウントでのみ送信できます。"
    case .keepingNeedsScript: "JavaScriptが無効なため、このページでは入力内容を残せません。"
    case .notKept: "このページでは入力内容を残せませんでした。残すには、前のページに戻ってコピーしてください。そのあとサインインして、もう一度フォームに入力してください。"
    case .signedInTitle: "サインインしました"
    case .signedInExplanation: "フォームのタブに戻って送信してください。このタブは閉じてかまいません。"
    }
  }
}
