extension JapaneseTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "\(application)のアカウント"
    case .nameLabel: "名前"
    case .emailLabel: "メールアドレス"
    case .notShared: "共有されていません"
    case .relayNote(let application): "Appleが作成した転送用のアドレスです。メールはあなたに転送され、本来のアドレスは\(application)に公開されません。"
    case .relayOffNote(let application):
      "Appleが作成した転送用のアドレスです。本来のアドレスは\(application)に公開されませんが、現在メールは転送されていません。"
        + "転送はApple\u{A0}Accountの設定でオンにできます。"
    case .unverifiedNote: "このアドレスはAppleによって確認されていません。"
    case .groupsLabel: "グループ"
    case .ownSessionsHeading: "サインイン中のブラウザ"
    case .thisBrowser: "このブラウザ"
    case .browser(let name, let device): "\(device)の\(name)"
    case .unknownBrowser: "不明なブラウザ"
    case .beganLabel: "サインイン日時："
    case .lastSeenLabel: "最終利用："
    case .endOthersButton: "ほかのすべてからサインアウト"
    case .moreSessions(let count): "ここに表示されていないセッション：\(count)"
    case .endedOne: "もう一方のブラウザからサインアウトしました。"
    case .endedOthers: "ほかのすべてのブラウザからサインアウトしました。"
    case .stopQuestion(let application): "\(application)の使用をやめますか？"
    case .stopButton(let application): "\(application)の使用をやめる"
    case .stopExplanation(let application):
      "\(application)とApple\u{A0}Accountとの接続を終了します。名前、メールアドレス、セッションがここから削除され、すべてのブラウザからサインアウトします。"
    case .stopHereExplanation(let application):
      "名前、メールアドレス、セッションがここから削除され、すべてのブラウザからサインアウトします。"
        + "\(application)とApple\u{A0}Accountとの接続は、Apple\u{A0}Accountの設定で削除するまでApple側に残ります。"
    case .stopAdvice(let application): "\(application)自体に保存した内容は削除されません。これについては管理者にお問い合わせください。"
    case .keepUsingButton: "キャンセル"
    case .farewellTitle(let application): "\(application)の使用をやめました"
    case .farewellExplanation(let application):
      "\(application)とApple\u{A0}Accountとの接続を終了しました。名前、メールアドレス、セッションはここから削除されました。"
    case .farewellHereExplanation(let application):
      "名前、メールアドレス、セッションはここから削除されました。"
        + "Apple\u{A0}Accountとの接続も終了するには、Apple\u{A0}Accountの設定を開き、「Appleでサインイン」から\(application)を削除してください。"
    case .notRevokedTitle: "Appleの確認が取れませんでした"
    case .notRevokedExplanation(let application):
      "\(application)とApple\u{A0}Accountとの接続をAppleで終了できませんでした。何も削除されておらず、サインインしたままです。"
    case .notRevokedAdvice(let application): "数分後にもう一度お試しください。繰り返し起きる場合は、\(application)の管理者にお問い合わせください。"
    }
  }
}
