internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// The gate of one event loop: decides about a request at once, from what this loop knows.
///
/// The order is security-critical: authority, path, our own endpoints, route, networks, session, rules, age. Each step
/// either answers or falls through to the next; none can be skipped.
final class LoopGate: RequestGate {
  private(set) var configuration: GateConfiguration
  private(set) var actions: [GatewayEndpoint: EndpointAction]
  /// Answers refused users who may ask for access; nil if nobody may.
  private var refusal: AccessRefusal.Answer?
  private var finder: SessionFinder
  private var verify: VerifyEndpoint
  private var tokens: MachineTokens
  private var responses: GateResponses
  let sessions: LoopSessions
  let reviews: OpenExchangeReview
  private let logger: Logger

  /// - Parameters:
  ///   - actions: the endpoints that the gate does not answer itself.
  ///   - refusal: answers refused users who may ask for access; nil if nobody may.
  init(
    _ configuration: GateConfiguration, sessions: LoopSessions, actions: [GatewayEndpoint: EndpointAction],
    refusal: AccessRefusal.Answer? = nil, logger: Logger
  ) {
    self.configuration = configuration
    self.sessions = sessions
    self.actions = actions
    self.refusal = refusal
    self.logger = logger
    finder = SessionFinder(sessions, configuration)
    tokens = MachineTokens(sessions, configuration)
    verify = VerifyEndpoint(configuration, sessions, logger)
    responses = GateResponses(configuration)
    reviews = OpenExchangeReview(configuration, sessions)
  }

