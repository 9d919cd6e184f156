internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `sign-in` and `authorize`: the page with Apple's button, and the redirect to Apple.
struct AuthorizeEndpoint: Sendable {
  let origin: OriginSettings
  let showsSignInPage: Bool
  let apple: AppleIdentityProvider
  let button: AppleButton
  let keyring: SessionKeyring
  let pages: EndpointPages
  let returnTargets: ReturnTargets
  let requestSessions: RequestSessions
  let appReturns: AppReturns
  let metrics: MetricsRegistry
  let logger: Logger

  /// `GET sign-in`: the page, or straight to Apple, by configuration.
  func signInPage(_ request: ControlRequest) async -> ControlResponse {
    let wanted = returnTargets.wanted(request)
    guard showsSignInPage else {
      return .redirect(
        .found, to: GatewayEndpoint.authorize.path(below: origin.prefix) + "?return_to=\(wanted.queryValue)")
    }
    return ControlResponse(
      pages.pages(request).signIn(returnTo: wanted.path, button: await button.button(for: pages.languages(request))))
  }

  /// `GET authorize`: begins a sign-in and redirects the browser to Apple. Only for top-level navigations: a script, a
  /// frame or a prefetch must not begin sign-ins.
  func authorize(_ request: ControlRequest) async -> ControlResponse {
    let fields = request.head.headerFields
    guard Self.isTopLevelNavigation(fields) else {
      return pages.failureJSON(.signInRequired, request)
    }
    let destination: SignInState.Destination
    do throws(AppReturnViolation) {
      destination = try appReturns.destination(request) ?? .page(returnTargets.wanted(request).path)
    } catch {
      switch error {
      case .address: return pages.failure(.badRequest, request)
      case .challenge(let target): return appReturns.redirect(.badRequest, to: target)
      }
    }
    let cookies = RequestCookies(fields)
    let now = WallClock.now()
    let attempt = SignInState(
      to: destination, replacing: replaced(destination, request), isCrossSite: fields[.secFetchSite] == "cross-site",
      now: now)
    let target = apple.authorizationRequest(
      redirectURI: origin.redirectURI, state: attempt.state, nonce: attempt.nonce)
    var response = ControlResponse.redirect(.found, to: target.url)
    // The state in the address must not travel on as a referrer.
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    do throws(SealError) {
      response.setCookie(try attempt.setCookie(keyring))
    } catch {
      logger.error("encrypting the sign-in state failed", metadata: ["request": "\(request.requestID)"])
      return pages.failure(.internalError, request)
    }
    for name in surplus(cookies, with: attempt, now: now) { response.setCookie(SignInState.clearCookie(name)) }
    metrics.signInAttempts.count("web")
    return response
  }

  /// The session that this sign-in replaces: the browser's own. An app's sign-in replaces none.
  private func replaced(_ destination: SignInState.Destination, _ request: ControlRequest) -> PublicSessionID? {
    if case .app = destination { return nil }
    return requestSessions.identifiers(request).first?.handle
  }

  /// The sign-in states of this browser to remove so that no more than the limit remain: those that cannot be opened,
  /// then the oldest. Another site cannot cause the removal of one that the user began here.
  private func surplus(_ cookies: RequestCookies, with attempt: SignInState, now: Int64) -> [String] {
    var dead: [String] = []
    var rivals: [SignInState] = []
    for name in SignInState.names(in: cookies) {
      guard let other = try? SignInState.open(name, in: cookies, keyring, now: now) else {
        dead.append(name)
        continue
      }
      if other.isCrossSite == attempt.isCrossSite { rivals.append(other) }
    }
    let room = (attempt.isCrossSite ? SignInState.mostCrossSite : SignInState.mostAtOnce) - 1
    guard rivals.count > room else { return dead }
    return dead + rivals.sorted { $0.began < $1.began }.prefix(rivals.count - room).map(\.name)
  }

  /// Whether the request is a top-level navigation by Fetch Metadata, neither a frame nor a prefetch. True for browsers
  /// that do not send it.
  private static func isTopLevelNavigation(_ fields: HTTPFields) -> Bool {
    (fields[.secFetchMode] ?? "navigate") == "navigate" && (fields[.secFetchDest] ?? "document") == "document"
      && fields[.secPurpose] == nil && fields[.purpose] == nil && fields[.xMoz] == nil
  }
}

extension HTTPField.Name {
  static let secFetchMode = HTTPField.Name("Sec-Fetch-Mode")!
  fileprivate static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest")!
  static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
  /// `prefetch`, with or without `prerender`.
  fileprivate static let secPurpose = HTTPField.Name("Sec-Purpose")!
  /// The same of older browsers.
  fileprivate static let purpose = HTTPField.Name("Purpose")!
  fileprivate static let xMoz = HTTPField.Name("X-Moz")!
}
