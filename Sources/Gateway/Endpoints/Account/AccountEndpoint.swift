internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `account` and `account/stop`: the data of a signed-in user, the user's sessions, and disconnecting.
struct AccountEndpoint: Sendable {
  let origin: OriginSettings
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let sessions: SessionManager
  let removal: AccountRemoval
  let storeHealth: StoreHealth
  let policy: UserPolicy
  let reset: BrowserReset
  let audit: AuditTrail
  let logger: Logger
  let removals = RecentRemovals()
  let attempts = RevocationAttempts()
  /// Limits the log lines about tokens that were not revoked.
  let unrevoked = LogLimit()

  /// The largest number of sessions that the page shows.
  private static let mostShown = 100

  // MARK: The page

  /// `GET account`.
  func page(_ request: ControlRequest) async -> ControlResponse {
    await signedIn(request) { (snapshot) throws(StoreError) in
      let own = try await sessions.list(of: snapshot.session)
      let account = snapshot.account
      let shown = own.prefix(Self.mostShown).map { session in
        AccountDescription.Session(
          id: session.handle.text, userAgent: session.userAgent?.text, began: PageTime(session.began),
          lastSeen: PageTime(session.lastSeen), isThis: session.handle == snapshot.session.handle)
      }
      let description = AccountDescription(
        name: account.name?.text, email: account.claims.email, emailKind: Self.emailKind(account.claims),
        groups: policy.groupNames(of: account), sessions: shown, moreSessions: own.count - shown.count)
      return ControlResponse(pages.pages(request).account(description, after: Self.change(request)))
        .separatedFromOpener()
    }
  }

  private static func emailKind(_ claims: AccountClaims) -> AccountDescription.EmailKind {
    if claims.isPrivateEmail == true { return claims.mailForwarding?.isOn == false ? .relayOff : .relay }
    return claims.emailVerified == true ? .verified : .unverified
  }

  /// The change in the query, after our redirect; ignored in any other link.
  private static func change(_ request: ControlRequest) -> AccountChange? {
    guard request.isCausedByOwnPage, let query = try? request.query() else { return nil }
    return AccountChange.allCases.first { change in
      (try? query.value(of: "ended"))?.elementsEqual(change.rawValue.utf8) == true
    }
  }

  // MARK: Ending sessions

  /// `POST account`: ends the session that the field `session` names, or with `others` all but that of the request.
  func end(_ request: ControlRequest) async -> ControlResponse {
    guard request.isFromOwnPages(origin) else { return pages.failure(.crossSite, request) }
    let (session, others): ([UInt8]?, [UInt8]?)
    do throws(FormFieldsError) {
      let form = try FormFields(parsing: request.body)
      (session, others) = (try form.value(of: "session"), try form.value(of: "others"))
    } catch {
      return pages.failure(.badRequest, request)
    }
    return await signedIn(request) { (snapshot) throws(StoreError) in
      switch (session, others) {
      case (let name?, nil): try await endOne(name, snapshot, request)
      case (nil, _?): try await endOthers(snapshot, request)
      default: pages.failure(.badRequest, request)
      }
    }
  }

  private func endOne(
    _ name: [UInt8], _ snapshot: SessionSnapshot, _ request: ControlRequest
  ) async throws(StoreError) -> ControlResponse {
    let subject = snapshot.account.subject
    guard let handle = PublicSessionID(text: String(decoding: name, as: UTF8.self)) else {
      return pages.failure(.notFound, request)
    }
    // A session of another user does not count, even if its ID is known.
    guard try await sessions.isSession(handle, of: subject) else { return notListed(request) }
    let ended = try await sessions.end(.one(handle), because: .signedOut)
    record(ended, subject, request)
    guard handle == snapshot.session.handle else { return done(.endedOne, request) }
    var response = redirect(to: GatewayEndpoint.signOut.path(below: origin.prefix), request)
    // A bearer token ends its own session, also beside the cookie of another one, which stays.
    if requestSessions.bearer(request) == nil
      || requestSessions.ofCookies(request).allSatisfy({ $0.handle == handle })
    {
      resetBrowser(in: &response)
    }
    return response
  }