  /// Uses another configuration from the next request on. Cached sessions are kept.
  func apply(
    _ configuration: GateConfiguration, actions: [GatewayEndpoint: EndpointAction],
    refusal: AccessRefusal.Answer? = nil
  ) {
    self.configuration = configuration
    self.actions = actions
    self.refusal = refusal
    finder = SessionFinder(sessions, configuration)
    tokens = MachineTokens(sessions, configuration)
    verify = VerifyEndpoint(configuration, sessions, logger)
    responses = GateResponses(configuration)
    sessions.apply(configuration.sessions)
    reviews.apply(configuration)
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    var request = GateRequest(requestID)
    let path = head.isAsteriskForm || head.path.isEmpty ? nil : head.path
    let isOurs = path.map { configuration.isOwnPath(bytes, $0) } ?? false
    if isOurs, let path, isVerify(bytes, path) { return verify.decide(head, bytes, client, &request) }
    guard configuration.authorities.match(bytes.extracting(head.authority)._unsafeView(as: UInt8.self)) else {
      if isHealthCheck(head, bytes) {
        return .answer(ControlResponse(.noContent), routeClass: RouteLabel.own.rawValue)
      }
      return refuse(.misdirected, head, bytes, request)
    }
    let classification: PathClassification
    let route: RouteDecision
    if let path {
      let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
      classification = PathClassification.classify(text)
      if case .refused = classification { return refuse(.badRequest, head, bytes, request) }
      if isOurs { return own(head, bytes, path, &request) }
      route = configuration.routes.matchWithSessionParameter(
        text, classification, method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self))
    } else {
      // `*`, or an absolute form without a path: the server as a whole.
      classification = .canonical
      let root = GateConfiguration.root
      route = configuration.routes.match(
        root.span, classification,
        method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self))
    }
    return admit(route, head, bytes, client, &request)
  }

  @inline(__always)
  private func isVerify(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let verifyPath = configuration.verifyPath
    guard path.count == verifyPath.count else { return false }
    return path.indices.allSatisfy { bytes.byte(at: $0) == verifyPath[$0 - path.lowerBound] }
  }

  /// Whether this is a load balancer's health check: `OPTIONS /` or `OPTIONS *` in HTTP/1.0, where `Host` may be
  /// missing (HAProxy's `option httpchk`). The gate answers it for every host.
  private func isHealthCheck(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method == .options, !head.isHTTP11, head.authority.isEmpty, head.framing == .none else { return false }
    return head.isAsteriskForm || bytes.equals("/", head.target)
  }

  // MARK: The application's paths

  private func admit(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer,
    _ request: inout GateRequest
  ) -> GateDecision {
    let routeClass = RouteLabel(route)
    if case .deny = route.access { return refuse(.closed, head, bytes, request, routeClass: routeClass) }
    request.isAddressKnown = ClientAddress.isKnown(client, head)
    if !route.networks.isEmpty, !isInNetworks(route, head, client) {
      return refuse(.network, head, bytes, request, routeClass: routeClass)
    }
    let field = MachineTokenField.find(head, bytes)
    guard case .absent = field else { return admit(field, route, routeClass, head, bytes, &request) }
    let entry: SessionCacheEntry
    // Public routes never wait for a revalidation.
    let isPublic = if case .public = route.access { true } else { false }
    switch finder.find(head, bytes, &request, waitsForRevalidation: !isPublic) {
    case .known(let known): entry = known
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable:
      if isPublic { return forward(nil, route, routeClass, head, bytes, request) }
      return refuse(.storeUnavailable, head, bytes, request, routeClass: routeClass)
    case .none:
      if isPublic { return forward(nil, route, routeClass, head, bytes, request) }
      return .answer(responses.signInFirst(route, head, bytes, request), routeClass: routeClass.rawValue)
    }
    if isPublic, entry.isDenied(sessions.configuration) {
      return forward(nil, route, routeClass, head, bytes, request)
    }
    if case .rules(let rules) = route.access {
      if case .denied(let denial) = entry.verdict(of: rules, sessions.configuration) {
        if let asking = ask(denial, rules, entry, routeClass, head, bytes, request) { return asking }
        var response = responses.failure(PageFailure(denial), head, bytes, request)
        if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) { response.setCookie(cookie) }
        return .answer(response, routeClass: routeClass.rawValue)
      }
    }
    if !isPublic, entry.mustSignInAgain(maxAge: route.maxAge, at: sessions.now) {
      return .answer(
        responses.signInFirst(route, head, bytes, request, because: .reauthenticationRequired),
        routeClass: routeClass.rawValue)
    }
    if let signing = sessions.renewAssertion(of: entry) { return .suspend(signing) }
    return forward(entry, route, routeClass, head, bytes, request)
  }

  /// Admits by a machine token.
  private func admit(
    _ field: MachineTokenField, _ route: RouteDecision, _ routeClass: RouteLabel,
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> GateDecision {
    request.noteMachineToken()
    switch tokens.judge(field, route) {
    case .nobody: return forward(nil, route, routeClass, head, bytes, request)
    case .admitted(let entry): return forward(entry, route, routeClass, head, bytes, request)
    case .suspend(let work): return .suspend(work)
    case .refused(let failure):
      return .answer(responses.refusal(failure, route, head, bytes, request), routeClass: routeClass.rawValue)
    }
  }

  /// Whether the client's address meets the `networks` of a route.
  private func isInNetworks(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ client: ClientPeer
  ) -> Bool {
    if configuration.routes.admits(route, from: ClientAddress.find(client, head)) { return true }
    ClientAddress.warnIfUntrusted(client, head, configuration.networkWarnings, logger)
    return false
  }

  /// The answer to a user whom lists refuse, if users may ask for access: it tells how to ask, or the code of a request
  /// that waits, which only the store knows. The body of a request is not read for that: then it only tells how to ask.
  private func ask(
    _ denial: DenialReason, _ rules: RuleIndexes, _ entry: SessionCacheEntry, _ routeClass: RouteLabel,
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision? {
    guard let refusal, AccessRefusal.isOfLists(denial, rules, of: configuration.routes.rules) else { return nil }
    guard head.framing == .none, !head.wantsUpgrade else {
      return .answer(
        responses.mayAsk(PageFailure(denial), head, bytes, request), routeClass: routeClass.rawValue)
    }
    let refused = AccessRefusal(subject: entry.snapshot.account.subject, failure: PageFailure(denial))
    let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes)
    return .handle(
      EndpointAction(bodyLimit: 0, routeClass: routeClass.rawValue) { request in
        var response = await refusal(request, refused)
        if let cookie { response.setCookie(cookie) }
        return response
      })
  }

  @inline(__always)
  private func forward(
    _ entry: SessionCacheEntry?, _ route: RouteDecision, _ routeClass: RouteLabel,
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    var allowsUpgrade = false
    if head.wantsUpgrade, RequestKind.isWebSocket(head, bytes) {
      // A page of another site can open a WebSocket with our cookie; only its Origin tells (RFC 6455, 10.2).
      // No browser sends a machine token by itself.
      let isNoBrowser = request.carriesMachineToken && !head.fields.has(.origin)
      guard isNoBrowser || isOwnOrigin(head, bytes) else {
        return refuse(.crossSite, head, bytes, request, routeClass: routeClass)
      }
      allowsUpgrade = true
    }
    var directive = ForwardingDirective(
      identity: entry?.identity, routeClass: routeClass.rawValue, session: entry?.tag, user: entry?.user,
      allowsUpgrade: allowsUpgrade, upstream: route.upstream)
    directive.dropsAuthorization = request.carriesOurToken
    directive.dropsMethodOverride = route.dropsMethodOverride
    directive.bodyRate = route.bodyRate
    if let entry {
      let credential =
        entry.machineToken == nil
        ? ExchangeCredential(key: entry.key, isBearer: request.carriesOurToken && configuration.acceptsBearer)
        : .machineToken
      directive.credential = credential.number | (request.isAddressKnown ? 0 : ExchangeCredential.unknownAddress)
      if !entry.isSignedByFirstKey {
        directive.privateLines = CredentialRenewal.fieldLine(of: entry, sessions, head, bytes)
      }
    }
    return .forward(directive)
  }

  private func isOwnOrigin(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard let line = head.fields.line(.origin), !head.fields.isRepeated(.origin) else { return false }
    return configuration.origins.contains { origin in
      origin.count == line.value.count
        && line.value.indices.allSatisfy { bytes.byte(at: $0) == origin[$0 - line.value.lowerBound] }
    }
  }

  // MARK: Our own endpoints

  private func own(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ path: Range<Int>, _ request: inout GateRequest
  ) -> GateDecision {
    let name = path.lowerBound + configuration.ownPaths.count..<path.upperBound
    guard let endpoint = GatewayEndpoint(name: bytes.string(name)) else {
      return refuse(.notFound, head, bytes, request, routeClass: .own)
    }
    if endpoint == .session, head.method == .get { return session(head, bytes, &request) }
    if let redirect = responses.aliasRedirect(endpoint, head, bytes) {
      return .answer(redirect, routeClass: RouteLabel.own.rawValue)
    }
    if endpoint.needsSession, let decision = requireSession(head, bytes, &request) { return decision }
    guard let action = actions[endpoint] else { return refuse(.notFound, head, bytes, request, routeClass: .own) }
    return .handle(action)
  }

  /// The decision about a request for one of our pages without a valid session, as on the application's paths; nil with
  /// one.
  private func requireSession(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> GateDecision? {
    // A machine is nobody on our pages.
    guard case .absent = MachineTokenField.find(head, bytes) else {
      return .answer(
        responses.failureJSON(.signInRequired, head, bytes, request), routeClass: RouteLabel.own.rawValue)
    }
    switch finder.find(head, bytes, &request) {
    case .known: return nil
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return refuse(.storeUnavailable, head, bytes, request, routeClass: .own)
    case .none:
      return .answer(responses.signInFirst(.default, head, bytes, request), routeClass: RouteLabel.own.rawValue)
    }
  }

  /// `GET session` from the cache. `?peek=1` must not count as a use of the session: the endpoint answers it.
  private func session(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> GateDecision {
    if SessionPeek.isAsked(bytes, head.query) {
      guard let action = actions[.session] else { return refuse(.notFound, head, bytes, request, routeClass: .own) }
      return .handle(action)
    }
    let field = MachineTokenField.find(head, bytes)
    guard case .absent = field else { return session(field, head, bytes, request) }
    switch finder.find(head, bytes, &request) {
    case .known(let entry):
      var response = SessionDescription.response(
        entry.snapshot, groups: entry.groups(sessions.configuration),
        token: CredentialRenewal.token(of: entry, sessions, head, bytes))
      if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) { response.setCookie(cookie) }
      return .answer(response, routeClass: RouteLabel.own.rawValue)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return refuse(.storeUnavailable, head, bytes, request, routeClass: .own)
    case .none:
      return .answer(
        responses.failureJSON(.signInRequired, head, bytes, request),
        routeClass: RouteLabel.own.rawValue)
    }
  }

  /// `GET session` with a machine token.
  private func session(
    _ field: MachineTokenField, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    switch tokens.find(field) {
    case .known(let entry):
      guard let token = entry.machineToken else { break }
      return .answer(MachineTokenDescription.response(token), routeClass: RouteLabel.own.rawValue)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return refuse(.storeUnavailable, head, bytes, request, routeClass: .own)
    case .none: break
    }
    return .answer(
      responses.failureJSON(.signInRequired, head, bytes, request), routeClass: RouteLabel.own.rawValue)
  }

  // MARK: Failures

  private func refuse(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    routeClass: RouteLabel = .refused
  ) -> GateDecision {
    .answer(responses.failure(failure, head, bytes, request), routeClass: routeClass.rawValue)
  }

  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    // Failures of the application or the gateway concern the operator; mistakes of a client are for debugging.
    logger.log(
      level: status >= 500 ? .warning : .debug, "request failed",
      metadata: ["status": "\(status)", "reason": "\(reason)", "request": "\(requestID)"])
    return responses.failure(status: status, preferences: preferences, requestID: requestID)
  }

  // MARK: Open exchanges

  func review(_ exchange: inout OpenExchange) -> Bool { reviews.review(&exchange) }

  func reviewEnded() -> Bool { reviews.end() }
}
