internal import WebFormats

/// The contents of the account page: what is known of a user, and the user's sessions.
package struct AccountDescription: Sendable {
  /// The name, as the user gave it at Apple.
  package var name: String?
  /// The address, as Apple gave it.
  package var email: String?
  /// The kind of the address.
  package var emailKind: EmailKind
  /// The names of the user's groups.
  package var groups: [String]
  /// The sessions to show, in this order.
  package var sessions: [Session]
  /// The number of sessions that are not shown.
  package var moreSessions: Int

  /// The kind of an address.
  package enum EmailKind: Sendable {
    /// Verified, the user's own.
    case verified
    /// Not verified.
    case unverified
    /// Of Apple's mail relay.
    case relay
    /// Of Apple's mail relay, which forwards no mail, because its user has switched that off.
    case relayOff
  }

  /// A session of the user.
  package struct Session: Sendable {
    /// The public session ID.
    let id: String
    let userAgent: String?
    let began: PageTime
    let lastSeen: PageTime
    /// Whether the page is shown in it.
    let isThis: Bool

    /// A session; exactly one of a page is the one that it is shown in.
    package init(id: String, userAgent: String?, began: PageTime, lastSeen: PageTime, isThis: Bool) {
      self.id = id
      self.userAgent = userAgent
      self.began = began
      self.lastSeen = lastSeen
      self.isThis = isThis
    }
  }

  /// An account.
  /// - Parameters:
  ///   - sessions: those to show, in their order.
  ///   - moreSessions: the number of others.
  package init(
    name: String?, email: String?, emailKind: EmailKind = .verified, groups: [String] = [], sessions: [Session],
    moreSessions: Int = 0
  ) {
    self.name = name
    self.email = email
    self.emailKind = emailKind
    self.groups = groups
    self.sessions = sessions
    self.moreSessions = moreSessions
  }
}

/// A change that the account page confirms. The raw value stands in the page's address.
package enum AccountChange: String, Sendable, CaseIterable {
  /// One other session was ended.
  case endedOne = "one"
  /// All others were ended.
  case endedOthers = "others"
}

/// The reach of an account's deletion, as the page that confirms it says.
package enum AccountDeletion: String, Sendable {
  /// A token was revoked at Apple.
  case withConnection = "connection"
  /// There was no token to revoke: Apple keeps the user's consent.
  case here
}

extension PageRenderer {
  /// The account page.
  ///
  /// - Parameter change: what was done just before.
  package func account(_ account: AccountDescription, after change: AccountChange? = nil) -> RenderedPage {
    let notShared = text(.notShared)
    var values: [String: Markup] = [
      "heading": text(.heading(application: applicationName)),
      "nameLabel": text(.nameLabel), "name": account.name.map { Markup(escaping: $0) } ?? notShared,
      "emailLabel": text(.emailLabel), "email": account.email.map { Markup(escaping: $0) } ?? notShared,
      "sessionsHeading": text(.ownSessionsHeading), "sessions": list(account.sessions),
      "signOut": Link(path: GatewayEndpoint.signOut.path(below: prefix)).href, "signOutLabel": text(.signOutButton),
      "stop": Link(path: GatewayEndpoint.accountStop.path(below: prefix)).href,
      "stopLabel": text(.stopButton(application: applicationName)),
    ]
    if account.email != nil {
      switch account.emailKind {
      case .verified: break
      case .unverified: values["emailNote"] = text(.unverifiedNote)
      case .relay: values["emailNote"] = text(.relayNote(application: applicationName))
      case .relayOff: values["emailNote"] = text(.relayOffNote(application: applicationName))
      }
    }
    if !account.groups.isEmpty {
      values["groupsLabel"] = text(.groupsLabel)
      let groups = account.groups.map { name in "<li><bdi>\(name)</bdi></li>" as Markup }
      values["groups"] = "<ul class=\"tags\" role=\"list\">\(Markup(lines: groups))</ul>"
    }
    if account.moreSessions > 0 { values["moreSessions"] = text(.moreSessions(account.moreSessions)) }
    let hasOthers = account.moreSessions > 0 || account.sessions.contains { !$0.isThis }
    if hasOthers {
      values["endOthers"] = form("others", "end", .button(text(.endOthersButton), style: "act"))
    }
    switch change {
    case .endedOne?: values["notice"] = text(.endedOne)
    case .endedOthers?: values["notice"] = text(.endedOthers)
    case nil: break
    }
    return page(
      .account,
      PageFrame(
        title: text(.heading(application: applicationName)), formAction: hasOthers ? .sameOrigin : .nowhere,
        style: Markup(trusted: Stylesheet.controls) + Markup(trusted: AccountStylesheet.text)),
      values)
  }

