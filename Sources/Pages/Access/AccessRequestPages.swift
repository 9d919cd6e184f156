internal import WebFormats

/// The way to ask for access that a refused user has.
package enum AccessRequestState: Sendable, Equatable {
  /// The user may ask.
  case mayAsk
  /// A request waits; the code is as in `K7QF-3MDP`.
  case waits(code: String)
}

extension PageRenderer {
  /// The page of a user whom lists refuse and who may ask for access, or has asked.
  ///
  /// - Parameters:
  ///   - failure: the refusal.
  ///   - returnTo: the path that was wanted.
  ///   - user: the address or the name of the user, if known.
  package func refusal(
    _ failure: PageFailure, _ state: AccessRequestState, requestID: String? = nil, returnTo: String,
    user: String? = nil
  ) -> RenderedPage {
    let said = texts.text(failure, application: applicationName)
    var values = signedIn(as: user)
    values["failure"] = Markup(escaping: failure.rawValue)
    values["explanation"] = Markup(escapingOwn: said.explanation)
    // The section says how to get access, in place of the advice of `forbidden`.
    if failure != .forbidden, let advice = said.advice { values["advice"] = Markup(escapingOwn: advice) }
    return requestPage(
      status: failure.status, heading: said.heading, values, state, requestID: requestID, returnTo: returnTo)
  }

  /// The answer to a request for access: the same page with its code, and another heading.
  ///
  /// - Parameters:
  ///   - returnTo: the path that was wanted.
  ///   - user: the address or the name of the user, if known.
  package func accessRequest(
    _ state: AccessRequestState, requestID: String? = nil, returnTo: String, user: String? = nil
  ) -> RenderedPage {
    let heading: String
    switch state {
    case .mayAsk: heading = texts.text(AccessText.askButton)
    case .waits: heading = texts.text(AccessText.askedTitle)
    }
    var values = signedIn(as: user)
    values["failure"] = "request_access"
    return requestPage(status: 200, heading: heading, values, state, requestID: requestID, returnTo: returnTo)
  }

  /// - Parameter content: what the page says besides, and to whom.
  private func requestPage(
    status: Int, heading: String, _ content: [String: Markup], _ state: AccessRequestState, requestID: String?,
    returnTo: String
  ) -> RenderedPage {
    var values = [
      "heading": Markup(escapingOwn: heading), "status": Markup(escaping: String(status)), "request_access": "1",
      "way": Link(path: returnTo).href, "wayLabel": text(PageText.tryAgainButton),
      "otherWay": link(.otherAccount, returnTo: returnTo).href,
      "otherWayLabel": text(PageText.otherAccountButton),
    ]
    values.merge(content) { $1 }
    switch state {
    case .mayAsk:
      values["requestExplanation"] = text(.askExplanation(application: applicationName))
      values["action"] = Link(path: GatewayEndpoint.requestAccess.path(below: prefix)).href
      values["fields"] = Markup(hiddenFields: [("return_to", Link.local(returnTo))])
      values["requestLabel"] = text(.askButton)
    case .waits(let code):
      values["requestExplanation"] = text(.tellCode(application: applicationName))
      values["requestCodeLabel"] = text(.codeLabel)
      values["requestCode"] = Markup(escaping: code)
      values["requestCodeSpelled"] = Markup(escaping: Self.spelled(code))
    }
    return page(
      .failure,
      PageFrame(
        status: status, title: text(.failureTitle(heading: heading, application: applicationName)),
        requestID: requestID, formAction: state == .mayAsk ? .sameOrigin : .nowhere,
        style: Markup(trusted: Stylesheet.controls)),
      values)
  }

  /// A code as screen readers should say it: sign by sign, with a pause in the middle.
  static func spelled(_ code: String) -> String {
    code.split(separator: "-").map { $0.map(String.init).joined(separator: " ") }.joined(separator: ", ")
  }

  /// The refusal for programs: as other failures, with `request_access`, the address to post to, and `code` if a
  /// request waits.
  package func refusalJSON(
    _ failure: PageFailure, _ state: AccessRequestState, requestID: String? = nil, returnTo: String
  ) -> RenderedPage {
    let address =
      GatewayEndpoint.requestAccess.path(below: prefix) + "?return_to="
      + PercentEncoding.encode(Link.local(returnTo), keepsSlash: true)
    var members = [("request_access", address)]
    if case .waits(let code) = state { members.append(("code", code)) }
    return failureJSON(failure, requestID: requestID, adding: members)
  }

  /// A request that waits, for programs: `{"code", "message"}`.
  package func accessRequestJSON(code: String) -> RenderedPage {
    json(
      status: 200,
      [("code", code), ("message", texts.text(.tellCode(application: applicationName)))])
  }
}
