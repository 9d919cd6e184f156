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
    guard Self.isForm(request.head.headerFields[.contentType]) else {
      return failed(.unsupportedMediaType, "content_type", request)
    }
    do throws(FormFieldsProblem) {
      return await callback(try FormFields(parsing: request.body), request, mayRepost: true)
    } catch {
      return failed(.answerInvalid, "form", request)
    }
  }

  /// `GET callback` (`query`).
  func callbackQuery(_ request: ControlRequest) async -> ControlResponse {
    do throws(FormFieldsProblem) {
      return await callback(try query(request), request, mayRepost: false)
    } catch {
      return failed(.answerInvalid, "query", request)
    }
  }

  private static func isForm(_ contentType: String?) -> Bool {
    guard let contentType else { return false }
    let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
    return type.count == 33
      && zip(type, "application/x-www-form-urlencoded".utf8).allSatisfy { ($0 | 0x20) == ($1 | 0x20) }
  }

  /// The mark of a form that was posted once more by our own page.
  private static let repostField = "cordon_repost"

  private func callback(_ form: FormFields, _ request: ControlRequest, mayRepost: Bool) async -> ControlResponse {
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
        // Browsers that keep cookies from other sites' posts: our own page posts it again, once.
        if mayRepost, form.values(of: Self.repostField).isEmpty { return repost(form, request) }
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
    do throws(StoreError) {
      guard try await directory.store.useUp(.attempt(Array(attempt.state.utf8)), until: attempt.expires) else {
        return failed(.attemptUsed, "attempt_used", request, attempt)
      }
    } catch {
      directory.storeFailed("use_up", error)
      return failed(.storeUnavailable, "store", request, attempt)
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
    let name = grant.user.flatMap { PersonName(given: $0.givenName, family: $0.familyName) }
    let store = directory.store
    let exchanged: ExchangeOutcome
    do throws(StoreError) {
      exchanged = try await apple.completeSignIn(
        grant, redirectURI: settings.redirectURI, nonce: attempt.nonce
      ) { (token) async throws(StoreError) in
        // Apple sends the name once and never again: it is kept before anything can go wrong with the exchange.
        guard let name, let subject = Subject(token.subject) else { return }
        try await store.keepName(name, submittedBy: subject, at: .now)
      }
    } catch {
      directory.storeFailed("keep_name", error)
      return failed(.storeUnavailable, "store", request, attempt)
    }
    switch exchanged {
    case .granted(let tokens): return await complete(tokens, name, attempt, request)
    case .disagreement(let disagreement): return disagreed(disagreement, request, attempt)
    case .refused: return failed(.answerInvalid, "code_refused", request, attempt)
    case .unverified(let rejection): return rejected(rejection, request, attempt)
    case .misconfigured(let refusal):
      logger.error(
        "Apple refuses our credentials: nobody can sign in",
        metadata: ["error": "\(refusal.code.rawValue)", "remedy": "\(refusal.remedy)"])
      return failed(.appleRefused, refusal.code.rawValue, request, attempt)
    case .noSecret(let problem):
      logger.error("no client secret: nobody can sign in", metadata: ["reason": "\(problem.message)"])
      return failed(.internalError, "client_secret", request, attempt)
    case .appleTrouble(let trouble):
      logger.warning("a sign-in failed at Apple", metadata: ["reason": "\(trouble.message)"])
      return failed(.appleUnreachable, "apple_trouble", request, attempt)
    case .notSent(let reason):
      logger.warning("Apple could not be reached for a sign-in", metadata: ["reason": "\(reason)"])
      return failed(.appleUnreachable, "apple_unreachable", request, attempt)
    }
  }

  private func complete(
    _ tokens: TokenGrant, _ name: PersonName?, _ attempt: SignInAttempt, _ request: ControlRequest
  ) async -> ControlResponse {
    guard let subject = Subject(tokens.identityToken.subject) else {
      return failed(.answerInvalid, "subject", request, attempt)
    }
    let identifier = SessionIdentifier.random()
    let clientID = settings.apple.clientID
    do {
      let sealed = try tokens.refreshToken.map {
        try keyring.seal(RefreshTokenText($0.exposed), of: subject, clientID: clientID)
      }
      let session = Session(
        identifier, of: subject, clientID: clientID, now: .now, lifetime: settings.session.lifetime,
        userAgent: request.head.headerFields[.userAgent].flatMap { UserAgentSummary($0.utf8) })
      let completed = try await directory.store.complete(
        SignIn(
          session: session, name: name, claims: AccountClaims(tokens.identityToken.claims), token: sealed,
          replacing: attempt.replacing))
      await directory.forget(completed.ended)
      // Another browser of the same user shows the new claims as well.
      await directory.forget(subject)
      for handle in completed.ended {
        metrics.sessionsEnded.count(SessionEnding.replaced.label)
        audit.record(.sessionEnded(reason: SessionEnding.replaced.label), session: handle, requestID: request.requestID)
      }
      metrics.signIns.count("success")
      audit.record(
        .signIn(isNewAccount: completed.isNewAccount), subject: subject, session: session.handle,
        peer: request.client.address, requestID: request.requestID, clientID: clientID)
    } catch let error as StoreError {
      directory.storeFailed("complete", error)
      return failed(.storeUnavailable, "store", request, attempt)
    } catch {
      logger.error("a refresh token could not be sealed", metadata: ["request": "\(request.requestID)"])
      return failed(.internalError, "seal", request, attempt)
    }
    var response = ControlResponse.redirect(.seeOther, to: attempt.returnTo)
    let lifetime = settings.session.lifetime.components.seconds
    response.setCookie(
      "\(SessionCookie.name)=\(keyring.signedCookie(for: identifier)); \(SessionCookie.attributes); Max-Age=\(lifetime)"
    )
    return response
  }

  // MARK: Failures

  private func disagreed(
    _ disagreement: IdentityTokenDisagreement, _ request: ControlRequest, _ attempt: SignInAttempt
  ) -> ControlResponse {
    logger.warning("the two identity tokens of a sign-in disagree", metadata: ["reason": "\(disagreement.message)"])
    return failed(.answerInvalid, "tokens_disagree", request, attempt)
  }

  private func rejected(
    _ rejection: IdentityTokenRejection, _ request: ControlRequest, _ attempt: SignInAttempt
  ) -> ControlResponse {
    logger.warning(
      "an identity token was refused", metadata: ["reason": "\(rejection.message)", "request": "\(request.requestID)"])
    return rejection.isAppleTrouble
      ? failed(.appleUnreachable, "apple_keys", request, attempt)
      : failed(.answerInvalid, "identity_token", request, attempt)
  }

  /// - Parameter reason: a short constant, for metrics and the audit.
  private func failed(
    _ page: PageFailure, _ reason: String, _ request: ControlRequest, _ attempt: SignInAttempt? = nil
  ) -> ControlResponse {
    metrics.signIns.count(reason)
    audit.record(.signInFailed(reason: reason), peer: request.client.address, requestID: request.requestID)
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
