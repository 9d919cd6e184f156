internal import WebFormats

extension PageRenderer {
  /// The page of a failure, for people.
  ///
  /// - Parameters:
  ///   - failure: what happened.
  ///   - requestID: what the operator finds the request by.
  ///   - returnTo: the path that was wanted: where "try again" leads, and where signing in leads in the end.
  ///   - user: the address or the name of the signed-in user whom it refuses, if known.
  package func failure(
    _ failure: PageFailure, requestID: String? = nil, returnTo: String = "/", user: String? = nil
  ) -> RenderedPage {
    self.failure(failure, requestID: requestID, returnTo: returnTo, advice: nil, user: user)
  }

  /// - Parameter advice: stands in for that of the failure.
  func failure(
    _ failure: PageFailure, requestID: String?, returnTo: String, advice: String?, user: String? = nil
  ) -> RenderedPage {
    let said = texts.text(failure, application: applicationName)
    var values = [
      "heading": Markup(escapingOwn: said.heading), "explanation": Markup(escapingOwn: said.explanation),
      "status": Markup(escaping: String(failure.status)), "failure": Markup(escaping: failure.rawValue),
    ]
    if let advice = advice ?? said.advice { values["advice"] = Markup(escapingOwn: advice) }
    values.merge(signedIn(as: user)) { $1 }
    for (way, key) in zip(failure.ways, ["way", "otherWay"]) {
      values[key] = link(way, returnTo: returnTo).href
      values[key + "Label"] = label(way)
    }
    var page = page(
      .failure,
      PageFrame(
        status: failure.status, title: text(.failureTitle(heading: said.heading, application: applicationName)),
        requestID: requestID),
      values)
    page.extraFields = Self.retryFields(failure)
    return page
  }

  /// The same for programs: `{"error", "message", "request_id"}`, and `sign_in` with the path of the sign-in page where
  /// signing in would help.
  package func failureJSON(_ failure: PageFailure, requestID: String? = nil) -> RenderedPage {
    failureJSON(failure, requestID: requestID, adding: [])
  }

  /// - Parameter others: further members.
  func failureJSON(
    _ failure: PageFailure, requestID: String?, adding others: [(String, String)]
  ) -> RenderedPage {
    let said = texts.text(failure, application: applicationName)
    var members = [("error", failure.rawValue), ("message", said.explanation)]
    if let requestID { members.append(("request_id", requestID)) }
    if [.signIn, .signInAgain, .newSignIn].contains(failure.ways.first) {
      members.append(("sign_in", GatewayEndpoint.signIn.path(below: prefix)))
    }
    var page = json(status: failure.status, members + others)
    page.extraFields = Self.retryFields(failure)
    return page
  }

  /// An answer for programs.
  func json(status: Int, _ members: [(String, String)]) -> RenderedPage {
    var json = JSONWriter(escapesMarkup: true)
    json.object { json in for (name, value) in members { json.string(name, value) } }
    return RenderedPage(
      status: status, contentType: "application/json", language: texts.language, body: json.bytes + [0x0A],
      contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'")
  }

  /// The page or the JSON, as the client's `Accept` prefers.
  package func failure(
    _ failure: PageFailure, accept: [UInt8], requestID: String? = nil, returnTo: String = "/", user: String? = nil
  ) -> RenderedPage {
    prefersHTML(accept: accept)
      ? self.failure(failure, requestID: requestID, returnTo: returnTo, user: user)
      : failureJSON(failure, requestID: requestID)
  }

  /// The values that name the signed-in user; none if the user is not known.
  func signedIn(as user: String?) -> [String: Markup] {
    guard let user, !user.isEmpty else { return [:] }
    return ["signedInAs": text(PageText.signedInAs), "user": Markup(escaping: user)]
  }

  func link(_ way: PageFailure.RecoveryAction, returnTo: String) -> Link {
    let signIn = GatewayEndpoint.signIn.path(below: prefix)
    return switch way {
    // On a host, the session of public_url would be handed over once more.
    case .newSignIn where isOfHost, .otherAccount where isOfHost:
      Link(page: signIn, returnTo: returnTo, adding: "&\(Self.newSignIn)=1", origin: linkOrigin)
    case .signIn, .signInAgain, .newSignIn: Link(page: signIn, returnTo: returnTo, origin: linkOrigin)
    case .otherAccount: Link(page: GatewayEndpoint.authorize.path(below: prefix), returnTo: returnTo)
    case .tryAgain, .proceed: Link(path: returnTo, origin: linkOrigin)
    case .startPage: Link(path: "/", origin: linkOrigin)
    }
  }

  /// The query item of `sign-in` that asks for a new sign-in, whatever session the browser has at `public_url`.
  package static let newSignIn = "new"

  private func label(_ way: PageFailure.RecoveryAction) -> Markup {
    switch way {
    case .signIn: text(.signInButton)
    case .signInAgain, .newSignIn, .tryAgain: text(.tryAgainButton)
    case .otherAccount: text(.otherAccountButton)
    case .proceed: text(.continueButton)
    case .startPage: text(.startPageButton)
    }
  }

  private static func retryFields(_ failure: PageFailure) -> [RenderedPage.Field] {
    failure.retryAfter.map { [RenderedPage.Field("retry-after", String($0))] } ?? []
  }
}
