internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Pages
internal import Sessions
internal import WebFormats

/// Responses of the gate itself: failures, and redirects to sign in.
struct GateResponses {
  private let configuration: GateConfiguration

  init(_ configuration: GateConfiguration) { self.configuration = configuration }

  /// A failure, as a page for browsers that show it to a person, otherwise as JSON.
  /// - Parameter user: the signed-in user whom it refuses.
  func failure(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    to user: Account? = nil
  ) -> ControlResponse {
    if RequestKind.isPageLoad(head, bytes) {
      return ControlResponse(
        pages(head, bytes, request).failure(
          failure, requestID: request.id.description, user: user?.shownAddress))
    }
    return failureJSON(failure, head, bytes, request)
  }

  /// The decision to answer with a failure.
  func refuse(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    label: RequestLabel = .refused
  ) -> GateDecision {
    .answer(self.failure(failure, head, bytes, request), label: label)
  }

  /// A refusal, with the way to ask for access, or with the code of a request that waits.
  func accessRefusal(
    _ failure: PageFailure, _ state: AccessRequestState, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ request: GateRequest, to user: Account
  ) -> ControlResponse {
    let path = ReturnTarget(
      parsing: bytes.extracting(head.pathAndQuery)._unsafeView(as: UInt8.self),
      origin: request.site.origin, prefix: configuration.paths.prefix
    ).path
    let (renderer, id) = (pages(head, bytes, request), request.id.description)
    if RequestKind.isPageLoad(head, bytes) {
      return ControlResponse(
        renderer.refusal(failure, state, requestID: id, returnTo: path, user: user.shownAddress))
    }
    return ControlResponse(renderer.refusalJSON(failure, state, requestID: id, returnTo: path))
  }

