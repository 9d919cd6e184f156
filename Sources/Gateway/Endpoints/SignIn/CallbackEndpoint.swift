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

/// `callback`: handles Apple's authorization response: creates a session, or shows an error page.
///
/// The order is security-critical: the sign-in state is verified by this browser's cookie and consumed, the browser's
/// token verified, the name saved, the code exchanged, both tokens compared; only then is a session created.
struct CallbackEndpoint: Sendable {
  let origin: OriginSettings
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let appReturns: AppReturns
  let handOver: HandOver
  let creation: SessionCreation
  let reset: BrowserReset
  let accounts: any AccountStore
  let logger: Logger

  /// `POST callback`: `form_post`; in the other modes only requests of our own pages.
  func post(_ request: ControlRequest) async -> ControlResponse {
    guard MediaType.matches(request.head.headerFields[.contentType], "application/x-www-form-urlencoded") else {
      return failed(.unsupportedMediaType, "content_type", request)
    }
    do throws(FormFieldsError) {
      let form = try FormFields(parsing: request.body)
      guard apple.settings.responseMode == .formPost || !form.values(of: Self.repostField).isEmpty else {
        return pages.methodNotAllowed(request, allow: "GET")
      }
      return await callback(form, request)
    } catch {
      return failed(.answerInvalid, "form", request)
    }
  }

  /// `GET callback`: `query`; or `fragment`, which browsers do not send to a server: our own page posts it, and the
  /// query is ignored.
  func get(_ request: ControlRequest) async -> ControlResponse {
    if apple.settings.responseMode == .fragment {
      return ControlResponse(pages.pages(request).callbackFragment(field: (name: Self.repostField, value: "1")))
    }
    do throws(FormFieldsError) {
      return await callback(try request.query(), request)
    } catch {
      return failed(.answerInvalid, "query", request)
    }
  }

  /// The field that marks a form posted by our own page.
  private static let repostField = "cordon_repost"

  private func callback(_ form: FormFields, _ request: ControlRequest) async -> ControlResponse {
    let answer: AuthorizationResponse
    do throws(AuthorizationResponseError) {
      answer = try AuthorizationResponse.parse(form)
    } catch {
      return failed(.answerInvalid, "answer", request)
    }
    let pending = PendingSignIns(of: request, keyring)
    switch pending.match(answer.state) {
    case .verified(let signIn): return ending(signIn, await verified(signIn, answer, form, request))
    case .expired(let signIn): return expired(signIn, answer, request)
    case .missing:
      // Some browsers do not send cookies with cross-site POSTs: our own page repeats the request, once.
      if form.values(of: Self.repostField).isEmpty { return repost(form, request) }
      return await withoutState(pending, request)
    case .refused(let reason): return failed(.attemptUnknown, reason, request)
    }
  }

  /// Answers a response to a sign-in of which this browser has no cookie. Nobody is signed in by it, whatever other
  /// cookies there are; they only say where the browser is to go.
  private func withoutState(_ pending: PendingSignIns, _ request: ControlRequest) async -> ControlResponse {
    let reason = "attempt_missing"
    let isSignedIn = await signedInUser(request) != nil
    let others = pending.all()
    guard !others.isEmpty else {
      // A signed-in user has probably gone back to Apple's page: the sign-in removed the cookie.
      return failed(isSignedIn ? .attemptUsed : .attemptUnknown, reason, request)
    }
    // Cookies work here: this sign-in was completed, or newer ones of the same browser have displaced it.
    guard !isSignedIn else {
      creation.noteFailure(reason, request)
      return .redirect(.seeOther, to: ReturnTarget.frontPage.path)
    }
    return failed(.attemptEnded, reason, request, PendingSignIns.newest(of: others))
  }

  /// Removes the cookie of a sign-in with the redirect that completes it, or that returns to an app. With the page of a
  /// failure it stays: if that is reloaded, the cookie says that the sign-in was begun here, and where it was going.
  private func ending(_ signIn: SignInState, _ response: ControlResponse) -> ControlResponse {
    guard response.head.status == .seeOther else { return response }
    var response = response
    response.setCookie(SignInState.clearCookie(signIn.name, keyring.cookies))
    return response
  }

