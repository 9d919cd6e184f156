/// Chinese in simplified characters. Between Chinese and Latin stands a space.
struct ChineseTexts: PageTexts {
  let language = "zh-Hans"
  let direction = TextDirection.leftToRight

  func text(_ key: PageText) -> String {
    switch key {
    case .signInTitle(let application): "登录 \(application)"
    case .signInExplanation(let application): "你将使用 Apple 账户登录 \(application)。无需设置新密码，是否共享电子邮件地址也由你决定。"
    case .signOutQuestion(let application): "要退出登录 \(application) 吗？"
    case .signedInAs: "你当前登录的身份是"
    case .signOutExplanation: "这会结束你在此浏览器中的会话。你的 Apple 账户不受影响。"
    case .signOutButton: "退出登录"
    case .stayButton: "保持登录"
    case .signedOutTitle: "你已退出登录"
    case .signedOutExplanation(let application):
      "你在此浏览器中的 \(application) 会话已结束。如果与他人共用这台设备，请同时退出你的 Apple 账户。"
    case .signInAgainButton: "重新登录"
    case .signInButton: "登录"
    case .repostTitle: "请稍候…"
    case .repostExplanation: "正在完成登录。如果页面没有变化，请点按“继续”。"
    case .scriptNeeded: "此登录需要 JavaScript。请为本网站启用它，然后重试。"
    case .continueButton: "继续"
    case .tryAgainButton: "重试"
    case .startPageButton: "前往首页"
    case .otherAccountButton: "使用其他 Apple 账户"
    case .requestIDLabel: "请求"
    case .failureTitle(let heading, let application): "\(heading) – \(application)"
    }
  }
}
