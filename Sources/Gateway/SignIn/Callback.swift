internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Sessions

/// Apple's answer, and what becomes of it: a session, or a page that says why not.
///
/// The order is the security of the sign-in: the attempt is proved by this browser's cookie and used up, the browser's
/// token verified, the name kept, the code exchanged, both tokens compared; only then there is a session.
extension SignInService {
  /// `POST callback` (`form_post`).
  func callbackPost(_ request: ControlRequest) async -> ControlResponse {
    guard Self.isMediaType(request.head.headerFields[.contentType], "application/x-www-form-urlencoded") else {
      return failed(.unsupportedMediaType, "content_type", request)
    }
    do throws(FormFieldsProblem) {
      return await callback(try FormFields(parsing: request.body), request)
    } catch {
      return failed(.answerInvalid, "form", request)
    }
  }

  /// `GET callback`: `query`; or `fragment`, of which nothing reaches a server by itself: a page of ours posts it.
  func callbackGet(_ request: ControlRequest) async -> ControlResponse {
    do throws(FormFieldsProblem) {
      let answer = try query(request)
      if settings.apple.responseMode == .fragment, answer.fields.isEmpty {
        return ControlResponse(pages(request).callbackFragment(field: (name: Self.repostField, value: "1")))
      }
      return await callback(answer, request)
    } catch {
      return failed(.answerInvalid, "query", request)
    }
  }

  /// The mark of a form that was posted by our own page.
  private static let repostField = "cordon_repost"

  private func callback(_ form: FormFields, _ request: ControlRequest) async -> ControlResponse {
    let answer: AuthorizationResponse
    do throws(AuthorizationResponseProblem) {
      answer = try AuthorizationResponse.parse(form)
    } catch {
      return failed(.answerInvalid, "answer", request)
    }
    guard let state = answer.state, let name = SignInAttempt.name(inState: state) else {
      return failed(.attemptUnknown, "state_missing", request)
    }
    let attempt: SignInAttempt
    do throws(SealError) {
      let cookies = RequestCookies(request.head.headerFields)
      guard let found = try SignInAttempt.open(name, in: cookies, keyring, now: WallClock.now()) else {
        // Browsers that keep cookies from what other sites send: our own page posts it again, once.
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
    var response = await proved(attempt, answer, request)
    response.setCookie(SignInAttempt.clearCookie(attempt.name))
    return response
  }

  private func repost(_ form: FormFields, _ request: ControlRequest) -> ControlResponse {
    var fields = form.fields.map {
      (name: String(decoding: $0.name, as: UTF8.self), value: String(decoding: $0.value, as: UTF8.self))
    }
    fields.append((name: Self.repostField, value: "1"))
    return ControlResponse(pages(request).callbackRepost(fields: fields))
  }

  /// The attempt is this browser's: from here on it is used up, whatever comes.
  private func proved(
    _ attempt: SignInAttempt, _ answer: AuthorizationResponse, _ request: ControlRequest
  ) async -> ControlResponse {
    do throws(SignInFailure) {
      try await useUp(.attempt(Array(attempt.state.utf8)), until: attempt.expires, otherwise: "attempt_used")
    } catch {
      return failed(error, request, attempt)
    }
    switch answer {
    case .refused(let refusal):
      if refusal.isCancelled { return failed(.cancelled, "cancelled", request, attempt) }
      logger.warning(
        "Apple refused a sign-in", metadata: ["error": "\(refusal.error)", "request": "\(request.requestID)"])
      return failed(.appleRefused, "apple_refused", request, attempt)
    case .granted(let grant): return await granted(grant, attempt, request)
    }
  }

  private func granted(
    _ grant: AuthorizationResponse.Grant, _ attempt: SignInAttempt, _ request: ControlRequest
  ) async -> ControlResponse {
    let submitted = grant.user.flatMap { PersonName(given: $0.givenName, family: $0.familyName) }
    var response: ControlResponse
    do throws(SignInFailure) {
      let tokens = try await exchange(grant, submitted, attempt)
      let name = if let submitted { submitted } else { await keptName(for: tokens, request) }
      let made = try await establish(tokens, name: name, replacing: attempt.replacing, request)
      response = arrived(made, attempt, request)
      if KeptName.isSent(with: request) { response.setCookie(KeptName.clearCookie) }
    } catch {
      response = failed(error, request, attempt)
      // Apple does not send it again. Where nobody could say yet whose it is, this browser keeps it for the next try.
      if let submitted, !error.isNameKept, let cookie = try? KeptName.setCookie(submitted, keyring, now: .now) {
        response.setCookie(cookie)
      }
    }
    return response
  }

  private func exchange(
    _ grant: AuthorizationResponse.Grant, _ name: PersonName?, _ attempt: SignInAttempt
  ) async throws(SignInFailure) -> TokenGrant {
    var isNameKept = false
    do throws(SignInFailure) {
      let outcome = try await apple.completeSignIn(
        grant, redirectURI: settings.redirectURI, nonce: attempt.nonce
      ) { (token) async throws(SignInFailure) in
        guard let name else { return }
        try await keep(name, of: token)
        isNameKept = true
      }
      return try tokens(of: outcome)
    } catch {
      throw SignInFailure(error.page, error.reason, isNameKept: isNameKept)
    }
  }

  /// The name that an earlier try of this browser left behind, for a user who has none.
  private func keptName(for tokens: TokenGrant, _ request: ControlRequest) async -> PersonName? {
    guard let name = KeptName.open(in: request, keyring, now: .now), let subject = Subject(tokens.identityToken.subject)
    else { return nil }
    let known = try? await directory.store.account(subject)
    return known?.name == nil ? name : nil
  }

  /// The session is there: in this browser, or on its way to the app that began the sign-in.
  private func arrived(
    _ made: NewSession, _ attempt: SignInAttempt, _ request: ControlRequest
  ) -> ControlResponse {
    switch attempt.destination {
    case .app(let target, let challenge): return handBack(made, to: target, challenge: challenge, request)
    case .page(let path):
      var response = ControlResponse.redirect(.seeOther, to: path)
      response.setCookie(sessionCookie(made.identifier))
      return response
    }
  }

  // MARK: Failures

  private func failed(
    _ failure: SignInFailure, _ request: ControlRequest, _ attempt: SignInAttempt
  ) -> ControlResponse {
    failed(failure.page, failure.reason, request, attempt)
  }

  /// - Parameter reason: a short constant, for metrics and the audit.
  private func failed(
    _ page: PageFailure, _ reason: String, _ request: ControlRequest, _ attempt: SignInAttempt? = nil
  ) -> ControlResponse {
    note(reason, request)
    if case .app(let target, _)? = attempt?.destination { return handBack(page, to: target) }
    return failure(page, request, returnTo: attempt?.returnTo ?? "/")
  }
}

extension AuthorizationResponse {
  /// `state`, in either answer.
  fileprivate var state: String? {
    switch self {
    case .granted(let grant): grant.state
    case .refused(let refusal): refusal.state
    }
  }
}
