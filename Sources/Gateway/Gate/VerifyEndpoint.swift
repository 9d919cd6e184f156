internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `GET verify`: the gate's decision for another proxy (nginx `auth_request`, forward-auth, ext_authz), as a status.
struct VerifyEndpoint {
  private let configuration: GateConfiguration
  private let sessions: LoopSessions
  private let finder: SessionFinder
  private let logger: Logger

  init(_ configuration: GateConfiguration, _ sessions: LoopSessions, _ logger: Logger) {
    self.configuration = configuration
    self.sessions = sessions
    self.logger = logger
    finder = SessionFinder(sessions, configuration)
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ request: inout GateRequest
  ) -> GateDecision {
    let route: RouteDecision
    let isPathKnown: Bool
    switch originalPath(head, bytes, client) {
    case .decided(let decision): (route, isPathKnown) = (decision, true)
    case .unknown(let cause):
      // A route might deny what is asked for, so nothing is granted; without such routes every path is the same.
      (route, isPathKnown) = (.default, !configuration.routes.hasRestrictions)
      if !isPathKnown { warn(of: cause, client) }
    }
    if case .deny = route.access { return status(.forbidden) }
    if !route.networks.isEmpty, !configuration.routes.admits(route, from: address(head, client)) {
      return status(.forbidden)
    }
    let field = MachineTokenField.find(head, bytes)
    guard case .absent = field else { return decide(field, route, head, bytes) }
    let entry: SessionCacheEntry
    switch finder.find(head, bytes, &request) {
    case .known(let known): entry = known
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable:
      if case .public = route.access { return status(.ok) }
      return status(.serviceUnavailable)
    case .none:
      if case .public = route.access { return status(.ok) }
      return unauthorized(route, head)
    }
    guard isPathKnown else { return status(.forbidden) }
    let isPublic = if case .public = route.access { true } else { false }
    if isPublic, entry.isDenied(sessions.configuration) { return status(.ok) }
    if case .rules(let rules) = route.access {
      if case .denied = entry.verdict(of: rules, sessions.configuration) { return status(.forbidden) }
    }
    if !isPublic, entry.mustSignInAgain(maxAge: route.maxAge, at: sessions.now) { return unauthorized(route, head) }
    if let signing = sessions.renewAssertion(of: entry) { return .suspend(signing) }
    return admitted(entry, head, bytes)
  }

  /// Decides by a machine token.
  private func decide(
    _ field: MachineTokenField, _ route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> GateDecision {
    switch MachineTokens(sessions, configuration).judge(field, route) {
    case .nobody: return status(.ok)
    case .admitted(let entry): return admitted(entry, head, bytes)
    case .suspend(let work): return .suspend(work)
    case .refused(.signInRequired): return unauthorized(route, head)
    case .refused(let failure): return status(HTTPResponse.Status(integerLiteral: failure.status))
    }
  }

  /// 200 with the identity headers.
  private func admitted(
    _ entry: SessionCacheEntry, _ head: borrowing RequestHead, _ bytes: RawSpan
  ) -> GateDecision {
    var fields: HTTPFields = [:]
    let rendered = IdentityHeaders.render(
      account: entry.snapshot.account, session: entry.snapshot.session, groups: entry.groups(sessions.configuration),
      settings: sessions.configuration.identity)
    for field in rendered {
      if let name = HTTPField.Name(field.name) {
        fields.append(HTTPField(name: name, value: String(decoding: field.value, as: UTF8.self)))
      }
    }
    if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) {
      fields.append(HTTPField(name: .setCookie, value: cookie))
    }
    if let assertion = entry.assertion { fields[.identityAssertion] = assertion }
    return status(.ok, fields)
  }

  /// 401 with the challenges of the original request's route.
  private func unauthorized(_ route: RouteDecision, _ head: borrowing RequestHead) -> GateDecision {
    var response = ControlResponse(.unauthorized, fields: [.cacheControl: "no-store"])
    AuthenticationChallenge.add(to: &response, route, head, realm: configuration.origin.authority)
    return .answer(response, routeClass: RouteLabel.verify.rawValue)
  }

  /// The address of the client that the other proxy serves: of a trusted one that names it, otherwise none.
  private func address(_ head: borrowing RequestHead, _ client: ClientPeer) -> IPAddress? {
    guard client.isTrusted, client.isAddressKnown, head.fields.has(.xForwardedFor) else { return nil }
    return IPAddress(client.address)
  }

  private func status(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> GateDecision {
    var fields = fields
    fields[.cacheControl] = "no-store"
    return .answer(ControlResponse(status, fields: fields), routeClass: RouteLabel.verify.rawValue)
  }

  /// The path that the other proxy was asked for, as far as it can be known.
  private enum OriginalPath {
    /// The decision of the routes, or a denial if the path is ambiguous or refused.
    case decided(RouteDecision)
    case unknown(UnknownPathCause)
  }

  /// The reason that the original path of a `verify` request is unknown.
  private enum UnknownPathCause {
    case untrustedPeer, noPathHeader

    /// The message and its remedy.
    var log: (message: Logger.Message, remedy: Logger.MetadataValue) {
      switch self {
      case .untrustedPeer:
        (
          "denied verify request from an untrusted peer: some routes are restricted",
          "if this is your proxy, add its address to listen.trusted_proxies"
        )
      case .noPathHeader:
        (
          "denied verify request without the original path: some routes are restricted",
          "let the proxy send the path as X-Original-URI or X-Forwarded-Uri (listen.trusted_proxies lists it already)"
        )
      }
    }
  }

  private func warn(of cause: UnknownPathCause, _ client: ClientPeer) {
    guard configuration.verifyWarnings.isDue() else { return }
    let (message, remedy) = cause.log
    logger.warning(message, metadata: ["peer": "\(client.address)", "remedy": remedy])
  }

  /// The decision for the path that the other proxy was asked for. Only a trusted proxy is believed.
  private func originalPath(_ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer) -> OriginalPath {
    guard client.isTrusted else { return .unknown(.untrustedPeer) }
    guard let line = head.fields.line(.xOriginalURI) ?? head.fields.line(.xForwardedURI) else {
      return .unknown(.noPathHeader)
    }
    // Two of them could be two paths: one for us, one for the application.
    guard !head.fields.isRepeated(line.known), !(head.fields.has(.xOriginalURI) && head.fields.has(.xForwardedURI))
    else {
      return .decided(RouteDecision(access: .deny))
    }
    var end = line.value.lowerBound
    while end < line.value.upperBound, bytes.byte(at: end) != 0x3F { end += 1 }
    let path = bytes.extracting(line.value.lowerBound..<end)._unsafeView(as: UInt8.self)
    let classification = PathClassification.classify(path)
    if case .refused = classification { return .decided(RouteDecision(access: .deny)) }
    return .decided(configuration.routes.matchWithSessionParameter(path, classification))
  }
}
