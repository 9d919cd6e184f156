internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Logging
internal import Operations
internal import Pages
internal import Sessions

/// The gate of one event loop under one configuration: decides about a request at once, from what this loop knows.
///
/// The order is security-critical: authority, path, our own endpoints, route, networks, session, rules, age; then the
/// same for a `Destination`. Each step either answers or falls through to the next; none can be skipped. The decision
/// of the route includes what is below the path, for requests that act on it.
///
/// Nothing in it changes, so that a request need not retain what it uses.
final class ConfiguredGate {
  let configuration: GateConfiguration
  private let authorities: AuthorityList
  private let routes: RouteTable
  /// The endpoints of each site, by its number.
  let endpoints: [SiteEndpoints]
  private let sessions: LoopSessions
  private let users: UserAdmission
  private let denied: DeniedUsers
  private let verify: VerifyEndpoint
  private let endpointGate: EndpointGate
  private let responses: GateResponses
  private let redirects: HostRedirects
  private let logger: Logger

  /// - Parameter endpoints: those of each site, by its number.
  init(_ configuration: GateConfiguration, sessions: LoopSessions, endpoints: [SiteEndpoints], logger: Logger) {
    self.configuration = configuration
    authorities = configuration.sites.authorities
    routes = configuration.routes
    self.endpoints = endpoints
    self.sessions = sessions
    users = UserAdmission(configuration, sessions)
    verify = VerifyEndpoint(configuration, sessions, logger)
    endpointGate = EndpointGate(configuration, sessions, endpoints)
    responses = GateResponses(configuration)
    redirects = HostRedirects(configuration)
    denied = DeniedUsers(configuration.routes, sessions, endpoints, responses)
    self.logger = logger
  }

  /// See ``RequestGate/present(_:for:)``.
  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? {
    endpointGate.present(action, for: request)
  }