  /// The answer for a session that the user does not have, or no longer has: most probably the button was clicked
  /// twice, or on a page that another tab has outdated. Browsers are shown the sessions that remain.
  private func notListed(_ request: ControlRequest) -> ControlResponse {
    request.prefersPage
      ? .redirect(.seeOther, to: GatewayEndpoint.account.path(below: origin.prefix))
      : pages.failure(.notFound, request)
  }

  private func endOthers(
    _ snapshot: SessionSnapshot, _ request: ControlRequest
  ) async throws(StoreError) -> ControlResponse {
    let subject = snapshot.account.subject
    let ended = try await sessions.end(
      .others(of: subject, except: snapshot.session.handle), because: .signedOut)
    record(ended, subject, request)
    return done(.endedOthers, request)
  }

  private func record(_ ended: [PublicSessionID], _ subject: Subject, _ request: ControlRequest) {
    audit.recordEnd(
      of: ended, because: .signedOut, subject: subject, peer: request.client.address, requestID: request.requestID)
  }

  /// The redirect to the page, which confirms the change.
  private func done(_ change: AccountChange, _ request: ControlRequest) -> ControlResponse {
    redirect(to: "\(GatewayEndpoint.account.path(below: origin.prefix))?ended=\(change.rawValue)", request)
  }

  /// 303 for browsers, so that reloading the page posts nothing again; 204 for programs.
  private func redirect(to path: String, _ request: ControlRequest) -> ControlResponse {
    request.prefersPage
      ? .redirect(.seeOther, to: path) : ControlResponse(.noContent, fields: [.cacheControl: "no-store"])
  }

  // MARK: Disconnecting

  /// `GET account/stop`: the confirmation page.
  func stopPage(_ request: ControlRequest) async -> ControlResponse {
    await signedIn(request) { (snapshot) throws(StoreError) in
      let tokens: [StoredToken]
      do throws(StoreError) {
        tokens = try await removal.store.tokens(of: snapshot.account.subject)
      } catch {
        storeHealth.failed("account_removal", error)
        throw error
      }
      return ControlResponse(pages.pages(request).stopQuestion(endsConnection: !tokens.isEmpty)).separatedFromOpener()
    }
  }

  /// `POST account/stop`: revokes the user's tokens at Apple and deletes all data of the user. After some attempts in
  /// which Apple did not revoke them it is not asked again for a while, and the answer is the same.
  func stop(_ request: ControlRequest) async -> ControlResponse {
    if let refusal = refusalToStop(request) { return refusal }
    return await signedIn(request, orElse: farewellAgain(request)) { (snapshot) throws(StoreError) in
      let subject = snapshot.account.subject
      let hasOtherUser = try await hasCookieOfOtherUser(request, than: snapshot)
      let report: DisconnectionReport
      do throws(StoreError) {
        let tokens = try await removal.store.tokens(of: subject)
        // Counted only now: after one too many the page says that Apple did not confirm.
        guard tokens.isEmpty || attempts.begin(subject) else { return notRevoked(request) }
        report = try await removal.remove(subject, revoking: tokens, request)
      } catch {
        storeHealth.failed("account_removal", error)
        throw error
      }
      audit.record(
        .stopUsing(outcome: report.forgotten ? "deleted" : "not_revoked"), subject: subject,
        session: snapshot.session.handle, peer: request.client.address, requestID: request.requestID)
      guard report.forgotten else {
        logUnrevoked(report, request)
        return notRevoked(request)
      }
      attempts.succeeded(subject)
      let deletion: AccountDeletion = report.revocations.isEmpty ? .here : .withConnection
      removals.insert(snapshot.session.handle, deletion)
      var response = farewell(deletion, request)
      if !hasOtherUser { resetBrowser(in: &response) }
      return response
    }
  }

  private func notRevoked(_ request: ControlRequest) -> ControlResponse {
    ControlResponse(pages.pages(request).notRevoked()).separatedFromOpener()
  }

