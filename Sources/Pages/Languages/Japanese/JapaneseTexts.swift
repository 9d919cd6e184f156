/// Japanese. A no-break space keeps "Apple Account" on one line.
struct JapaneseTexts: PageTexts {
  let language = "ja"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "\(application)にサインイン"
    case .signInExplanation(let application):
      "\(application)にはApple\u{A0}Accountでサインインします。新しいパスワードは必要ありません。メールアドレスは、共有するか非公開にするかを選べます。"
    case .signOutQuestion(let application): "\(application)からサインアウトしますか？"
    case .signedInAs: "現在サインイン中のユーザー"
    case .signOutExplanation: "このブラウザでのセッションを終了します。Apple\u{A0}Accountには影響しません。"
    case .signOutButton: "サインアウト"
    case .stayButton: "サインインしたままにする"
    case .signedOutTitle: "サインアウトしました"
    case .signedOutExplanation(let application):
      "このブラウザでの\(application)のセッションは終了しました。ほかの人と共有しているデバイスでは、Apple\u{A0}Accountからもサインアウトしてください。"
    case .signInAgainButton: "もう一度サインイン"
    case .signInButton: "サインイン"
    case .repostTitle: "少々お待ちください…"
    case .repostExplanation: "サインインを完了しています。画面が変わらない場合は「続ける」を押してください。"
    case .scriptNeeded: "このサインインにはJavaScriptが必要です。このサイトで許可してから、もう一度お試しください。"
    case .continueButton: "続ける"
    case .tryAgainButton: "もう一度試す"
    case .startPageButton: "トップページへ"
    case .otherAccountButton: "別のApple\u{A0}Accountを使う"
    case .requestIDLabel: "リクエスト"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