  /// See ``RequestGate/decide(_:_:_:_:)``.
  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ requestID: RequestIDSource.Identifier
  ) -> GateDecision {
    let place = authorities.place(bytes.extracting(head.authority)._unsafeView(as: UInt8.self))
    let isAlias = if case .alias? = place { true } else { false }
    var request = GateRequest(requestID, to: configuration.sites.site(place ?? .publicURL), isAlias: isAlias)
    var decision = decide(place, head, bytes, client, &request)
    if isAlias, decision.redirects(to: configuration.origin),
      RewrittenHost.isOfPublicURL(head, bytes, client, authorities)
    {
      decision = RewrittenHost.warn(
        refuse(.misdirected, head, bytes, request), head, bytes, client, configuration.warnings.rewrittenHost, logger)
    }
    // After the decision, because `verify` decides for another host than the one that it is asked at.
    if !request.site.isPublicURL { decision.note(site: request.site.number) }
    return decision
  }

  @inline(__always)
  private func decide(
    _ place: AuthorityList.Place?, _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer,
    _ request: inout GateRequest
  ) -> GateDecision {
    let path = head.isAsteriskForm || head.path.isEmpty ? nil : head.path
    let isGatewayPath = path.map { configuration.paths.contains(bytes, $0) } ?? false
    if isGatewayPath, let path, verify.answers(bytes, path) { return verify.decide(head, bytes, client, &request) }
    guard place != nil else {
      if isHealthCheck(head, bytes) {
        return .answer(ControlResponse(.noContent), label: .own)
      }
      if let redirect = redirects.withoutTrailingDot(head, bytes),
        !RewrittenHost.isOfPublicURL(head, bytes, client, authorities)
      {
        return .answer(redirect, label: .own)
      }
      return refuse(.misdirected, head, bytes, request)
    }
    let classification: PathClassification
    let route: RouteDecision
    if let path {
      let text = bytes.extracting(path)._unsafeView(as: UInt8.self)
      classification = PathClassification.classify(text)
      if case .refused = classification { return refuse(.badRequest, head, bytes, request) }
      if isGatewayPath { return endpointGate.decide(head, bytes, path, &request) }
      route = routes.matchWithSessionParameter(
        text, classification, method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self),
        depth: DepthField.depth(head, bytes), host: request.site.routes)
    } else {
      // `*`, or an absolute form without a path: the server as a whole.
      classification = .canonical
      let root = GateConfiguration.root
      route = routes.match(
        root.span, classification, method: bytes.extracting(head.methodRange)._unsafeView(as: UInt8.self),
        depth: DepthField.depth(head, bytes), host: request.site.routes)
    }
    var decision = admit(route, head, bytes, client, &request)
    decision.note(ambiguityOf: route)
    guard head.fields.has(.destination) else { return decision }
    switch consume decision {
    case .forward(let directive): return admitDestination(directive, head, bytes, client, &request)
    case let other: return other
    }
  }

  /// Forwards a request that is admitted to its own path only if it is admitted to that of its `Destination` as well.
  private func admitDestination(
    _ directive: consuming ForwardingDirective, _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer,
    _ request: inout GateRequest
  ) -> GateDecision {
    let route: RouteDecision
    switch DestinationField.route(head, bytes, method: head.methodRange, of: request.site, configuration) {
    case .refused: return refuse(.badRequest, head, bytes, request)
    case .own: return refuseDestination("a path of the gateway", head, bytes, request)
    case .route(let found): route = found
    }
    var decision = admit(route, head, bytes, client, &request)
    decision.note(ambiguityOf: route)
    switch consume decision {
    case .forward(let other):
      // The application would take the path of another one for its own.
      guard other.upstream == directive.upstream else {
        return refuseDestination("the resource of another application", head, bytes, request)
      }
      if other.dropsMethodOverride { directive.dropsMethodOverride = true }
      return .forward(directive)
    case let other: return other
    }
  }

  private func refuseDestination(
    _ target: String, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    logger.debug("Destination refused", metadata: ["target": "\(target)", "request": "\(request.id)"])
    return refuse(.closed, head, bytes, request)
  }

  /// Whether this is a load balancer's health check: `OPTIONS /` or `OPTIONS *` in HTTP/1.0, where `Host` may be
  /// missing (HAProxy's `option httpchk`). The gate answers it for every host.
  private func isHealthCheck(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    guard head.method == .options, !head.isHTTP11, head.authority.isEmpty, head.framing == .none else { return false }
    return head.isAsteriskForm || bytes.equals("/", head.target)
  }

  // MARK: The application's paths

  @inline(__always)
  private func admit(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer,
    _ request: inout GateRequest
  ) -> GateDecision {
    let label = RequestLabel(RouteLabel(route))
    switch route.access {
    case .deny: return refuse(.closed, head, bytes, request, label: label)
    case .signOut: return signOut(head, request)
    case .public, .signedIn, .rules: break
    }
    request.isAddressKnown = ClientAddress.isKnown(client, head)
    if !route.networks.isEmpty, !isInNetworks(route, head, client) {
      return refuse(.network, head, bytes, request, label: label)
    }
    if route.passesPreflights, route.access != .public, RequestKind.isPreflight(head, bytes) {
      return forwardPreflight(route, label, head, bytes, &request)
    }
    switch users.decide(on: route, head, bytes, &request) {
    case .admitted(let entry): return forward(entry, route, label, head, bytes, request)
    case .nobody: return forward(nil, route, label, head, bytes, request)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return refuse(.storeUnavailable, head, bytes, request, label: label)
    case .refusedToken(let failure):
      return .answer(responses.tokenRefusal(failure, route, head, bytes, request), label: label)
    case .signedOut:
      if let form = responses.keepableForm(route, head, bytes, request) { return keep(form, label, request) }
      return .answer(responses.signInFirst(route, head, bytes, request), label: label)
    case .outdated(let entry): return signInAgain(entry, route, label, head, bytes, request)
    case .denied(let reason, let entry): return denied.decide(entry, reason, route, label, head, bytes, request)
    }
  }

  /// Has a user sign in again whose sign-in is too old for the route.
  private func signInAgain(
    _ entry: SessionCacheEntry, _ route: RouteDecision, _ label: RequestLabel, _ head: borrowing RequestHead,
    _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    let outdated = KeepableForm.OutdatedSignIn(subject: entry.snapshot.account.subject, maxAge: route.maxAge)
    if let form = responses.keepableForm(route, head, bytes, request, outdated) {
      return keep(form, label, request)
    }
    return .answer(
      responses.signInFirst(route, head, bytes, request, because: .reauthenticationRequired), label: label)
  }

  /// Keeps the entries of a form in the browser.
  private func keep(_ form: KeepableForm, _ label: RequestLabel, _ request: GateRequest) -> GateDecision {
    var action = endpoints[request.site.number].keepForm(form)
    action.label = label
    return .handle(action)
  }

  /// Answers at an application's own address for signing out, which it never sees.
  private func signOut(_ head: borrowing RequestHead, _ request: GateRequest) -> GateDecision {
    if let redirect = redirects.toSignOut(head, request) {
      return .answer(redirect, label: .own)
    }
    return .handle(endpoints[request.site.number].applicationSignOut)
  }

  /// Forwards a CORS preflight, without an identity whatever came along.
  private func forwardPreflight(
    _ route: RouteDecision, _ label: RequestLabel, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ request: inout GateRequest
  ) -> GateDecision {
    if case .absent = MachineTokenField.find(head, bytes) {} else { request.token = .machine }
    switch forward(nil, route, label, head, bytes, request) {
    case .forward(var directive):
      directive.dropsMethodOverride = true
      // The token of a session is the gateway's, too.
      directive.dropsAuthorization = true
      return .forward(directive)
    default: return refuse(.forbidden, head, bytes, request, label: label)
    }
  }

  /// Whether the client's address meets the `networks` of a route.
  private func isInNetworks(
    _ route: RouteDecision, _ head: borrowing RequestHead, _ client: ClientPeer
  ) -> Bool {
    if routes.admits(route, from: ClientAddress.find(client, head)) { return true }
    ClientAddress.warnIfUnknown(client, head, configuration.warnings.networks, logger)
    return false
  }

  @inline(__always)
  private func forward(
    _ entry: SessionCacheEntry?, _ route: RouteDecision, _ label: RequestLabel,
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    var allowsUpgrade = false
    if head.wantsUpgrade, RequestKind.isWebSocket(head, bytes) {
      // A page of another site can open a WebSocket with our cookie; only its Origin tells (RFC 6455, 10.2).
      // No browser sends a machine token by itself.
      let isNoBrowser = request.token.isMachine && !head.fields.has(.origin)
      guard isNoBrowser || request.site.isOwnOrigin(head, bytes) else {
        return refuse(.crossSite, head, bytes, request, label: label)
      }
      allowsUpgrade = true
    }
    let identity =
      entry.map { sessions.identity(of: $0, for: route.upstream) }
      ?? sessions.configuration.upstreamIdentities[route.upstream]?.anonymous
    var binding: CookieBinding?
    if !sessions.configuration.endCookies.isEmpty {
      binding =
        entry.map { $0.binding(on: route.upstream, sessions.configuration) }
        ?? sessions.configuration.endCookies.bindingOfNobody(on: route.upstream)
    }
    var credential = request.isAddressKnown ? 0 : ExchangeCredential.unknownAddress
    var privateLines: [UInt8]?
    if let entry {
      let own =
        entry.isOfMachineToken
        ? .machineToken
        : ExchangeCredential(
          key: entry.key, isBearer: request.token.isOurs && configuration.acceptsBearer,
          scope: request.site.credentialScope)
      credential |= own.number
      if !entry.isSignedByCurrentKey { privateLines = CredentialRenewal.fieldLine(of: entry, sessions, head, bytes) }
    }
    // Constructed in place: a local variable would be copied.
    return .forward(
      ForwardingDirective(
        identity: identity, label: label, session: entry?.connectionKey, credential: credential,
        user: entry?.user, allowsUpgrade: allowsUpgrade, upstream: route.upstream,
        dropsAuthorization: !request.token.isNone,
        dropsMethodOverride: route.dropsMethodOverride, bodyRate: route.bodyRate, privateLines: privateLines,
        binding: binding))
  }

  // MARK: Failures

  private func refuse(
    _ failure: PageFailure, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest,
    label: RequestLabel = .refused
  ) -> GateDecision {
    responses.refuse(failure, head, bytes, request, label: label)
  }

  /// See ``RequestGate/failure(status:reason:preferences:requestID:)``.
  func failure(
    status: Int, reason: String, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    // Failures of the application or the gateway concern the operator; mistakes of a client, and more of the same, are
    // for debugging.
    let suppressed = status >= 500 ? configuration.warnings.failures.admit("\(status) \(reason)") : nil
    let level: Logger.Level = suppressed == nil ? .debug : .warning
    var metadata: Logger.Metadata { ["status": "\(status)", "reason": "\(reason)", "request": "\(requestID)"] }
    if let suppressed, suppressed > 0 {
      logger.log(
        level: level, "request failed", metadata: metadata.merging(["suppressed": "\(suppressed)"]) { own, _ in own })
    } else {
      logger.log(level: level, "request failed", metadata: metadata)
    }
    return responses.failure(status: status, preferences: preferences, requestID: requestID)
  }

  /// See ``RequestGate/answer(to:credential:preferences:requestID:)``.
  func answer(
    to ending: ExchangeEnding, credential: UInt64, preferences: ClientPreferences, requestID: String
  ) -> ControlResponse {
    logger.debug(
      "forwarded request refused before its response",
      metadata: ["reason": "\(PageFailure(ending).rawValue)", "request": "\(requestID)"])
    return responses.answer(
      to: ending, ExchangeCredential(number: credential), preferences: preferences, requestID: requestID)
  }
}

extension GateDecision {
  /// Whether it redirects the browser itself to an origin. `verify` answers another proxy, which asked for its client.
  fileprivate func redirects(to origin: PublicOrigin) -> Bool {
    switch self {
    case .answer(let response, let label):
      guard label.route != .verify, let location = response.head.headerFields[.location] else {
        return false
      }
      return location.utf8.starts(with: "\(origin)/".utf8)
    default: return false
    }
  }
}
