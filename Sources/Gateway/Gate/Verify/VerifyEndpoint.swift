internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import HTTPWire
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `verify`: the gate's decision for another proxy (nginx `auth_request`, forward-auth, ext_authz), as a status. It
/// answers every method, and where `verify.believe` has `path` also below `verify/`, where the path of the original
/// request follows.
struct VerifyEndpoint {
  private let configuration: GateConfiguration
  private let sessions: LoopSessions
  private let users: UserAdmission
  private let reader: OriginalRequestReader
  private let overrides = RequestOverrides()
  private let logger: Logger

  init(_ configuration: GateConfiguration, _ sessions: LoopSessions, _ logger: Logger) {
    self.configuration = configuration
    self.sessions = sessions
    self.logger = logger
    users = UserAdmission(configuration, sessions)
    reader = OriginalRequestReader(
      configuration.verify, configuration.sites.authorities, path: configuration.paths.verify)
  }

  /// Whether a path is that of `verify`, or one below it where the path of the original request follows. Elsewhere a
  /// proxy that resolves `verify/../x` would take it for one of the gateway's pages, and let clients ask.
  @inline(__always)
  func answers(_ bytes: RawSpan, _ path: Range<Int>) -> Bool {
    let own = configuration.paths.verify
    guard path.count >= own.count, own.indices.allSatisfy({ bytes.byte(at: path.lowerBound + $0) == own[$0] }) else {
      return false
    }
    if path.count == own.count { return true }
    return reader.takesPathBelow && bytes.byte(at: path.lowerBound + own.count) == UInt8(ascii: "/")
  }

