internal import AppleIdentity
internal import DataPlane
internal import Logging
internal import Pages
internal import Sessions

/// `callback`: receives Apple's authorization response in the configured response mode, finds the sign-in of this
/// browser that it is for, and answers with a session or the page of a failure.
struct CallbackEndpoint: Sendable {
  let responseMode: AppleSettings.ResponseMode
  let keyring: SessionKeyring
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let verification: SignInVerification
  let responses: SignInResponses
  let failures: SignInFailureLog
  let logger: Logger

  /// `POST callback`: `form_post`; in the other modes only requests of our own pages.
  func post(_ request: ControlRequest) async -> ControlResponse {
    do throws(SignInError) {
      let form = try CallbackForm(posted: request)
      guard responseMode == .formPost || form.isFromOwnPage else {
        return pages.methodNotAllowed(request, allow: "GET")
      }
      return try await callback(form, request)
    } catch {
      return responses.failure(error, request)
    }
  }

  /// `GET callback`: `query`; or `fragment`, which browsers do not send to a server: our own page posts it, and the
  /// query is ignored.
  func get(_ request: ControlRequest) async -> ControlResponse {
    if responseMode == .fragment {
      return ControlResponse(pages.pages(request).callbackFragment(field: CallbackForm.ownPageField))
    }
    do throws(SignInError) {
      return try await callback(CallbackForm(queryOf: request), request)
    } catch {
      return responses.failure(error, request)
    }
  }

  /// - Throws: the failure of a response that is for no sign-in of this browser.
  private func callback(
    _ form: CallbackForm, _ request: ControlRequest
  ) async throws(SignInError) -> ControlResponse {
    let response = try form.response()
    let pending = PendingSignIns(of: request, keyring)
    switch pending.match(response.state) {
    case .verified(let signIn): return await answer(response, to: signIn, form, request)
    case .expired(let signIn): return try expired(signIn, response, request)
    case .missing:
      // Some browsers do not send cookies with cross-site POSTs: our own page repeats the request, once.
      if !form.isFromOwnPage { return repost(form, request) }
      return try await missing(pending, request)
    case .refused(let reason): throw SignInError(.attemptUnknown, reason)
    }
  }

  private func repost(_ form: CallbackForm, _ request: ControlRequest) -> ControlResponse {
    ControlResponse(pages.pages(request).callbackRepost(fields: form.repost))
  }

  // MARK: A response to no valid sign-in

  /// Answers a response to a sign-in of which this browser has no cookie. Nobody is signed in by it, whatever other
  /// cookies there are; they only say where the browser is to go.
  private func missing(
    _ pending: PendingSignIns, _ request: ControlRequest
  ) async throws(SignInError) -> ControlResponse {
    let ended = SignInError(.attemptEnded, "attempt_missing")
    let isSignedIn = await signedInUser(request) != nil
    let others = pending.all()
    guard !others.isEmpty else {
      // A signed-in user has probably gone back to Apple's page: the sign-in removed the cookie.
      throw SignInError(isSignedIn ? .attemptUsed : .attemptUnknown, ended.reason)
    }
    // Cookies work here: this sign-in was completed, or newer ones of the same browser have displaced it.
    if isSignedIn { return responses.frontPage(insteadOf: ended, request) }
    guard let newest = PendingSignIns.newest(of: others) else { throw ended }
    return responses.failure(ended, of: newest, request)
  }

  /// Answers a sign-in that took too long: with the way back to where it was going, and its name kept, which Apple does
  /// not send again.
  private func expired(
    _ signIn: SignInState?, _ response: AuthorizationResponse, _ request: ControlRequest
  ) throws(SignInError) -> ControlResponse {
    let late = SignInError(.attemptExpired, "attempt_expired")
    guard let signIn else { throw late }
    var page = responses.failure(late, of: signIn, request)
    if case .success(let grant) = response { responses.keepName(of: grant, in: &page) }
    return page
  }

  // MARK: A response to a sign-in of this browser

  /// Answers a response with the verified state of this browser: with a code the state is consumed in any case. An
  /// error has nothing to replay, so it needs no write to the store, however often sign-ins are cancelled.
  private func answer(
    _ response: AuthorizationResponse, to signIn: SignInState, _ form: CallbackForm, _ request: ControlRequest
  ) async -> ControlResponse {
    switch response {
    case .success(let grant): return await complete(signIn, grant, request)
    case .error(let refusal):
      if refusal.isCancelled { return await cancelled(signIn, form, request) }
      let failure = SignInError(.appleRefused, "apple_refused")
      // Anybody who has begun a sign-in can send any error: it is not known to be Apple's, and has no limit of its own.
      let metadata = failures.admit(
        failure.reason, ["error": "\(refusal.error)", "request": "\(request.requestID)"])
      if let metadata { logger.warning("sign-in failed: the response carries an error", metadata: metadata) }
      return responses.failure(failure, of: signIn, request)
    }
  }

  /// Answers a cancelled sign-in. If it was to replace a session, which a cross-site POST does not bring along, our own
  /// page repeats the request: the session goes on, and the user must not believe to be signed out.
  private func cancelled(
    _ signIn: SignInState, _ form: CallbackForm, _ request: ControlRequest
  ) async -> ControlResponse {
    guard signIn.replacing != nil else {
      return responses.failure(SignInError(.cancelled, "cancelled"), of: signIn, request)
    }
    if !form.isFromOwnPage, requestSessions.ofCookies(request).isEmpty { return repost(form, request) }
    let user = await signedInUser(request)
    let page: PageFailure = user == nil ? .cancelled : .cancelledAgain
    return responses.failure(SignInError(page, "cancelled"), of: signIn, request, to: user)
  }

  private func complete(
    _ signIn: SignInState, _ grant: AuthorizationResponse.Success, _ request: ControlRequest
  ) async -> ControlResponse {
    var response: ControlResponse
    do throws(SignInError) {
      let completion = try await verification.complete(grant, of: signIn, request)
      response = responses.completed(completion.session, of: signIn, request)
      if completion.endsPendingName { response.setCookie(PendingDisplayName.clearCookie(keyring.cookies)) }
    } catch {
      if error.page == .attemptUsed { return used(signIn, error, request) }
      response = responses.failure(error, of: signIn, request)
      if !error.isNameKept { responses.keepName(of: grant, in: &response) }
    }
    return response
  }

  /// Answers a response whose sign-in state was consumed before, although this browser still has its cookie: a failure
  /// was reloaded, or a response that the browser did not wait for. Its name is not kept: another page may have sent
  /// the response again with a name.
  private func used(_ signIn: SignInState, _ error: SignInError, _ request: ControlRequest) -> ControlResponse {
    let page: PageFailure = signIn.destination.isApp ? error.page : .attemptEnded
    return responses.failure(SignInError(page, error.reason), of: signIn, request)
  }

  /// The account of the browser's session; nil if nobody is signed in.
  private func signedInUser(_ request: ControlRequest) async -> Account? {
    let session = try? await requestSessions.peekSession(request)
    return session?.account
  }
}
