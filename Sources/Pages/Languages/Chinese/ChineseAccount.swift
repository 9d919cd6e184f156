extension ChineseTexts {
  func text(_ key: AccountText) -> String {
    switch key {
    case .heading(let application): "你在 \(application) 的账户"
    case .nameLabel: "姓名"
    case .emailLabel: "电子邮件地址"
    case .notShared: "未共享"
    case .relayNote(let application): "这是 Apple 为你创建的地址，会将邮件转发给你，并对 \(application) 隐藏你自己的地址。"
    case .relayOffNote(let application):
      "这是 Apple 为你创建的地址，会对 \(application) 隐藏你自己的地址，但目前不会将邮件转发给你。"
        + "你可以在 Apple 账户设置中开启转发。"
    case .unverifiedNote: "Apple 尚未验证此地址。"
    case .groupsLabel: "群组"
    case .ownSessionsHeading: "你已登录的位置"
    case .thisBrowser: "此浏览器"
    case .browser(let name, let device): "\(device) 上的 \(name)"
    case .unknownBrowser: "未知浏览器"
    case .beganLabel: "登录时间："
    case .lastSeenLabel: "上次使用："
    case .endOthersButton: "在所有其他位置退出登录"
    case .moreSessions(let count): "未在此列出的其他会话：\(count)"
    case .endedOne: "另一浏览器已退出登录。"
    case .endedOthers: "你已在所有其他位置退出登录。"
    case .stopQuestion(let application): "要停止使用 \(application) 吗？"
    case .stopButton(let application): "停止使用 \(application)"
    case .stopExplanation(let application):
      "这会结束 \(application) 与你的 Apple 账户之间的连接。你的姓名、电子邮件地址和会话将从这里删除，你会在所有位置退出登录。"
    case .stopHereExplanation(let application):
      "你的姓名、电子邮件地址和会话将从这里删除，你会在所有位置退出登录。"
        + "在你从 Apple 账户设置中移除之前，Apple 会保留 \(application) 与你的 Apple 账户之间的连接。"
    case .stopAdvice(let application): "你保存在 \(application) 中的内容不会被删除。如有疑问，请联系其管理员。"
    case .keepUsingButton: "取消"
    case .farewellTitle(let application): "你已停止使用 \(application)"
    case .farewellExplanation(let application):
      "\(application) 已不再与你的 Apple 账户连接。你的姓名、电子邮件地址和会话已从这里删除。"
    case .farewellHereExplanation(let application):
      "你的姓名、电子邮件地址和会话已从这里删除。"
        + "如要同时结束与你的 Apple 账户之间的连接，请打开 Apple 账户设置，在“通过 Apple 登录”下移除 \(application)。"
    case .notRevokedTitle: "Apple 未确认此操作"
    case .notRevokedExplanation(let application): "未能在 Apple 端结束 \(application) 与你的 Apple 账户之间的连接。没有删除任何内容，你仍处于登录状态。"
    case .notRevokedAdvice(let application):
      "请几分钟后再试。如果再次出现这种情况，请联系 \(application) 的管理员。"
    }
  }
}
