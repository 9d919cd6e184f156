internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
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
  let handOver: HandOver
  /// The evaluator of the routes of `public_url`.
  let evaluator: AccessEvaluator
  /// The shortest `max_age` of all routes, in seconds; nil for none.
  let shortestMaxAge: Int?
  let metrics: MetricsRegistry
  let logger: Logger

  /// `GET sign-in`: the page, or straight to Apple, by configuration. Straight back, also to another host, if the
  /// session of the browser suffices. The page is also shown if the address would be lost without it: its button begins
  /// the sign-in on our own site.
  func signInPage(_ request: ControlRequest) async -> ControlResponse {
    do throws(VisitViolation) {
      if let visit = try handOver.visit(in: request) { return await signIn(for: visit, request) }
    } catch {
      return failed(error, request)
    }
    let wanted = returnTargets.wanted(request)
    if await isSignedIn(for: wanted, request) { return .redirect(.seeOther, to: wanted.path) }
    guard showsSignInPage || SignInState.losesPath(wanted.path, isCrossSite: request.isOfAnotherSite) else {
      return redirectToAuthorize("return_to=\(wanted.queryValue)")
    }
    return ControlResponse(
      pages.pages(request).signIn(returnTo: wanted.path, button: await button.button(for: pages.languages(request))))
  }

  /// Whether the session of the browser suffices for a page of the application: another tab may have signed in since.
  /// Not for our own endpoints, of which some need a recent sign-in.
  ///
  /// The gate must agree, to avoid a redirect loop. It sends a user to sign in again for the `max_age` of another path
  /// or method as well (a form's page, a script), so the session must be recent enough for every route.
  private func isSignedIn(for wanted: ReturnTarget, _ request: ControlRequest) async -> Bool {
    guard request.head.method == .get, request.isTopLevelNavigation, !request.asksForNewSignIn,
      !wanted.path.utf8.starts(with: "\(origin.prefix)/".utf8),
      // If the store does not answer, the callback reports it.
      let found = try? await requestSessions.find(request)
    else { return false }
    let now = Date.now
    if let shortestMaxAge, !found.session.isRecent(.seconds(shortestMaxAge), at: now) { return false }
    return !handOver.mustSignInAgain(found, at: now) && evaluator.isAdmitted(found, to: wanted.path)
  }

  private func signIn(for visit: HostVisit, _ request: ControlRequest) async -> ControlResponse {
    let pages = handOver.pages(of: visit) ?? pages
    // Codes are issued for navigations only, not for a script, a frame or HEAD.
    guard request.head.method == .get, request.isTopLevelNavigation else {
      return pages.failureJSON(.signInRequired, request)
    }
    do throws(StoreError) {
      if let back = try await handOver.redirect(for: visit, request) { return back }
    } catch {
      return pages.failure(.storeUnavailable, request, returnTo: visit.returnTo)
    }
    guard let sealed = try? keyring.sealVisit(visit) else {
      return pages.failure(.internalError, request, returnTo: visit.returnTo)
    }
    guard showsSignInPage || SignInState.losesPath(visit.returnTo, isCrossSite: isRedirectedCrossSite(request)) else {
      return redirectToAuthorize("\(HandOver.parameter)=\(sealed)")
    }
    return ControlResponse(
      pages.pages(request).signIn(visit: sealed, button: await button.button(for: pages.languages(request))))
  }

  private func redirectToAuthorize(_ query: String) -> ControlResponse {
    .redirect(.found, to: "\(GatewayEndpoint.authorize.path(below: origin.prefix))?\(query)")
  }

  /// The page for a visit that cannot be continued.
  private func failed(_ violation: VisitViolation, _ request: ControlRequest) -> ControlResponse {
    switch violation {
    case .malformed: pages.failure(.attemptUnknown, request)
    case .over(let visit):
      (handOver.pages(of: visit) ?? pages).failure(.attemptExpired, request, returnTo: visit.returnTo)
    }
  }

  /// `GET authorize`: begins a sign-in and redirects the browser to Apple. Only for top-level navigations: a script, a
  /// frame or a prefetch must not begin sign-ins.
  func authorize(_ request: ControlRequest) async -> ControlResponse {
    guard request.isTopLevelNavigation else { return pages.failureJSON(.signInRequired, request) }
    let visit: HostVisit?
    do throws(VisitViolation) {
      visit = try handOver.visit(in: request).map { $0.returning(to: request.addingFragment(to: $0.returnTo)) }
    } catch {
      return failed(error, request)
    }
    // Another tab may have signed in since. If the store does not answer, the callback reports it.
    if let visit, let back = try? await handOver.redirect(for: visit, request) { return back }
    let destination: SignInState.Destination
    do throws(AppReturnViolation) {
      destination = try self.destination(of: request, continuing: visit)
    } catch {
      switch error {
      case .address: return pages.failure(.badRequest, request)
      case .challenge(let target): return appReturns.redirect(.badRequest, to: target)
      }
    }
    // A visit of our page's button is no exception: anybody can begin one, and send other browsers here with it.
    let isRedirected = visit != nil && !showsSignInPage
    let isOfAnotherSite = isRedirected ? isRedirectedCrossSite(request) : request.isOfAnotherSite
    return begin(to: destination, isCrossSite: isOfAnotherSite, request)
  }

  /// The destination of a sign-in: the host of the visit that it continues, the app that begins it, or a page.
  private func destination(
    of request: ControlRequest, continuing visit: HostVisit?
  ) throws(AppReturnViolation) -> SignInState.Destination {
    if let visit { return .host(visit) }
    if let app = try appReturns.destination(request) { return app }
    return .page(request.addingFragment(to: returnTargets.wanted(request).path))
  }

  /// Begins a sign-in: the redirect to Apple, with the cookie of its state.
  private func begin(
    to destination: SignInState.Destination, isCrossSite: Bool, _ request: ControlRequest
  ) -> ControlResponse {
    let now = WallClock.now()
    let signIn = SignInState(
      to: destination, replacing: replaced(destination, request), isCrossSite: isCrossSite, now: now)
    let target = apple.authorizationRequest(
      redirectURI: origin.redirectURI, state: signIn.state, nonce: signIn.nonce)
    var response = ControlResponse.redirect(.found, toSecret: target.url)
    do throws(SealError) {
      response.setCookie(try signIn.setCookie(keyring))
    } catch {
      logger.error("encrypting the sign-in state failed", metadata: ["request": "\(request.requestID)"])
      return pages.failure(.internalError, request)
    }
    for cookie in PendingSignIns(of: request, keyring, now: now).makingRoom(for: signIn) { response.setCookie(cookie) }
    metrics.signInAttempts.count("web")
    return response
  }

  /// Whether a page of another site caused the request of a visit, where no page of ours is shown in between: then our
  /// own host redirects its visits here, as "same-site" if it shares the registrable domain.
  private func isRedirectedCrossSite(_ request: ControlRequest) -> Bool {
    request.head.headerFields[.secFetchSite] == "cross-site"
  }

  /// The session that this sign-in replaces: the browser's own. An app's sign-in replaces none.
  private func replaced(_ destination: SignInState.Destination, _ request: ControlRequest) -> PublicSessionID? {
    destination.isApp ? nil : requestSessions.identifiers(request).first?.handle
  }
}