  /// The question before the user's data is deleted. Its form is posted to `account/stop`.
  ///
  /// - Parameter endsConnection: whether there is a token to revoke at Apple.
  package func stopQuestion(endsConnection: Bool) -> RenderedPage {
    let explanation: AccountText =
      endsConnection
      ? .stopExplanation(application: applicationName) : .stopHereExplanation(application: applicationName)
    return question(
      heading: text(.stopQuestion(application: applicationName)), explanation: text(explanation),
      advice: text(.stopAdvice(application: applicationName)),
      confirm: text(.stopButton(application: applicationName)))
  }

  /// The page if Apple did not confirm the revocation: everything was kept, and the same form tries again.
  package func notRevoked() -> RenderedPage {
    question(
      status: 502, heading: text(.notRevokedTitle),
      explanation: text(.notRevokedExplanation(application: applicationName)),
      advice: text(.notRevokedAdvice(application: applicationName)), confirm: text(.tryAgainButton))
  }

  /// The page after the user's data was deleted.
  package func farewell(after deletion: AccountDeletion) -> RenderedPage {
    let explanation: AccountText =
      switch deletion {
      case .withConnection: .farewellExplanation(application: applicationName)
      case .here: .farewellHereExplanation(application: applicationName)
      }
    return page(
      .notice, PageFrame(title: text(.farewellTitle(application: applicationName))),
      [
        "heading": text(.farewellTitle(application: applicationName)),
        "explanation": text(explanation),
        "way": Link(path: GatewayEndpoint.signIn.path(below: prefix)).href, "wayLabel": text(.signInAgainButton),
      ])
  }

  private func question(
    status: Int = 200, heading: Markup, explanation: Markup, advice: Markup, confirm: Markup
  ) -> RenderedPage {
    page(
      .question, PageFrame(status: status, title: heading, formAction: .sameOrigin),
      [
        "heading": heading, "explanation": explanation, "advice": advice,
        "action": Link(path: GatewayEndpoint.accountStop.path(below: prefix)).href,
        "fields": Markup(hiddenFields: [("stop", "yes")]), "confirmButton": confirm,
        "stay": Link(path: GatewayEndpoint.account.path(below: prefix)).href, "stayLabel": text(.keepUsingButton),
      ])
  }

  /// The sessions as a list, each with a button that ends it; a screen reader reads the button's name with the browser
  /// and the time of the sign-in.
  private func list(_ sessions: [AccountDescription.Session]) -> Markup {
    let items = sessions.enumerated().map { number, session in
      var mark: Markup = ""
      var end: Markup = ""
      if session.isThis {
        mark = " <span class=\"badge\">\(text(.thisBrowser))</span>"
      } else {
        end = form(
          "session", session.id,
          .button(
            text(.signOutButton), style: "act", id: "end-\(number)",
            concerning: "browser-\(number) began-\(number)"))
      }
      return """
        <li>
        <div>
        <h3><span id="browser-\(number)">\(browser(session.userAgent))</span>\(mark)</h3>
        <p id="began-\(number)">\(text(.beganLabel)) \(Markup.time(session.began))</p>
        <p>\(text(.lastSeenLabel)) \(Markup.time(session.lastSeen))</p>
        </div>
        \(end)
        </li>
        """ as Markup
    }
    return "<ul class=\"items\" role=\"list\">\n\(Markup(lines: items))\n</ul>"
  }

  /// A form of one hidden field and a button, posted to the account page.
  private func form(_ name: String, _ value: String, _ button: Markup) -> Markup {
    Form(action: Link(path: GatewayEndpoint.account.path(below: prefix)), hidden: [(name, value)]).markup(button)
  }

  /// A browser in everyday words; an unknown one as it names itself.
  func browser(_ userAgent: String?) -> Markup {
    guard let userAgent else { return text(.unknownBrowser) }
    guard let name = BrowserName(userAgent: userAgent) else { return "<bdi>\(userAgent)</bdi>" }
    guard let device = name.device else { return Markup(escaping: name.browser) }
    return text(.browser(name.browser, device: device))
  }

  func text(_ key: AccountText) -> Markup { Markup(escapingOwn: texts.text(key)) }
}
