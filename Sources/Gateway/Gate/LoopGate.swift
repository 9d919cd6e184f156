internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Logging
internal import NIOCore
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// The gate of one event loop: from a head to a decision, at once, out of what this loop knows.
///
/// The order is the security of the whole: authority, path, our own pages, route, session, rule. Each step either
/// answers or hands on; none can be passed by.
final class LoopGate: RequestGate {
  private(set) var knowledge: GateConfiguration
  let directory: SessionManager
  private(set) var ownPages: GatewayEndpoints
  let eventLoop: any EventLoop
  var memory: SessionCache
  /// The request that is being decided on, for the pages that name it.
  private var requestID: RequestIDSource.Identifier?
  /// Whether that request carries a bearer token of ours, which goes no further.
  var carriesOurToken = false
  let logger: Logger
  /// Sessions seen since they were last collected.
  var seen: [SessionCacheEntry] = []
  /// The sessions of exchanges under way that have been reviewed.
  var openSessions = OpenSessions()

  init(
    _ knowledge: GateConfiguration, directory: SessionManager, ownPages: GatewayEndpoints, eventLoop: any EventLoop,
    logger: Logger
  ) {
    self.logger = logger
    memory = SessionCache(budget: knowledge.sessionMemory)
    self.knowledge = knowledge
    self.directory = directory
    self.ownPages = ownPages
    self.eventLoop = eventLoop
  }

