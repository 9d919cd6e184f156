internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Operations
internal import Pages
internal import WebFormats

/// Responses of the gate itself: failure pages, redirects to sign in and to `public_url`.
struct GateResponses {
  private let configuration: GateConfiguration

  init(_ configuration: GateConfiguration) { self.configuration = configuration }

  /// A failure, as a page for browsers that show it to a person, otherwise as JSON.
  func failure(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ControlResponse {
    if RequestKind.isPageLoad(head, bytes), let accept = head.fields.line(.accept),
      prefersHTML(accept: bytes.array(accept.value))
    {
      return ControlResponse(pages(head, bytes).failure(failure, requestID: request.id.description))
    }
    return failureJSON(failure, head, bytes, request)
  }

  /// A refusal, with the way to ask for access.
  func mayAsk(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ControlResponse {
    let path = ReturnTarget(
      parsing: bytes.extracting(head.path.lowerBound..<head.query.upperBound)._unsafeView(as: UInt8.self),
      origin: configuration.origin, prefix: configuration.prefix
    ).path
    let (renderer, id) = (pages(head, bytes), request.id.description)
    if RequestKind.isPageLoad(head, bytes), let accept = head.fields.line(.accept),
      prefersHTML(accept: bytes.array(accept.value))
    {
      return ControlResponse(renderer.refusal(failure, .mayAsk, requestID: id, returnTo: path))
    }
    return ControlResponse(renderer.refusalJSON(failure, .mayAsk, requestID: id, returnTo: path))
  }

  func failureJSON(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> ControlResponse {
    ControlResponse(pages(head, bytes).failureJSON(failure, requestID: request.id.description))
  }

  /// The refusal of a request that carries a machine token: JSON, as for every client that is no browser.
  func refusal(
    _ failure: PageFailure, _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ request: GateRequest
  ) -> ControlResponse {
    var response = failureJSON(failure, head, bytes, request)
    if failure.status == 401 { challenge(&response, route, head) }
    return response
  }

  /// Adds the challenges of a 401.
  private func challenge(
    _ response: inout ControlResponse, _ route: RouteDecision, _ head: borrowing RequestHead
  ) {
    AuthenticationChallenge.add(to: &response, route, head, realm: configuration.origin.authority)
  }

  /// The response to a request that needs a session and has none, or one of a later sign-in.
  func signInFirst(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    because failure: PageFailure = .signInRequired
  ) -> ControlResponse {
    // An app whose token has expired could not follow a redirect to the sign-in page.
    let mayShowPage = route.unauthenticated == .automatic && !head.wantsUpgrade && !request.carriesOurToken
    // On routes that accept tokens, a client without one (git, curl, restic) needs the challenge.
    let isNavigation =
      RequestKind.isNavigation(head, bytes) && (!route.acceptsTokens || RequestKind.isCertainlyBrowser(head, bytes))
    guard mayShowPage, isNavigation else {
      guard mayShowPage, RequestKind.isFormSubmission(head, bytes) else {
        var response = failureJSON(failure, head, bytes, request)
        challenge(&response, route, head)
        return response
      }
      return ControlResponse(
        pages(head, bytes).failure(
          failure == .signInRequired ? .formNotSent : failure, requestID: request.id.description,
          returnTo: referringPage(head, bytes).path))
    }
    let wanted = ReturnTarget(
      parsing: bytes.extracting(head.path.lowerBound..<head.query.upperBound)._unsafeView(as: UInt8.self),
      origin: configuration.origin, prefix: configuration.prefix)
    let endpoint = configuration.showsSignInPage ? GatewayEndpoint.signIn : .authorize
    // Apple redirects to public_url only, and the cookie of the sign-in state is set there.
    let origin = isAlias(head, bytes) ? configuration.origin.description : ""
    let path = endpoint.path(below: configuration.prefix)
    return .redirect(.found, to: "\(origin)\(path)?return_to=\(wanted.queryValue)")
  }

  /// The page that a form was on, by `Referer`: the front page if it is unknown or another site's.
  private func referringPage(_ head: borrowing RequestHead, _ bytes: RawSpan) -> ReturnTarget {
    for line in head.fields.lines where bytes.equalsIgnoringCase("referer", line.name) {
      return ReturnTarget(
        parsing: bytes.extracting(line.value)._unsafeView(as: UInt8.self), origin: configuration.origin,
        prefix: configuration.prefix)
    }
    return .frontPage
  }

  /// The redirect to `public_url` for an endpoint that does not work on an alias, where neither Apple's answer nor the
  /// session's cookie arrives: signing in and out, and what needs a session. Nil for other endpoints and on
  /// `public_url` itself.
  func aliasRedirect(
    _ endpoint: GatewayEndpoint, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> ControlResponse? {
    switch endpoint {
    case .signIn, .authorize, .signOut, .account, .accountStop, .invite, .people, .requestAccess: break
    default: return nil
    }
    guard isAlias(head, bytes) else { return nil }
    switch head.method {
    case .get, .head:
      // The query is parsed again there; bytes that no field value should hold are escaped.
      return .redirect(
        .found, to: configuration.origin.description + escaped(bytes, head.path.lowerBound..<head.query.upperBound))
    case .post where endpoint == .signOut && !(configuration.acceptsBearer && head.fields.has(.authorization)):
      return .redirect(
        .seeOther, to: configuration.origin.description + GatewayEndpoint.signOut.path(below: configuration.prefix))
    case .post where endpoint.needsSession:
      return .redirect(
        .seeOther, to: configuration.origin.description + endpoint.path(below: configuration.prefix))
    default: return nil
    }
  }

  private func escaped(_ bytes: RawSpan, _ range: Range<Int>) -> String {
    var text: [UInt8] = []
    for byte in bytes.array(range) {
      if byte > 0x20 && byte < 0x7F { text.append(byte) } else { PercentEncoding.append(byte, to: &text) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether the request is addressed to one of `listen.hosts` rather than to `public_url`.
  private func isAlias(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    !configuration.authorities.isOrigin(bytes.extracting(head.authority)._unsafeView(as: UInt8.self))
  }

  /// The pages in the language of the request.
  private func pages(_ head: borrowing RequestHead, _ bytes: RawSpan) -> PageRenderer {
    guard let line = head.fields.line(.acceptLanguage) else { return configuration.pages }
    return configuration.pages.inLanguage(of: LanguagePreferences(acceptLanguage: bytes.array(line.value)))
  }

  /// The response to a request that the data plane could not carry out.
  func failure(status: Int, preferences: ClientPreferences, requestID: String) -> ControlResponse {
    let failure = PageFailure.allCases.first { $0.status == status && $0.isOfProtocol } ?? .badRequest
    let pages = configuration.pages.inLanguage(
      of: LanguagePreferences(acceptLanguage: preferences.acceptLanguage ?? []))
    return ControlResponse(
      preferences.accept.map { pages.failure(failure, accept: $0, requestID: requestID) }
        ?? pages.failureJSON(failure, requestID: requestID))
  }
}