  func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ request: inout GateRequest
  ) -> GateDecision {
    var doubt: OriginalRequest.AmbiguityError?
    let decision = decide(head, bytes, client, &request, noting: &doubt)
    guard let doubt else { return decision }
    return warn(of: doubt, decision, head, client)
  }

  /// - Parameter doubt: set to what is wrong with the original request, where that is to be logged.
  @inline(__always)
  private func decide(
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ client: ClientPeer, _ request: inout GateRequest,
    noting doubt: inout OriginalRequest.AmbiguityError?
  ) -> GateDecision {
    let original: OriginalRequest
    do throws(OriginalRequest.AmbiguityError) {
      original = try reader.read(head, bytes, client)
    } catch {
      doubt = error
      return status(.forbidden)
    }
    request.site = configuration.sites.site(original.place)
    let route: RouteDecision
    let isPathKnown: Bool
    switch original.target {
    case .known(let target, let method): (route, isPathKnown) = (self.route(target, method, bytes, request.site), true)
    case .unknown(let reason):
      // A route might deny what is asked for, so nothing is granted; without such routes every path is the same.
      (route, isPathKnown) = (.default, !configuration.routes.hasRestrictions)
      if !isPathKnown { doubt = reason }
    }
    var decision = decide(route, original, head, bytes, client, &request)
    decision.note(ambiguityOf: route)
    guard decision.isAdmission else { return decision }
    guard isPathKnown else { return status(.forbidden) }
    if let found = overrides.doubt(about: original.target, head, bytes, route) {
      doubt = found
      return status(.forbidden)
    }
    // Requests in a tunnel of another protocol (`h2c`) would reach the application, and nobody would ask about them.
    if RequestKind.hasOtherUpgrade(head, bytes) {
      doubt = .otherUpgrade
      return status(.forbidden)
    }
    // A page of another site can open a WebSocket with our cookie. A proxy may leave `Origin` out, as other clients do.
    if head.fields.has(.origin), RequestKind.isAboutWebSocket(head, bytes), !request.site.isOwnOrigin(head, bytes) {
      return status(.forbidden)
    }
    guard head.fields.has(.destination) else { return decision }
    let other = decideDestination(route, original, head, bytes, client, &request)
    if other.isAdmission { return decision }
    return other
  }

  /// Decides on the path of the `Destination`, which must admit as well.
  /// - Parameter route: that of the request's own path.
  private func decideDestination(
    _ route: RouteDecision, _ original: OriginalRequest, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ client: ClientPeer, _ request: inout GateRequest
  ) -> GateDecision {
    let method: Range<Int>? = if case .known(_, let method) = original.target { method } else { nil }
    guard
      case .route(let other) = DestinationField.route(head, bytes, method: method, of: request.site, configuration),
      other.upstream == route.upstream
    else { return status(.forbidden) }
    if other.dropsMethodOverride, overrides.nameMethod(head, bytes) { return status(.forbidden) }
    return decide(other, original, head, bytes, client, &request)
  }

  /// Decides by one route.
  private func decide(
    _ route: RouteDecision, _ original: OriginalRequest, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ client: ClientPeer, _ request: inout GateRequest
  ) -> GateDecision {
    switch route.access {
    // The other proxy would pass a sign-out on to the application instead of us.
    case .signOut, .deny: return status(.forbidden)
    case .public, .signedIn, .rules: break
    }
    if !route.networks.isEmpty, !configuration.routes.admits(route, from: reader.address(head, client)) {
      return status(.forbidden)
    }
    switch users.decide(on: route, head, bytes, &request) {
    case .nobody: return status(.ok)
    case .admitted(let entry): return admitted(entry, head, bytes)
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return status(.serviceUnavailable)
    case .signedOut: return signInFirst(route, original, head, bytes, request)
    case .outdated: return signInFirst(route, original, head, bytes, request, isRepeated: true)
    case .denied: return status(.forbidden)
    case .refusedToken(.signInRequired):
      return unauthorized(route, signIn: signInAddress(original, bytes, request.site), head, request)
    case .refusedToken(let failure): return status(HTTPResponse.Status(integerLiteral: failure.status))
    }
  }

  /// The decision for the path that the other proxy was asked for: without a method every method must be admitted, but
  /// not to what is below the path. With a method that acts on that, all of it counts whatever `Depth` says: where
  /// `Connection` names the field, proxies pass it on to us and not to the application.
  private func route(
    _ target: Range<Int>, _ method: Range<Int>?, _ bytes: RawSpan, _ site: GateSite
  ) -> RouteDecision {
    let path = bytes.extracting(bytes.path(of: target))._unsafeView(as: UInt8.self)
    let classification = PathClassification.classify(path)
    if case .refused = classification { return RouteDecision(access: .deny) }
    guard let method else {
      return configuration.routes.matchWithSessionParameter(path, classification, host: site.routes)
    }
    return configuration.routes.matchWithSessionParameter(
      path, classification, method: bytes.extracting(method)._unsafeView(as: UInt8.self), host: site.routes)
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
        // Bytes: a template may be in ISO 8859-1.
        fields.append(HTTPField(name: name, lenientValue: field.value))
      }
    }
    if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) {
      fields.append(HTTPField(name: .setCookie, value: cookie))
    }
    if let assertion = entry.identity.assertion { fields[.identityAssertion] = assertion }
    return status(.ok, fields)
  }

  // MARK: Signing in

  /// The response to a request that needs a session, or one of a later sign-in: 401, or a redirect to sign in where the
  /// proxy passes that on to a browser that shows it.
  private func signInFirst(
    _ route: RouteDecision, _ original: OriginalRequest, _ head: borrowing RequestHead, _ bytes: RawSpan,
    _ request: GateRequest, isRepeated: Bool = false
  ) -> GateDecision {
    let address = signInAddress(original, bytes, request.site, isRepeated: isRepeated)
    guard original.mayRedirect, route.unauthenticated == .automatic, !head.wantsUpgrade, !request.token.isOurs,
      case .known(_, let method) = original.target, RequestKind.isNavigation(head, bytes),
      method.map({ bytes.equals("GET", $0) || bytes.equals("HEAD", $0) }) ?? true
    else { return unauthorized(route, signIn: address, head, request) }
    return .answer(.redirect(toSignIn: address), label: .verify)
  }

  /// 401 with the challenges of the original request's route, and the address to sign in at.
  private func unauthorized(
    _ route: RouteDecision, signIn address: String, _ head: borrowing RequestHead, _ request: GateRequest
  ) -> GateDecision {
    var response = ControlResponse(
      .unauthorized, fields: [.cacheControl: "no-store", .xAuthSignIn: address])
    AuthenticationChallenge.add(to: &response, route, head, realm: request.site.origin.authority)
    return .answer(response, label: .verify)
  }

  /// The page of the host that leads to Apple and back to the original address, all of whose bytes are escaped. For an
  /// alias it is that of `public_url`.
  /// - Parameter isRepeated: whether the session is too old: without a new sign-in a host would get it once more.
  private func signInAddress(
    _ original: OriginalRequest, _ bytes: RawSpan, _ site: GateSite, isRepeated: Bool = false
  ) -> String {
    let page = "\(site.origin)\(GatewayEndpoint.signIn.path(below: configuration.paths.prefix))"
    guard case .known(let target, _) = original.target else { return page }
    let wanted = ReturnTarget(
      parsing: bytes.extracting(target)._unsafeView(as: UInt8.self), origin: site.origin,
      prefix: configuration.paths.prefix)
    let more = isRepeated && !site.isPublicURL ? "&\(PageRenderer.newSignIn)=1" : ""
    return "\(page)?return_to=\(wanted.queryValue)\(more)"
  }

  // MARK: Answers

  private func status(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> GateDecision {
    var fields = fields
    fields[.cacheControl] = "no-store"
    return .answer(ControlResponse(status, fields: fields), label: .verify)
  }

  /// Warns of a doubt, at most once a minute for each. A request that is suspended is decided on again.
  /// - Returns: the decision, or the same with the warning: the address of a proxy that has named its client is known
  ///   to the connection alone.
  private func warn(
    of doubt: OriginalRequest.AmbiguityError, _ decision: consuming GateDecision, _ head: borrowing RequestHead,
    _ client: ClientPeer
  ) -> GateDecision {
    guard decision.isAnswer, configuration.warnings.verify.isDue(String(doubt.rawValue)) else { return decision }
    let (message, remedy) = doubt.log
    guard ClientAddress.isNamedByProxy(client, head) else {
      logger.warning(message, metadata: ["peer": "\(client.address)", "remedy": "\(remedy)"])
      return decision
    }
    let (logger, address) = (logger, client.address)
    return decision.logging { proxy in
      logger.warning(message, metadata: ["client": "\(address)", "proxy": "\(proxy)", "remedy": "\(remedy)"])
    }
  }
}

extension GateDecision {
  /// Whether `verify` admits the original request.
  fileprivate var isAdmission: Bool {
    switch self {
    case .answer(let response, _): response.head.status == .ok
    default: false
    }
  }
}

extension HTTPField.Name {
  fileprivate static let xAuthSignIn = HTTPField.Name("X-Auth-Sign-In")!
}
