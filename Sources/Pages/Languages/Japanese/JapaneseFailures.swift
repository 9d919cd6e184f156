extension JapaneseTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "サインインしてください",
        explanation: "このページを表示するには、サインインが必要です。")
    case .reauthenticationRequired:
      FailureText(
        heading: "もう一度サインインしてください",
        explanation: "\(application)のこのページを表示するには、サインインし直す必要があります。",
        advice: "フォームを送信した場合、その内容は届いていません。サインインする前に、前のページに戻って入力内容をコピーしてください。")
    case .formNotSent:
      FailureText(
        heading: "フォームは送信されませんでした",
        explanation: "\(application)からサインアウトしているため、入力内容は送信も保存もされていません。",
        advice: "入力内容を残すには、前のページに戻ってコピーしてください。そのあとサインインして、もう一度フォームに入力してください。")
    case .formIncomplete:
      FailureText(
        heading: "フォームは最後まで送信されませんでした",
        explanation: "\(application)にサインインしていないため、フォームは送信の途中で中断され、最後まで届いていません。",
        advice: "入力内容を残すには、前のページに戻ってコピーしてください。そのあとサインインし、保存されたものがないか確認してから、もう一度フォームに入力してください。")
    case .formUnanswered:
      FailureText(
        heading: "フォームは処理された可能性があります",
        explanation: "\(application)にサインインしていません。フォームは送信済みですが、応答はまだ届いていませんでした。",
        advice: "もう一度送信する前に、サインインして、フォームが処理されたかどうかを確認してください。")
    case .cancelled:
      FailureText(
        heading: "サインインをキャンセルしました",
        explanation: "Appleの画面でキャンセルされました。何も共有されておらず、サインインもしていません。")
    case .cancelledAgain:
      FailureText(
        heading: "サインインしたままです",
        explanation: "Appleの画面で新しいサインインがキャンセルされました。何も共有されておらず、セッションは継続しています。")
    case .attemptExpired:
      FailureText(
        heading: "サインインに時間がかかりすぎました",
        explanation: "サインインは10分以内に完了する必要があります。",
        advice: "もう一度最初からお試しください。")
    case .attemptUnknown:
      FailureText(
        heading: "別のブラウザで開始されたサインインです",
        explanation: "Appleからの応答に対応するサインインが、このブラウザにはありません。別のブラウザやプライベートウインドウで開始したか、Cookieがブロックされている可能性があります。",
        advice: "このサイトのCookieを許可してから、もう一度お試しください。")
    case .attemptUsed:
      FailureText(
        heading: "このサインインはすでに完了しています",
        explanation: "Appleからの応答は1回しか使えません。ページの再読み込みや「戻る」操作で、このページが表示されることがあります。")
    case .attemptEnded:
      FailureText(
        heading: "このサインインは終了しています",
        explanation: "Appleからの応答は1回しか使えず、この応答はすでに使われています。ページの再読み込みで、このページが表示されることがあります。",
        advice: "もう一度最初からお試しください。")
    case .answerInvalid:
      FailureText(
        heading: "Appleからの応答を受け付けられませんでした",
        explanation: "応答の一部が欠けているか、確認できなかったため、サインインは行われませんでした。",
        advice: "もう一度お試しください。繰り返し起きる場合は、\(application)の管理者にお問い合わせください。")
    case .appleRefused:
      FailureText(
        heading: "現在サインインを利用できません",
        explanation: "\(application)からのリクエストがAppleに受け付けられませんでした。お使いのApple\u{A0}Accountにも、操作にも問題はありません。",
        advice: "\(application)の管理者にお問い合わせください。")
    case .appleUnreachable:
      FailureText(
        heading: "Appleから応答がありません",
        explanation: "サインインを完了するためにAppleに接続しようとしましたが、できませんでした。",
        advice: "1分ほどたってから、もう一度お試しください。")
    case .storeUnavailable:
      FailureText(
        heading: "一時的にサインインを利用できません",
        explanation: "\(application)は現在、サインイン情報の読み込みや保存ができません。",
        advice: "1分ほどたってから、もう一度お試しください。")
    case .forbidden:
      FailureText(
        heading: "このアカウントではアクセスできません",
        explanation: "サインインしていますが、お使いのApple\u{A0}Accountにはこのページを表示する権限がありません。",
        advice: "アクセスが必要な場合は、\(application)の管理者にお問い合わせください。")
    case .closed:
      FailureText(
        heading: "このページは利用できません",
        explanation: "サインインしているかどうかにかかわらず、このページは誰も開けません。")
    case .network:
      FailureText(
        heading: "お使いのネットワークからは利用できません",
        explanation: "\(application)のこのページは、特定のネットワークからのみ開けます。",
        advice: "VPNなどで正しいネットワークに接続してから、もう一度お試しください。")
    case .banned:
      FailureText(
        heading: "このアカウントは利用停止になっています",
        explanation: "\(application)の管理者が、お使いのアカウントの利用を停止しました。",
        advice: "間違いだと思われる場合は、\(application)の管理者にお問い合わせください。")
    case .accessRequestsFull:
      FailureText(
        heading: "現在、申請を受け付けていません",
        explanation: "アクセスの申請が多すぎるため、今回の申請は保存されませんでした。",
        advice: "\(application)の管理者に問い合わせるか、後でもう一度お試しください。")
    case .invitationInvalid:
      FailureText(
        heading: "この招待は有効ではありません",
        explanation: "使用済み、期限切れ、または取り消されたか、リンクが途中で切れています。",
        advice: "新しい招待を依頼してください。")
    case .emailHidden:
      FailureText(
        heading: "メールアドレスが非公開のためアクセスできません",
        explanation: "アクセスの可否はメールアドレスで判断されますが、\(application)に対して非公開になっています。",
        advice: "共有するには、Apple\u{A0}Accountの設定を開き、「Appleでサインイン」から\(application)を削除して、もう一度サインインしてください。")
    case .emailMissing:
      FailureText(
        heading: "メールアドレスがないためアクセスできません",
        explanation: "アクセスの可否はメールアドレスで判断されますが、お使いのApple\u{A0}Accountからは提供されませんでした。",
        advice: "\(application)の管理者に問い合わせるか、メールアドレスのあるアカウントをお使いください。")
    case .emailNotVerified:
      FailureText(
        heading: "メールアドレスが確認されていません",
        explanation: "アクセスの可否はメールアドレスで判断されますが、Appleによる確認が済んでいません。",
        advice: "Apple\u{A0}Accountの設定でメールアドレスを確認してから、もう一度サインインしてください。")
    case .crossSite:
      FailureText(
        heading: "このサイトのページから操作してください",
        explanation: "別のサイトからのリクエストだったため、何も行われませんでした。")
    case .badRequest:
      FailureText(
        heading: "リクエストが正しくありません",
        explanation: "アドレスまたはリクエストに誤りがあります。",
        advice: "アドレスを確認するか、トップページに移動してください。")
    case .notFound:
      FailureText(
        heading: "ページが見つかりません",
        explanation: "このアドレスにページはありません。",
        advice: "アドレスを確認するか、トップページに移動してください。")
    case .methodNotAllowed:
      FailureText(
        heading: "ここではその操作を行えません",
        explanation: "このページは存在しますが、この種類のリクエストには対応していません。")
    case .requestTimeout:
      FailureText(
        heading: "リクエストに時間がかかりすぎました",
        explanation: "時間内にリクエスト全体が届きませんでした。",
        advice: "接続を確認してから、もう一度お試しください。")
    case .lengthRequired:
      FailureText(
        heading: "データの長さが不明です",
        explanation: "このサイズのデータは、長さが事前に示されている場合にのみ受け付けられるため、処理されませんでした。")
    case .contentTooLarge:
      FailureText(
        heading: "データが大きすぎます",
        explanation: "送信されたデータが受け付けられる大きさを超えているため、処理されませんでした。")
    case .targetTooLong:
      FailureText(
        heading: "アドレスが長すぎます",
        explanation: "受け付けられる長さを超えています。")
    case .unsupportedMediaType:
      FailureText(
        heading: "この種類のデータは受け付けられません",
        explanation: "送信されたデータの形式には対応していません。")
    case .expectationFailed:
      FailureText(
        heading: "このリクエストには対応していません",
        explanation: "ここでは対応していないことが要求されています。")
    case .misdirected:
      FailureText(
        heading: "これは別のサイトのアドレスです",
        explanation: "ここでは提供していないサイトへのリクエストです。",
        advice: "ブラウザのアドレスを確認してください。")
    case .tooManyRequests:
      FailureText(
        heading: "リクエストが多すぎます",
        explanation: "短い時間に、受け付けられる数を超えるリクエストがありました。",
        advice: "30秒ほど待ってから、もう一度お試しください。")
    case .headTooLarge:
      FailureText(
        heading: "リクエストが大きすぎます",
        explanation: "Cookieを含むヘッダが、許可されている大きさを超えています。",
        advice: "多くの場合、このサイトのCookieを削除すると解決します。")
    case .internalError:
      FailureText(
        heading: "問題が発生しました",
        explanation: "こちら側の問題であり、お客様の操作が原因ではありません。",
        advice: "もう一度お試しください。繰り返し起きる場合は、\(application)の管理者にお問い合わせください。")
    case .notImplemented:
      FailureText(
        heading: "対応していません",
        explanation: "リクエストには、ここで対応していない機能が使われています。")
    case .badGateway:
      FailureText(
        heading: "\(application)から正しい応答がありません",
        explanation: "アプリケーションから有効な応答がありませんでした。",
        advice: "しばらくしてから、もう一度お試しください。")
    case .unavailable:
      FailureText(
        heading: "\(application)を一時的に利用できません",
        explanation: "起動中か終了中、または非常に混み合っています。",
        advice: "しばらくしてから、もう一度お試しください。")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application)から応答がありません",
        explanation: "アプリケーションから時間内に応答がありませんでした。",
        advice: "しばらくしてから、もう一度お試しください。")
    case .versionNotSupported:
      FailureText(
        heading: "このHTTPバージョンには対応していません",
        explanation: "リクエストには、ここで対応していないバージョンのHTTPが使われています。")
    }
  }
}
