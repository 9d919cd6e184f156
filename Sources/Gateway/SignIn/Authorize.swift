internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Sessions

/// The beginning of a sign-in: the page with Apple's button, and the way to Apple.
extension SignInService {
  /// `GET sign-in`: the page, or straight to Apple, by configuration.
  func signInPage(_ request: ControlRequest) async -> ControlResponse {
    let wanted = wanted(request)
    guard settings.pages.showSignInPage else {
      return .redirect(.found, to: "\(settings.prefix)/authorize?return_to=\(wanted.queryValue)")
    }
    return ControlResponse(
      pages(request).signIn(returnTo: wanted.path, button: await button.button(for: languages(request))))
  }

  /// `GET authorize`: starts an attempt and sends the browser to Apple. Navigations only: whatever a script fetches must
  /// not start attempts.
  func authorize(_ request: ControlRequest) async -> ControlResponse {
    if let name = HTTPField.Name("Sec-Fetch-Mode"), let mode = request.head.headerFields[name], mode != "navigate" {
      return ControlResponse(pages(request).failureJSON(.signInRequired, requestID: request.requestID))
    }
    let destination: SignInAttempt.Destination
    do throws(HandBackRefusal) {
      destination = try appDestination(request) ?? .page(wanted(request).path)
    } catch {
      switch error {
      case .address: return failure(.badRequest, request)
      case .challenge(let target): return handBack(.badRequest, to: target)
      }
    }
    let cookies = RequestCookies(request.head.headerFields)
    let now = WallClock.now()
    let attempt = SignInAttempt(to: destination, replacing: replaced(destination, request), now: now)
    let target = apple.authorizationRequest(
      redirectURI: settings.redirectURI, state: attempt.state, nonce: attempt.nonce)
    var response = ControlResponse.redirect(.found, to: target.url)
    // The state in the address must not travel on as a referrer.
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    do throws(SealError) {
      response.setCookie(try attempt.setCookie(keyring))
    } catch {
      logger.error("an attempt to sign in could not be sealed", metadata: ["request": "\(request.requestID)"])
      return failure(.internalError, request)
    }
    for name in surplus(cookies, now: now) { response.setCookie(SignInAttempt.clearCookie(name)) }
    metrics.signInAttempts.count("web")
    return response
  }

  /// The session that this sign-in ends: the browser's own, if it is for the browser. An app's sign-in leaves it alone.
  private func replaced(_ destination: SignInAttempt.Destination, _ request: ControlRequest) -> SessionHandle? {
    if case .app = destination { return nil }
    return identifier(request)?.handle
  }

  /// The attempts of this browser that have to go so that no more than the limit remain: what cannot be opened first,
  /// then the oldest.
  private func surplus(_ cookies: RequestCookies, now: Int64) -> [String] {
    var dead: [String] = []
    var living: [SignInAttempt] = []
    // A name in a cookie of another's making must not reach a Set-Cookie of ours.
    for name in cookies.names(after: SignInAttempt.cookiePrefix)
    where name.utf8.count == 16 && name.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 &- 0x61 < 6 }) {
      if let attempt = try? SignInAttempt.open(name, in: cookies, keyring, now: now) {
        living.append(attempt)
      } else {
        dead.append(name)
      }
    }
    let room = SignInAttempt.mostAtOnce - 1
    guard living.count > room else { return dead }
    return dead + living.sorted { $0.began < $1.began }.prefix(living.count - room).map(\.name)
  }
}
