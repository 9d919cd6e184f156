extension ChineseTexts {
  func text(_ key: FormText) -> String {
    switch key {
    case .kept: "填写的内容只保留在此页面上。请在新标签页中登录，然后回到这里发送。"
    case .ready: "你已登录，现在可以发送表单。"
    case .sendButton: "发送表单"
    case .otherAccount: "你登录的是另一个账户。此表单只能用填写时的账户发送。"
    case .keepingNeedsScript: "未启用 JavaScript，此页面无法保留你填写的内容。"
    case .notKept: "此页面无法保留你填写的内容。如需保留，请返回上一页并复制。然后登录，重新填写表单。"
    case .signedInTitle: "你已登录"
    case .signedInExplanation: "请回到表单所在的标签页发送表单。你可以关闭此标签页。"
    }
  }
}