  func failureJSON(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ControlResponse {
    ControlResponse(pages(head, bytes, request).failureJSON(failure, requestID: request.id.description))
  }

  /// The refusal of a request that carries a machine token: JSON, as for every client that is not a browser.
  func tokenRefusal(
    _ failure: PageFailure, _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ request: GateRequest
  ) -> ControlResponse {
    var response = failureJSON(failure, head, bytes, request)
    if failure.status == 401 { challenge(&response, route, head, request) }
    return response
  }

  /// Adds the challenges of a 401.
  private func challenge(
    _ response: inout ControlResponse, _ route: RouteDecision, _ head: borrowing RequestHead, _ request: GateRequest
  ) {
    AuthenticationChallenge.add(to: &response, route, head, realm: request.site.origin.authority)
  }

  /// The response to a request that needs a session and has none, or one of a later sign-in.
  func signInFirst(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    because failure: PageFailure = .signInRequired
  ) -> ControlResponse {
    let mayShowPage = mayShowPage(route, head, request)
    guard mayShowPage, RequestKind.isNavigation(head, bytes) else {
      guard mayShowPage, RequestKind.isFormSubmission(head, bytes) else {
        var response = failureJSON(failure, head, bytes, request)
        challenge(&response, route, head, request)
        return response
      }
      let (pages, id) = (pages(head, bytes, request), request.id.description)
      let returnTo = referringPage(head, bytes, request).path
      let shown = failure == .signInRequired ? PageFailure.formNotSent : failure
      return ControlResponse(
        route.keptFormBytes > 0
          ? pages.formNotKept(because: shown, requestID: id, returnTo: returnTo)
          : pages.failure(shown, requestID: id, returnTo: returnTo))
    }
    let wanted = ReturnTarget(
      parsing: bytes.extracting(head.pathAndQuery)._unsafeView(as: UInt8.self),
      origin: request.site.origin, prefix: configuration.paths.prefix)
    // On a host of its own, sign-in begins the visit to public_url.
    let isShort =
      request.site.isPublicURL && !configuration.showsSignInPage && !needsPage(wanted, head, bytes, request)
    let endpoint = isShort ? GatewayEndpoint.authorize : .signIn
    // Apple redirects to public_url only, and the cookie of the sign-in state is set there.
    let origin = request.isAlias ? configuration.origin.description : ""
    let path = endpoint.path(below: configuration.paths.prefix)
    return .redirect(toSignIn: "\(origin)\(path)?return_to=\(wanted.queryValue)")
  }

  /// Whether the sign-in page has to be shown, so that the address is kept: a page of another site caused the request,
  /// and without a click on ours it would begin the sign-in, which keeps short addresses only. An alias is another site
  /// to `public_url`.
  private func needsPage(
    _ wanted: ReturnTarget, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> Bool {
    guard wanted.path.utf8.count > ReturnTarget.maximumCrossSiteLength,
      let line = head.fields.lines.first(where: { bytes.equalsIgnoringCase("sec-fetch-site", $0.name) }),
      !bytes.equals("none", line.value)
    else { return false }
    return request.isAlias || !bytes.equals("same-origin", line.value)
  }

  /// Whether a request without a session may be answered with a page. An app whose token has expired could not follow a
  /// redirect to the sign-in page.
  private func mayShowPage(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ request: GateRequest
  ) -> Bool {
    route.unauthenticated == .automatic && !head.wantsUpgrade && !request.token.isOurs
  }

  /// The form whose entries are to be kept while its user signs in; nil for other requests.
  func keepableForm(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    _ outdated: KeepableForm.OutdatedSignIn? = nil
  ) -> KeepableForm? {
    // The cookie of a session does not arrive at an alias.
    guard route.keptFormBytes > 0, !request.isAlias, mayShowPage(route, head, request),
      RequestKind.isFormSubmission(head, bytes),
      KeepableForm.isOne(head, bytes, limit: route.keptFormBytes, origin: request.site.origins[0])
    else { return nil }
    return KeepableForm(
      limit: route.keptFormBytes, returnTo: referringPage(head, bytes, request).path, outdated: outdated)
  }

  /// The page that a form was on, by `Referer`: the front page if it is unknown or another site's.
  private func referringPage(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ReturnTarget {
    for line in head.fields.lines where bytes.equalsIgnoringCase("referer", line.name) {
      return ReturnTarget(
        parsing: bytes.extracting(line.value)._unsafeView(as: UInt8.self), origin: request.site.origin,
        prefix: configuration.paths.prefix)
    }
    return .frontPage
  }

  /// The pages in the language of the request.
  private func pages(_ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest) -> PageRenderer {
    guard let line = head.fields.line(.acceptLanguage) else { return request.site.pages }
    return request.site.pages.inLanguage(of: LanguagePreferences(acceptLanguage: bytes.array(line.value)))
  }

  /// The response to a request that the data plane could not carry out.
  func failure(status: Int, preferences: ClientPreferences, requestID: String) -> ControlResponse {
    let failure = PageFailure.allCases.first { $0.status == status && $0.isOfProtocol } ?? .badRequest
    let response = response(to: failure, on: site(of: preferences), preferences, requestID)
    // A request that was not read as far as its path may bring Apple's answer.
    return status < 500 ? response.separatedFromOpener() : response
  }

  /// The response to a request that was forwarded, and may not continue. It does not say when to repeat the request,
  /// on which the application may have acted.
  func answer(
    to ending: ExchangeEnding, _ credential: ExchangeCredential, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    let site = site(of: preferences)
    // A body whose sender reads pages is most probably a form, and its user has to know what became of it.
    let isForm = preferences.accept.map { prefersHTML(accept: $0) } ?? false
    let failure = PageFailure(ending, form: isForm ? preferences.body : nil)
    var response = response(to: failure, on: site, preferences, requestID)
    response.head.headerFields[.retryAfter] = nil
    if response.head.status == .unauthorized {
      AuthenticationChallenge.add(
        to: &response, realm: site.origin.authority, takesBasic: credential.isMachineToken)
    }
    return response
  }

  private func site(of preferences: ClientPreferences) -> GateSite {
    preferences.authority.flatMap { configuration.sites.site(of: $0.span) } ?? configuration.sites.publicSite
  }

  private func response(
    to failure: PageFailure, on site: GateSite, _ preferences: ClientPreferences, _ requestID: String
  ) -> ControlResponse {
    let pages = site.pages.inLanguage(of: LanguagePreferences(acceptLanguage: preferences.acceptLanguage ?? []))
    return ControlResponse(
      preferences.accept.map { pages.failure(failure, accept: $0, requestID: requestID) }
        ?? pages.failureJSON(failure, requestID: requestID))
  }
}