  /// Goes by another configuration from the next request on. What is remembered of sessions stays.
  func apply(_ knowledge: GateConfiguration, ownPages: GatewayEndpoints) {
    self.knowledge = knowledge
    self.ownPages = ownPages
    memory.budget = knowledge.sessionMemory
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    self.requestID = requestID
    carriesOurToken = false
    let path = head.isAsteriskForm || head.path.isEmpty ? nil : head.path
    let isOurs = path.map { isOwnPath(bytes, $0) } ?? false
    if isOurs, let path, ownPages.isVerify(bytes, path) { return verify(head, bytes, client) }
    guard knowledge.authorities.match(bytes.extracting(head.authority)._unsafeView(as: UInt8.self)) else {
      if isHealthCheck(head, bytes) {
        return .answer(ControlResponse(.noContent), routeClass: Operations.RouteClass.own.rawValue)
      }
      return answer(.misdirected, head, bytes)
    }
    let judgement: PathClassification
    let decision: RouteDecision
    if let path {
      let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
      judgement = PathClassification.classify(text)
      if case .refused = judgement { return answer(.badRequest, head, bytes) }
      if isOurs { return own(head, bytes, path) }
      decision = knowledge.routes.matchWithSessionParameter(
        text, judgement, method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self))
    } else {
      // `*`, or an absolute form without a path: the server as a whole.
      judgement = .canonical
      decision = knowledge.routes.match(
        Self.root.span, judgement, method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self))
    }
    return pass(decision, head, bytes)
  }

  static let root: [UInt8] = [0x2F]

  /// Whether a load balancer asks if the gateway is there: `OPTIONS /` or `OPTIONS *` in HTTP/1.0, where `Host` may be
  /// missing (HAProxy's `option httpchk`). It is answered here, whatever host was meant.
  private func isHealthCheck(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method == .options, !head.isHTTP11, head.authority.isEmpty, head.framing == .none else { return false }
    return head.isAsteriskForm || bytes.equals("/", head.target)
  }

  @inline(__always)
  func isOwnPath(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let own = knowledge.ownPaths
    guard path.count >= own.count, bytes.byte(at: path.lowerBound + 1) == own[1] else { return false }
    for offset in own.indices where bytes.byte(at: path.lowerBound + offset) != own[offset] { return false }
    return true
  }

  // MARK: The application's paths

  private func pass(_ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan) -> GateDecision {
    let routeClass = Operations.RouteClass(route)
    if case .deny = route.access { return answer(.closed, head, bytes, routeClass: routeClass) }
    let entry: SessionCacheEntry
    // Where nobody need be signed in, nobody waits for Apple.
    let isPublic = if case .public = route.access { true } else { false }
    switch identify(head, bytes, waitsForCheck: !isPublic) {
    case .known(let known): entry = known
    case .ask(let work): return .wait(work)
    case .storeAway:
      if isPublic { return forward(nil, route, routeClass, head, bytes) }
      return answer(.storeUnavailable, head, bytes, routeClass: routeClass)
    case .nobody:
      if isPublic { return forward(nil, route, routeClass, head, bytes) }
      return signInFirst(route, head, bytes, routeClass)
    }
    if case .rules(let rules) = route.access {
      if case .denied(let denial) = entry.verdict(of: rules, knowledge) {
        return answer(PageFailure(denial), head, bytes, routeClass: routeClass, renewing: entry)
      }
    }
    if let signing = renewAssertion(of: entry) { return .wait(signing) }
    return forward(entry, route, routeClass, head, bytes)
  }

  @inline(__always)
  private func forward(
    _ entry: SessionCacheEntry?, _ route: RouteDecision, _ routeClass: Operations.RouteClass,
    _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> GateDecision {
    var allowsUpgrade = false
    if head.wantsUpgrade, RequestKind.isWebSocket(head, bytes) {
      // A page of another site can open a WebSocket with our cookie; only its Origin tells (RFC 6455 10.2).
      guard originIsOurs(head, bytes) else { return answer(.crossSite, head, bytes, routeClass: routeClass) }
      allowsUpgrade = true
    }
    var order = ForwardingDirective(
      identity: entry?.identity, routeClass: routeClass.rawValue, session: entry?.tag, user: entry?.user,
      allowsUpgrade: allowsUpgrade, upstream: route.upstream)
    order.dropsAuthorization = carriesOurToken
    order.bodyRate = route.bodyRate
    if let entry {
      let credential = ExchangeCredential(key: entry.key, isBearer: carriesOurToken && knowledge.acceptsBearer)
      order.credential = credential.number
    }
    if let entry, !entry.isSignedByFirstKey { order.personalLines = renewalLine(of: entry, head, bytes) }
    return .forward(order)
  }

  private func originIsOurs(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let line = head.fields.line(.origin), !head.fields.isRepeated(.origin) else { return false }
    return knowledge.origins.contains { origin in
      origin.count == line.value.count
        && line.value.indices.allSatisfy { bytes.byte(at: $0) == origin[$0 - line.value.lowerBound] }
    }
  }

  private func signInFirst(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ routeClass: Operations.RouteClass
  ) -> GateDecision {
    // An app whose token is over could not follow to the sign-in page.
    let mayShowPage = route.unauthenticated == .automatic && !head.wantsUpgrade && !carriesOurToken
    guard mayShowPage, RequestKind.isNavigation(head, bytes) else {
      let page =
        mayShowPage && RequestKind.isFormSubmission(head, bytes)
        ? pages(head, bytes).failure(
          .formNotSent, requestID: requestID?.description, returnTo: referringPage(head, bytes).path)
        : pages(head, bytes).failureJSON(.signInRequired, requestID: requestID?.description)
      return .answer(ControlResponse(page), routeClass: routeClass.rawValue)
    }
    let wanted = ReturnTarget(
      parsing: bytes.extracting(head.path.lowerBound..<head.query.upperBound)._unsafeView(as: UInt8.self),
      origin: knowledge.origin, prefix: knowledge.prefix)
    let page = knowledge.showsSignInPage ? "/sign-in" : "/authorize"
    // Apple returns to public_url only, and so does the attempt's cookie.
    let origin = isAlias(head, bytes) ? knowledge.origin.description : ""
    return .answer(
      .redirect(.found, to: "\(origin)\(knowledge.prefix)\(page)?return_to=\(wanted.queryValue)"),
      routeClass: routeClass.rawValue)
  }

  /// The page of ours that a form was on, by `Referer`: the front page where it is not known or another site's.
  private func referringPage(_ head: borrowing RequestHead, _ bytes: RawSpan) -> ReturnTarget {
    for line in head.fields.lines where bytes.equalsIgnoringCase("referer", line.name) {
      return ReturnTarget(
        parsing: bytes.extracting(line.value)._unsafeView(as: UInt8.self), origin: knowledge.origin,
        prefix: knowledge.prefix)
    }
    return .frontPage
  }

  /// Whether the request is addressed to one of `listen.hosts` rather than to `public_url`.
  private func isAlias(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    !knowledge.authorities.isOrigin(bytes.extracting(head.authority)._unsafeView(as: UInt8.self))
  }

  // MARK: Our own paths

  private func own(_ head: borrowing RequestHead, _ bytes: RawSpan, _ path: Range<Int>) -> GateDecision {
    let name = path.lowerBound + knowledge.ownPaths.count..<path.upperBound
    if head.method == .get, bytes.equals("session", name) { return session(head, bytes) }
    if let target = elsewhere(head, bytes, name) {
      return .answer(target, routeClass: Operations.RouteClass.own.rawValue)
    }
    guard let action = ownPages.action(bytes.string(name)) else {
      return answer(.notFound, head, bytes, routeClass: .own)
    }
    return .perform(action)
  }

  /// The redirect to `public_url` of what cannot be done on an alias, where neither Apple's answer nor the session's
  /// cookie arrives: signing in and out.
  private func elsewhere(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ name: Range<Int>
  ) -> ControlResponse? {
    let isSignOut = bytes.equals("sign-out", name)
    guard isSignOut || bytes.equals("sign-in", name) || bytes.equals("authorize", name), isAlias(head, bytes) else {
      return nil
    }
    switch head.method {
    case .get, .head:
      // The query is parsed again there; bytes that no field value should hold are escaped.
      return .redirect(
        .found, to: knowledge.origin.description + escaped(bytes, head.path.lowerBound..<head.query.upperBound))
    case .post where isSignOut && !(knowledge.acceptsBearer && head.fields.has(.authorization)):
      return .redirect(.seeOther, to: "\(knowledge.origin)\(knowledge.prefix)/sign-out")
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

  private func session(_ head: borrowing RequestHead, _ bytes: RawSpan) -> GateDecision {
    switch identify(head, bytes) {
    case .known(let entry):
      var response = SessionDescription.response(entry.snapshot, token: renewedToken(of: entry, head, bytes))
      if let cookie = renewedCookie(of: entry, head, bytes) { response.setCookie(cookie) }
      return .answer(response, routeClass: Operations.RouteClass.own.rawValue)
    case .ask(let work): return .wait(work)
    case .storeAway: return answer(.storeUnavailable, head, bytes, routeClass: .own)
    case .nobody:
      return .answer(
        ControlResponse(pages(head, bytes).failureJSON(.signInRequired, requestID: requestID?.description)),
        routeClass: Operations.RouteClass.own.rawValue)
    }
  }

  // MARK: Failures

  private func answer(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan,
    routeClass: Operations.RouteClass = .refused, renewing entry: SessionCacheEntry? = nil
  ) -> GateDecision {
    let page: RenderedPage
    if RequestKind.isPageLoad(head, bytes), let accept = head.fields.line(.accept),
      prefersHTML(accept: bytes.array(accept.value))
    {
      page = pages(head, bytes).failure(failure, requestID: requestID?.description)
    } else {
      page = pages(head, bytes).failureJSON(failure, requestID: requestID?.description)
    }
    var response = ControlResponse(page)
    if let entry, let cookie = renewedCookie(of: entry, head, bytes) { response.setCookie(cookie) }
    return .answer(response, routeClass: routeClass.rawValue)
  }

  /// The pages in the language of the request.
  private func pages(_ head: borrowing RequestHead, _ bytes: RawSpan) -> PageRenderer {
    guard let line = head.fields.line(.acceptLanguage) else { return knowledge.pages }
    return knowledge.pages.inLanguage(of: LanguagePreferences(acceptLanguage: bytes.array(line.value)))
  }

  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    // What the application or the gateway fails at is for the operator; what a client does wrong is for who looks.
    logger.log(
      level: status >= 500 ? .warning : .debug, "request failed",
      metadata: ["status": "\(status)", "reason": "\(reason)", "request": "\(requestID)"])
    let failure = PageFailure.allCases.first { $0.status == status && $0.isOfProtocol } ?? .badRequest
    let pages = knowledge.pages.inLanguage(
      of: LanguagePreferences(acceptLanguage: preferences.acceptLanguage ?? []))
    return ControlResponse(
      preferences.accept.map { pages.failure(failure, accept: $0, requestID: requestID) }
        ?? pages.failureJSON(failure, requestID: requestID))
  }
}
