internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Pages
internal import Sessions

/// The responses that end a sign-in in the browser, by its destination: a page of `public_url`, another host, or the
/// native app that began it.
struct SignInResponses: Sendable {
  let keyring: SessionKeyring
  let pages: EndpointPages
  let appReturns: AppReturns
  let handOver: HandOver
  let creation: SessionCreation
  let reset: BrowserReset

  // MARK: Success

  /// The redirect to the destination of a sign-in that has created a session, with the session's cookie. An app gets a
  /// one-time code and no cookie: its session is not the browser's.
  func completed(_ made: IdentifiedSession, of signIn: SignInState, _ request: ControlRequest) -> ControlResponse {
    var response: ControlResponse
    switch signIn.destination {
    case .app(let target, let challenge):
      return ending(signIn, appReturns.redirect(made, to: target, challenge: challenge, request))
    case .page(let path): response = .redirect(.seeOther, to: path)
    case .host(let visit):
      response = handOver.redirect(made.identifier, to: visit, request) ?? pages.failure(.internalError, request)
    }
    response.setCookie(creation.sessionCookie(made.identifier))
    reset.noteSignIn(of: made.snapshot.account.subject, request, in: &response)
    for cookie in PendingSignIns(of: request, keyring).replacing(made.identifier.handle, except: signIn) {
      response.setCookie(cookie)
    }
    return ending(signIn, response)
  }

  // MARK: Failure

  /// The page of a failure of no sign-in that is known here.
  func failure(_ error: SignInError, _ request: ControlRequest) -> ControlResponse {
    creation.noteFailure(error, request)
    return pages.failure(error.page, request)
  }

  /// The page of a failed sign-in, with the way to its destination, or the redirect to its app.
  /// - Parameter user: the signed-in user whom the page names.
  func failure(
    _ error: SignInError, of signIn: SignInState, _ request: ControlRequest, to user: Account? = nil
  ) -> ControlResponse {
    creation.noteFailure(error, request)
    var response: ControlResponse
    switch signIn.destination {
    case .app(let target, _): response = appReturns.redirect(error.page, to: target)
    case .host(let visit):
      response = (handOver.pages(of: visit) ?? pages).failure(
        error.page, request, returnTo: visit.returnTo, to: user)
    case .page(let path): response = pages.failure(error.page, request, returnTo: path, to: user)
    }
    if error.page == .banned { reset.apply(to: &response) }
    return ending(signIn, response)
  }

  /// The redirect of a signed-in user to the front page, instead of the page of a failure that the user need not see.
  func frontPage(insteadOf error: SignInError, _ request: ControlRequest) -> ControlResponse {
    creation.noteFailure(error, request)
    return .redirect(.seeOther, to: ReturnTarget.frontPage.path)
  }

  /// Keeps the name that Apple has sent, and does not send again, in this browser for the next sign-in of its owner,
  /// who is not verified yet.
  func keepName(of grant: AuthorizationResponse.Success, in response: inout ControlResponse) {
    guard let name = PersonName(grant.user), let owner = PendingDisplayName.Owner(grant),
      let cookie = try? PendingDisplayName(name, of: owner).setCookie(keyring, now: .now)
    else { return }
    response.setCookie(cookie)
  }

  // MARK: The cookie of the sign-in

  /// Removes the cookie of a sign-in with the redirect that completes it, or that returns to an app. With the page of a
  /// failure it stays: if that is reloaded, the cookie says that the sign-in was begun here, and where it was going.
  private func ending(_ signIn: SignInState, _ response: ControlResponse) -> ControlResponse {
    guard response.head.status == .seeOther else { return response }
    var response = response
    response.setCookie(SignInState.clearCookie(signIn.identifier, keyring.cookies))
    return response
  }
}