  /// Answers a sign-in that took too long: with the way back to where it was going, and its name kept, which Apple does
  /// not send again.
  private func expired(
    _ signIn: SignInState?, _ answer: AuthorizationResponse, _ request: ControlRequest
  ) -> ControlResponse {
    var response = failed(.attemptExpired, "attempt_expired", request, signIn)
    guard let signIn else { return response }
    if case .success(let grant) = answer { keepName(of: grant, in: &response) }
    return ending(signIn, response)
  }

  /// The account of the browser's session; nil if nobody is signed in.
  private func signedInUser(_ request: ControlRequest) async -> Account? {
    let session = try? await requestSessions.peekSession(request)
    return session?.account
  }

  private func repost(_ form: FormFields, _ request: ControlRequest) -> ControlResponse {
    var fields = form.fields.map {
      (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
    }
    fields.append((name: Self.repostField, value: "1"))
    return ControlResponse(pages.pages(request).callbackRepost(fields: fields))
  }

  /// Handles a response with the verified state of this browser: with a code the state is consumed in any case. An
  /// error has nothing to replay, so it needs no write to the store, however often sign-ins are cancelled.
  private func verified(
    _ signIn: SignInState, _ answer: AuthorizationResponse, _ form: FormFields, _ request: ControlRequest
  ) async -> ControlResponse {
    switch answer {
    case .error(let refusal):
      if refusal.isCancelled { return await cancelled(signIn, form, request) }
      logger.warning(
        "sign-in refused by Apple", metadata: ["error": "\(refusal.error)", "request": "\(request.requestID)"])
      return failed(.appleRefused, "apple_refused", request, signIn)
    case .success(let grant):
      do throws(SignInError) {
        try await creation.consume(
          .attempt(Array(signIn.state.utf8)), until: signIn.expires, otherwise: "attempt_used")
      } catch {
        // Not for an attempt that was used already: another page may have sent it again with a name.
        guard error.page == .storeUnavailable else { return used(signIn, error, request) }
        var response = failed(error, request, signIn)
        keepName(of: grant, in: &response)
        return response
      }
      return await granted(grant, signIn, request)
    }
  }

  /// Answers a cancelled sign-in. If it was to replace a session, which a cross-site POST does not bring along, our own
  /// page repeats the request: the session goes on, and the user must not believe to be signed out.
  private func cancelled(
    _ signIn: SignInState, _ form: FormFields, _ request: ControlRequest
  ) async -> ControlResponse {
    guard signIn.replacing != nil else { return failed(.cancelled, "cancelled", request, signIn) }
    if form.values(of: Self.repostField).isEmpty, requestSessions.ofCookies(request).isEmpty {
      return repost(form, request)
    }
    let user = await signedInUser(request)
    return failed(user == nil ? .cancelled : .cancelledAgain, "cancelled", request, signIn, of: user)
  }

  /// Answers a response whose sign-in state was consumed before, although this browser still has its cookie: a failure
  /// was reloaded, or a response that the browser did not wait for.
  private func used(_ signIn: SignInState, _ error: SignInError, _ request: ControlRequest) -> ControlResponse {
    failed(signIn.destination.isApp ? error.page : .attemptEnded, error.reason, request, signIn)
  }

  /// Keeps the name that Apple has sent, and does not send again, in this browser for the next sign-in of its owner,
  /// who is not verified yet.
  private func keepName(of grant: AuthorizationResponse.Success, in response: inout ControlResponse) {
    guard let name = PersonName(grant.user), let owner = PendingDisplayName.Owner(grant),
      let cookie = try? PendingDisplayName(name, of: owner).setCookie(keyring, now: .now)
    else { return }
    response.setCookie(cookie)
  }

  private func granted(
    _ grant: AuthorizationResponse.Success, _ signIn: SignInState, _ request: ControlRequest
  ) async -> ControlResponse {
    let submitted = PersonName(grant.user)
    var response: ControlResponse
    do throws(SignInError) {
      let tokens = try await exchange(grant, submitted, signIn, request)
      let kept = PendingDisplayName.open(in: request, keyring, now: .now)
      let isTheirs = kept?.owner.matches(tokens.identityToken) ?? true
      let name =
        if let submitted { submitted } else { await missing(isTheirs ? kept?.name : nil, for: tokens) }
      let destination: String? = if case .page(let path) = signIn.destination { path } else { nil }
      let made = try await creation.create(
        of: tokens, name: name, replacing: replaced(by: signIn, request), to: destination, request)
      response = redirect(made, signIn, request)
      // The pending name of another user is kept.
      if isTheirs, PendingDisplayName.isSent(with: request, keyring.cookies) {
        response.setCookie(PendingDisplayName.clearCookie(keyring.cookies))
      }
    } catch {
      response = failed(error, request, signIn)
      if error.page == .banned { reset.apply(to: &response) }
      if !error.isNameKept { keepName(of: grant, in: &response) }
    }
    return response
  }

  /// The sessions that this sign-in replaces: all known ones of this browser. The sign-in state has the one that
  /// existed when it began, or was created since; the session cookie is sent unless Apple's form is posted cross-site.
  /// An app's sign-in replaces none.
  private func replaced(by signIn: SignInState, _ request: ControlRequest) -> [PublicSessionID] {
    if signIn.destination.isApp { return [] }
    var handles = signIn.replacing.map { [$0] } ?? []
    for identifier in requestSessions.ofCookies(request) where !handles.contains(identifier.handle) {
      handles.append(identifier.handle)
    }
    return handles
  }

  private func exchange(
    _ grant: AuthorizationResponse.Success, _ name: PersonName?, _ signIn: SignInState, _ request: ControlRequest
  ) async throws(SignInError) -> TokenGrant {
    var isNameKept = false
    do throws(SignInError) {
      let outcome = try await apple.completeSignIn(
        grant, redirectURI: origin.redirectURI, nonce: signIn.nonce
      ) { (token) async throws(SignInError) in
        try await creation.refuseBanned(token)
        guard let name else { return }
        try await creation.saveName(name, of: token)
        isNameKept = true
      }
      return try creation.tokens(of: outcome, clientID: apple.settings.clientID, request)
    } catch {
      throw SignInError(error.page, error.reason, isNameKept: isNameKept)
    }
  }

  /// The pending display name of the same user in this browser, if the user has no name.
  private func missing(_ name: PersonName?, for tokens: TokenGrant) async -> PersonName? {
    guard let name, let subject = Subject(tokens.identityToken.subject) else { return nil }
    let known = try? await accounts.account(subject)
    return known?.name == nil ? name : nil
  }

  /// The redirect of a completed sign-in: in this browser, perhaps to another host, or to the app that began it.
  private func redirect(
    _ made: IdentifiedSession, _ signIn: SignInState, _ request: ControlRequest
  ) -> ControlResponse {
    var response: ControlResponse
    switch signIn.destination {
    case .app(let target, let challenge): return appReturns.redirect(made, to: target, challenge: challenge, request)
    case .page(let path): response = .redirect(.seeOther, to: path)
    case .host(let visit):
      response = handOver.redirect(made.identifier, to: visit, request) ?? pages.failure(.internalError, request)
    }
    response.setCookie(creation.sessionCookie(made.identifier))
    reset.noteSignIn(of: made.snapshot.account.subject, request, in: &response)
    for cookie in PendingSignIns(of: request, keyring).replacing(made.identifier.handle, except: signIn) {
      response.setCookie(cookie)
    }
    return response
  }

  // MARK: Failures

  private func failed(
    _ failure: SignInError, _ request: ControlRequest, _ signIn: SignInState
  ) -> ControlResponse {
    failed(failure.page, failure.reason, request, signIn)
  }

  /// - Parameters:
  ///   - reason: a short constant, for metrics and the audit.
  ///   - user: the signed-in user whom the page names.
  private func failed(
    _ page: PageFailure, _ reason: String, _ request: ControlRequest, _ signIn: SignInState? = nil,
    of user: Account? = nil
  ) -> ControlResponse {
    creation.noteFailure(reason, request)
    switch signIn?.destination {
    case .app(let target, _): return appReturns.redirect(page, to: target)
    case .host(let visit):
      return (handOver.pages(of: visit) ?? pages).failure(page, request, returnTo: visit.returnTo, to: user)
    case .page(let path): return pages.failure(page, request, returnTo: path, to: user)
    case nil: return pages.failure(page, request)
    }
  }
}
