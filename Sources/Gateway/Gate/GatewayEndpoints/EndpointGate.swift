internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Pages
internal import WebFormats

/// Decides about requests for the gateway's own endpoints: answers `GET session` from the cache of this loop, and
/// leaves the others to the control plane. The gate has verified their authority and path.
struct EndpointGate {
  private let configuration: GateConfiguration
  private let sessions: LoopSessions
  private let finder: SessionFinder
  private let tokens: MachineTokens
  private let responses: GateResponses
  private let redirects: HostRedirects
  /// The endpoints of each site, by its number.
  private let endpoints: [SiteEndpoints]

  init(_ configuration: GateConfiguration, _ sessions: LoopSessions, _ endpoints: [SiteEndpoints]) {
    self.configuration = configuration
    self.sessions = sessions
    self.endpoints = endpoints
    finder = SessionFinder(sessions, configuration)
    tokens = MachineTokens(sessions, configuration)
    responses = GateResponses(configuration)
    redirects = HostRedirects(configuration)
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ path: Range<Int>, _ request: inout GateRequest
  ) -> GateDecision {
    let name = path.lowerBound + configuration.paths.folder.count..<path.upperBound
    guard let endpoint = GatewayEndpoint(name: bytes.string(name)) else {
      return responses.refuse(.notFound, head, bytes, request, label: .own)
    }
    if endpoint == .session, head.method == .get { return describeSession(head, bytes, &request) }
    if let redirect = redirects.toPublicURL(endpoint, head, bytes, request) {
      return .answer(redirect, label: .own)
    }
    if endpoint.needsSession, let decision = requireSession(for: endpoint, head, bytes, &request) {
      return decision
    }
    return handle(endpoint, head, bytes, request)
  }

  /// The endpoint of the request's site; 404 where it does not have it.
  private func handle(
    _ endpoint: GatewayEndpoint, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    guard var action = endpoints[request.site.number].actions[endpoint] else {
      return responses.refuse(.notFound, head, bytes, request, label: .own)
    }
    action.endpoint = endpoint.rawValue
    return .handle(action)
  }

  /// The action of the same endpoint of the request's site in this configuration; nil if it has none.
  func present(_ action: EndpointAction, for request: ControlRequest) -> EndpointAction? {
    guard let name = action.endpoint else { return action }
    guard let endpoint = GatewayEndpoint(rawValue: name),
      let site = configuration.sites.site(of: Array((request.head.authority ?? "").utf8).span)
    else { return nil }
    return endpoints[site.number].actions[endpoint]
  }

  /// The decision about a request for one of our pages without a valid session, as on the application's paths; nil with
  /// one.
  private func requireSession(
    for endpoint: GatewayEndpoint, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> GateDecision? {
    // A machine is nobody on our pages.
    guard case .absent = MachineTokenField.find(head, bytes) else {
      return .answer(responses.failureJSON(.signInRequired, head, bytes, request), label: .own)
    }
    switch finder.find(head, bytes, &request) {
    case .known: return nil
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return responses.refuse(.storeUnavailable, head, bytes, request, label: .own)
    case .none:
      // The endpoint itself may have ended it, by the first of two clicks. Not its own action: the session may be one
      // that is refused here and that the store still has, as after `revalidation.grace`.
      if endpoint == .accountStop, head.method == .post, let again = endpoints[request.site.number].stopAgain {
        return .handle(again)
      }
      return .answer(responses.signInFirst(.default, head, bytes, request), label: .own)
    }
  }

  /// `GET session` from the cache. `?peek=1` must not count as a use of the session: the endpoint answers it.
  private func describeSession(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> GateDecision {
    if SessionPeek.isAsked(bytes, head.query) { return handle(.session, head, bytes, request) }
    let field = MachineTokenField.find(head, bytes)
    guard case .absent = field else { return describeSession(field, head, bytes, request) }
    switch finder.find(head, bytes, &request) {
    case .known(let entry):
      var response = SessionDescription.response(
        entry.snapshot, groups: entry.groups(sessions.configuration),
        token: CredentialRenewal.token(of: entry, sessions, head, bytes))
      if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) { response.setCookie(cookie) }
      return .answer(response, label: .own)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return responses.refuse(.storeUnavailable, head, bytes, request, label: .own)
    case .none:
      return .answer(responses.failureJSON(.signInRequired, head, bytes, request), label: .own)
    }
  }

  /// `GET session` with a machine token.
  private func describeSession(
    _ field: MachineTokenField, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    switch tokens.find(field) {
    case .known(let entry):
      guard let token = entry.machineToken else { break }
      return .answer(MachineTokenDescription.response(token), label: .own)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return responses.refuse(.storeUnavailable, head, bytes, request, label: .own)
    case .none: break
    }
    return .answer(responses.failureJSON(.signInRequired, head, bytes, request), label: .own)
  }
}
