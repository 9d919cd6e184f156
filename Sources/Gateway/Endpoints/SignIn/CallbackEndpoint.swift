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

/// `callback`: Apple's answer to the browser, which becomes a session or a page that says why not.
///
/// The order is security-critical: the sign-in state is verified by this browser's cookie and consumed, the browser's
/// token verified, the name saved, the code exchanged, both tokens compared; only then there is a session.
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

  /// `POST callback`: `form_post`; in the other modes only what our own pages post again.
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

  /// `GET callback`: `query`; or `fragment`, which does not reach a server by itself: our own page posts it, and the
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
    guard let state = answer.state, let name = SignInState.name(inState: state) else {
      return failed(.attemptUnknown, "state_missing", request)
    }
    let attempt: SignInState
    do throws(SealError) {
      let cookies = RequestCookies(request.head.headerFields)
      guard let found = try SignInState.open(name, in: cookies, keyring, now: WallClock.now()) else {
        // Some browsers withhold cookies from posts of other sites: our own page posts it again, once.
        if form.values(of: Self.repostField).isEmpty { return repost(form, request) }
        return failed(.attemptUnknown, "attempt_missing", request)
      }
      attempt = found
    } catch .expired {
      return failed(.attemptExpired, "attempt_expired", request)
    } catch {
      return failed(.attemptUnknown, "attempt_forged", request)
    }
    guard attempt.isMeant(by: state) else { return failed(.attemptUnknown, "state_mismatch", request) }
    var response = await verified(attempt, answer, request)
    response.setCookie(SignInState.clearCookie(attempt.name, keyring.cookies))
    return response
  }

  private func repost(_ form: FormFields, _ request: ControlRequest) -> ControlResponse {
    var fields = form.fields.map {
      (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
    }
    fields.append((name: Self.repostField, value: "1"))
    return ControlResponse(pages.pages(request).callbackRepost(fields: fields))
  }

  /// Handles an answer whose state is verified to be this browser's: with a code the state is consumed in any case. An
  /// error consumes nothing that could be used twice, so it costs no write: strangers can cancel as often as they like.
  private func verified(
    _ attempt: SignInState, _ answer: AuthorizationResponse, _ request: ControlRequest
  ) async -> ControlResponse {
    switch answer {
    case .error(let refusal):
      if refusal.isCancelled { return failed(.cancelled, "cancelled", request, attempt) }
      logger.warning(
        "sign-in refused by Apple", metadata: ["error": "\(refusal.error)", "request": "\(request.requestID)"])
      return failed(.appleRefused, "apple_refused", request, attempt)
    case .success(let grant):
      do throws(SignInError) {
        try await creation.consume(
          .attempt(Array(attempt.state.utf8)), until: attempt.expires, otherwise: "attempt_used")
      } catch {
        return failed(error, request, attempt)
      }
      return await granted(grant, attempt, request)
    }
  }

  private func granted(
    _ grant: AuthorizationResponse.Success, _ attempt: SignInState, _ request: ControlRequest
  ) async -> ControlResponse {
    let submitted = grant.user.flatMap { PersonName(given: $0.givenName, family: $0.familyName) }
    var response: ControlResponse
    do throws(SignInError) {
      let tokens = try await exchange(grant, submitted, attempt)
      let kept = PendingDisplayName.open(in: request, keyring, now: .now)
      let isTheirs = kept?.owner.matches(tokens.identityToken) ?? true
      let name =
        if let submitted { submitted } else { await missing(isTheirs ? kept?.name : nil, for: tokens) }
      let made = try await creation.create(of: tokens, name: name, replacing: replaced(by: attempt, request), request)
      response = redirect(made, attempt, request)
      // The name of another user stays for them.
      if isTheirs, PendingDisplayName.isSent(with: request, keyring.cookies) {
        response.setCookie(PendingDisplayName.clearCookie(keyring.cookies))
      }
    } catch {
      response = failed(error, request, attempt)
      if error.page == .banned { reset.apply(to: &response) }
      // Apple does not send it again. Until its owner is verified, this browser keeps it for their next attempt.
      if let submitted, !error.isNameKept, let owner = PendingDisplayName.Owner(grant),
        let cookie = try? PendingDisplayName(submitted, of: owner).setCookie(keyring, now: .now)
      {
        response.setCookie(cookie)
      }
    }
    return response
  }

  /// The sessions that this sign-in replaces: all that this browser is known to have. The sign-in state has the one
  /// that existed when it began, or began since; the session's cookie is sent unless Apple's form is posted across
  /// sites. An app's sign-in replaces none.
  private func replaced(by attempt: SignInState, _ request: ControlRequest) -> [PublicSessionID] {
    if case .app = attempt.destination { return [] }
    var handles = attempt.replacing.map { [$0] } ?? []
    for identifier in requestSessions.ofCookies(request) where !handles.contains(identifier.handle) {
      handles.append(identifier.handle)
    }
    return handles
  }

  private func exchange(
    _ grant: AuthorizationResponse.Success, _ name: PersonName?, _ attempt: SignInState
  ) async throws(SignInError) -> TokenGrant {
    var isNameKept = false
    do throws(SignInError) {
      let outcome = try await apple.completeSignIn(
        grant, redirectURI: origin.redirectURI, nonce: attempt.nonce
      ) { (token) async throws(SignInError) in
        try await creation.refuseBanned(token)
        guard let name else { return }
        try await creation.saveName(name, of: token)
        isNameKept = true
      }
      return try creation.tokens(of: outcome, clientID: apple.settings.clientID)
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
    _ made: IdentifiedSession, _ attempt: SignInState, _ request: ControlRequest
  ) -> ControlResponse {
    var response: ControlResponse
    switch attempt.destination {
    case .app(let target, let challenge): return appReturns.redirect(made, to: target, challenge: challenge, request)
    case .page(let path): response = .redirect(.seeOther, to: path)
    case .host(let visit):
      response = handOver.redirect(made.identifier, to: visit, request) ?? pages.failure(.internalError, request)
    }
    response.setCookie(creation.sessionCookie(made.identifier))
    reset.noteSignIn(of: made.snapshot.account.subject, request, in: &response)
    for cookie in pendingAttempts(replacing: made.identifier.handle, except: attempt, request) {
      response.setCookie(cookie)
    }
    return response
  }

  /// The browser's other sign-in states, as cookies that name the new session: whichever is completed later replaces
  /// it. Only these cookies reach the callback of `form_post`, which another site posts to.
  private func pendingAttempts(
    replacing session: PublicSessionID, except attempt: SignInState, _ request: ControlRequest
  ) -> [String] {
    let cookies = RequestCookies(request.head.headerFields)
    let now = WallClock.now()
    var room = Self.pendingPathBytes
    return SignInState.names(in: cookies, keyring.cookies).filter { $0 != attempt.name }
      .compactMap { try? SignInState.open($0, in: cookies, keyring, now: now) }
      .filter { if case .app = $0.destination { false } else { true } }
      .sorted { $0.began > $1.began }
      .prefix(SignInState.mostAtOnce + SignInState.mostCrossSite)
      .compactMap { other in
        // All in one head: a proxy in front of us may accept no more than 4 KiB.
        let keepsPath = other.returnTo.utf8.count <= room
        if keepsPath { room -= other.returnTo.utf8.count }
        return try? other.replacing(session, keepsPath: keepsPath).setCookie(keyring, age: now - other.began)
      }
  }

  /// The largest total size of the paths in sign-in states that are set again, in bytes.
  private static let pendingPathBytes = 1_024

  // MARK: Failures

  private func failed(
    _ failure: SignInError, _ request: ControlRequest, _ attempt: SignInState
  ) -> ControlResponse {
    failed(failure.page, failure.reason, request, attempt)
  }

  /// - Parameter reason: a short constant, for metrics and the audit.
  private func failed(
    _ page: PageFailure, _ reason: String, _ request: ControlRequest, _ attempt: SignInState? = nil
  ) -> ControlResponse {
    creation.noteFailure(reason, request)
    switch attempt?.destination {
    case .app(let target, _): return appReturns.redirect(page, to: target)
    case .host(let visit): return (handOver.pages(of: visit) ?? pages).failure(page, request, returnTo: visit.returnTo)
    case .page(let path): return pages.failure(page, request, returnTo: path)
    case nil: return pages.failure(page, request)
    }
  }
}

extension AuthorizationResponse {
  /// `state`, in either answer.
  fileprivate var state: String? {
    switch self {
    case .success(let grant): grant.state
    case .error(let refusal): refusal.state
    }
  }
}
