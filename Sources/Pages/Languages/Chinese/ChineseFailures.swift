extension ChineseTexts {
  func text(_ failure: PageFailure, application: String) -> FailureText {
    switch failure {
    case .signInRequired:
      FailureText(
        heading: "请先登录",
        explanation: "你需要登录才能查看此内容。")
    case .reauthenticationRequired:
      FailureText(
        heading: "请重新登录",
        explanation: "要访问 \(application) 的这一部分，你需要重新登录。",
        advice: "如果你提交了表单，其内容并未送达。请先返回上一页复制填写的内容，再登录。")
    case .formNotSent:
      FailureText(
        heading: "表单未发送",
        explanation: "你已退出登录 \(application)，因此填写的内容没有发送，也没有保存。",
        advice: "如需保留填写的内容，请返回上一页并复制。然后登录，重新填写表单。")
    case .formIncomplete:
      FailureText(
        heading: "表单未完整发送",
        explanation: "你目前未登录 \(application)，因此表单在发送途中被中断，没有完整送达。",
        advice: "如需保留填写的内容，请返回上一页并复制。然后登录，确认是否有内容已保存，再重新填写表单。")
    case .formUnanswered:
      FailureText(
        heading: "表单可能已被处理",
        explanation: "你目前未登录 \(application)。表单已发送，但尚未收到回应。",
        advice: "请先登录，确认表单是否已被处理，再决定是否重新发送。")
    case .cancelled:
      FailureText(
        heading: "登录已取消",
        explanation: "你在 Apple 的页面上取消了登录。没有共享任何信息，你也没有登录。")
    case .cancelledAgain:
      FailureText(
        heading: "你仍处于登录状态",
        explanation: "你在 Apple 的页面上取消了新的登录。没有共享任何信息，当前会话继续有效。")
    case .attemptExpired:
      FailureText(
        heading: "登录用时过长",
        explanation: "登录须在十分钟内完成。",
        advice: "请重新开始。")
    case .attemptUnknown:
      FailureText(
        heading: "这次登录是在其他浏览器中开始的",
        explanation: "Apple 的回应与此浏览器中的任何登录都不对应。你可能是在其他浏览器或无痕窗口中开始登录的，也可能是 Cookie 被阻止了。",
        advice: "请允许此网站使用 Cookie，然后重试。")
    case .attemptUsed:
      FailureText(
        heading: "你已完成这次登录",
        explanation: "Apple 的每个回应只能使用一次。重新载入页面或返回上一页都可能来到这里。")
    case .attemptEnded:
      FailureText(
        heading: "这次登录已结束",
        explanation: "Apple 的每个回应只能使用一次，而这个回应已被使用。重新载入页面可能会来到这里。",
        advice: "请重新开始。")
    case .answerInvalid:
      FailureText(
        heading: "未能接受 Apple 的回应",
        explanation: "回应缺少部分内容或无法验证，因此你没有登录。",
        advice: "请重试。如果再次出现这种情况，请联系 \(application) 的管理员。")
    case .appleRefused:
      FailureText(
        heading: "目前无法登录",
        explanation: "Apple 未接受 \(application) 的请求。你的 Apple 账户没有问题，你也没有做错什么。",
        advice: "请联系 \(application) 的管理员。")
    case .appleUnreachable:
      FailureText(
        heading: "Apple 没有回应",
        explanation: "无法连接 Apple，因此未能完成登录。",
        advice: "请过一分钟再试。")
    case .storeUnavailable:
      FailureText(
        heading: "暂时无法登录",
        explanation: "\(application) 目前无法载入或保存登录信息。",
        advice: "请过一分钟再试。")
    case .forbidden:
      FailureText(
        heading: "此账户无权访问",
        explanation: "你已登录，但你的 Apple 账户无权查看此页面。",
        advice: "如果你需要访问权限，请联系 \(application) 的管理员。")
    case .closed:
      FailureText(
        heading: "此页面不可用",
        explanation: "无论是否登录，任何人都不能打开此页面。")
    case .network:
      FailureText(
        heading: "你所在的网络无法访问",
        explanation: "\(application) 的这个页面只能从特定网络打开。",
        advice: "请连接到正确的网络（例如通过 VPN），然后重试。")
    case .banned:
      FailureText(
        heading: "你的账户已被停用",
        explanation: "\(application) 的管理员停用了你的账户。",
        advice: "如果你认为这是误会，请联系 \(application) 的管理员。")
    case .accessRequestsFull:
      FailureText(
        heading: "目前无法再提交申请",
        explanation: "申请访问的人太多，你的申请没有保存。",
        advice: "请联系 \(application) 的管理员，或稍后再试。")
    case .invitationInvalid:
      FailureText(
        heading: "此邀请无效",
        explanation: "它已用完、已过期或已撤回，或者链接不完整。",
        advice: "请索取新的邀请。")
    case .emailHidden:
      FailureText(
        heading: "隐藏电子邮件地址时无法访问",
        explanation: "访问权限取决于你的电子邮件地址，而你对 \(application) 隐藏了该地址。",
        advice: "如要共享，请打开 Apple 账户设置，在“通过 Apple 登录”下移除 \(application)，然后重新登录。")
    case .emailMissing:
      FailureText(
        heading: "没有电子邮件地址，无法访问",
        explanation: "访问权限取决于你的电子邮件地址，而你的 Apple 账户没有提供。",
        advice: "请联系 \(application) 的管理员，或使用有电子邮件地址的账户。")
    case .emailNotVerified:
      FailureText(
        heading: "你的电子邮件地址未经验证",
        explanation: "访问权限取决于你的电子邮件地址，而 Apple 尚未验证该地址。",
        advice: "请在 Apple 账户设置中完成验证，然后重新登录。")
    case .crossSite:
      FailureText(
        heading: "请在我们自己的页面上操作",
        explanation: "此请求来自其他网站，因此未作任何更改。")
    case .badRequest:
      FailureText(
        heading: "此请求无效",
        explanation: "地址或请求有误。",
        advice: "请检查地址，或前往首页。")
    case .notFound:
      FailureText(
        heading: "找不到页面",
        explanation: "此地址没有对应的页面。",
        advice: "请检查地址，或前往首页。")
    case .methodNotAllowed:
      FailureText(
        heading: "无法在此执行该操作",
        explanation: "页面存在，但不接受这种请求。")
    case .requestTimeout:
      FailureText(
        heading: "请求用时过长",
        explanation: "请求未能及时完整到达。",
        advice: "请检查网络连接，然后重试。")
    case .lengthRequired:
      FailureText(
        heading: "缺少长度信息",
        explanation: "只有事先声明长度，才能接受这种大小的内容，因此未处理。")
    case .contentTooLarge:
      FailureText(
        heading: "内容过大",
        explanation: "发送的内容超出了这里可接受的大小，因此未处理。")
    case .targetTooLong:
      FailureText(
        heading: "地址过长",
        explanation: "超出了这里可接受的长度。")
    case .unsupportedMediaType:
      FailureText(
        heading: "不接受此类数据",
        explanation: "发送内容的格式在这里无法识别。")
    case .expectationFailed:
      FailureText(
        heading: "不支持此请求",
        explanation: "它要求了这里不支持的内容。")
    case .misdirected:
      FailureText(
        heading: "这是其他网站的地址",
        explanation: "所请求的网站在这里不可用。",
        advice: "请检查浏览器中的地址。")
    case .tooManyRequests:
      FailureText(
        heading: "请求过多",
        explanation: "你在短时间内发出的请求超出了可接受的数量。",
        advice: "请等待半分钟，然后重试。")
    case .headTooLarge:
      FailureText(
        heading: "请求过大",
        explanation: "请求标头（包括 Cookie）超出了这里允许的大小。",
        advice: "清除此网站的 Cookie 通常可以解决问题。")
    case .internalError:
      FailureText(
        heading: "出了点问题",
        explanation: "这是我们的错误，不是你的问题。",
        advice: "请重试。如果再次出现这种情况，请联系 \(application) 的管理员。")
    case .notImplemented:
      FailureText(
        heading: "不支持此操作",
        explanation: "请求使用了这里不支持的功能。")
    case .badGateway:
      FailureText(
        heading: "\(application) 没有正确回应",
        explanation: "应用没有发送有效的回应。",
        advice: "请稍后重试。")
    case .unavailable:
      FailureText(
        heading: "\(application) 暂时不可用",
        explanation: "应用正在启动、停止，或者非常繁忙。",
        advice: "请稍后重试。")
    case .gatewayTimeout:
      FailureText(
        heading: "\(application) 没有回应",
        explanation: "应用没有及时回应。",
        advice: "请稍后重试。")
    case .versionNotSupported:
      FailureText(
        heading: "不支持该 HTTP 版本",
        explanation: "请求使用了这里不支持的 HTTP 版本。")
    }
  }
}