  /// Logs the reason why a token was not revoked. Only an operator can help a user for whom this does not pass.
  private func logUnrevoked(_ report: DisconnectionReport, _ request: ControlRequest) {
    guard let token = report.revocations.first(where: { !$0.isRevoked }),
      let suppressed = unrevoked.admit(token.outcome)
    else { return }
    var metadata: Logger.Metadata = [
      "client": "\(token.clientID)", "reason": "\(token.message ?? token.outcome)", "request": "\(request.requestID)",
      "remedy": "if this does not pass, `cordon accounts disconnect --force SUB` deletes the user without a revocation",
    ]
    if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
    logger.warning("a user could not stop using the application: refresh token not revoked", metadata: metadata)
  }

  /// `POST account/stop` without a valid session, as by the second of two clicks: deletes nothing.
  func stopAgain(_ request: ControlRequest) async -> ControlResponse {
    if requestSessions.identifiers(request).isEmpty { return signInFirst(request) }
    return refusalToStop(request) ?? farewellAgain(request) ?? signInFirst(request)
  }

  /// The refusal of a request that no user of our pages can have meant; nil if one has.
  private func refusalToStop(_ request: ControlRequest) -> ControlResponse? {
    guard request.isFromOwnPages(origin) else { return pages.failure(.crossSite, request) }
    guard let form = try? FormFields(parsing: request.body),
      (try? form.value(of: "stop"))?.elementsEqual("yes".utf8) == true
    else { return pages.failure(.badRequest, request) }
    return nil
  }

  /// Whether the user is signed in by a bearer token, and a cookie beside it is not of a session of the same user.
  private func hasCookieOfOtherUser(
    _ request: ControlRequest, than snapshot: SessionSnapshot
  ) async throws(StoreError) -> Bool {
    guard requestSessions.bearer(request) != nil else { return false }
    for cookie in requestSessions.ofCookies(request) where cookie.handle != snapshot.session.handle {
      guard try await sessions.isSession(cookie.handle, of: snapshot.account.subject) else { return true }
    }
    return false
  }

  /// Confirms the deletion: browsers are redirected to an endpoint that needs no session, so that reloading the page
  /// posts nothing again.
  private func farewell(_ deletion: AccountDeletion, _ request: ControlRequest) -> ControlResponse {
    guard request.prefersPage else { return ControlResponse(pages.pages(request).farewell(after: deletion)) }
    let page = GatewayEndpoint.signOut.path(below: origin.prefix)
    return .redirect(.seeOther, to: "\(page)?\(SignOutEndpoint.deletedItem)=\(deletion.rawValue)")
  }

  /// The confirmation again, for the second of two clicks: the first has deleted the session with the account. Nil if
  /// no account was deleted in the session of the request.
  private func farewellAgain(_ request: ControlRequest) -> ControlResponse? {
    guard let session = requestSessions.identifiers(request).first?.handle,
      let deletion = removals.deletion(in: session)
    else { return nil }
    var response = farewell(deletion, request)
    // The browser may have cancelled the first request before it had its response.
    if requestSessions.bearer(request) == nil { resetBrowser(in: &response) }
    return response
  }

  // MARK: Implementation

  /// Clears the cookie of a session that has ended, and removes the data of its account from the browser.
  private func resetBrowser(in response: inout ControlResponse) {
    response.setCookie(requestSessions.cookies.sessionClearing)
    reset.apply(to: &response)
  }

  private func signInFirst(_ request: ControlRequest) -> ControlResponse {
    pages.failure(.signInRequired, request, returnTo: GatewayEndpoint.account.path(below: origin.prefix))
  }

  /// Answers for the session of the request. The gate only passes requests with one; it may have ended since.
  /// - Parameter other: the response without a session, if not that nobody is signed in.
  private func signedIn(
    _ request: ControlRequest, orElse other: ControlResponse? = nil,
    _ answer: (SessionSnapshot) async throws(StoreError) -> ControlResponse
  ) async -> ControlResponse {
    do throws(StoreError) {
      guard let snapshot = try await requestSessions.find(request) else {
        return other ?? signInFirst(request)
      }
      return try await answer(snapshot)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
  }
}
