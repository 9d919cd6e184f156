internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `arrive` of a `[[host]]`: exchanges the one-time code of a visit for the host's own session cookie.
///
/// The order is security-critical: the code is opened and consumed, even if another browser sent it; then host and
/// visit cookie are compared, and only then is the session looked up. Without the visit cookie, the code counts only in
/// a browser that has the same session on this host.
struct ArrivalEndpoint: Sendable {
  let origin: OriginSettings
  let scope: CookieScope
  let keyring: SessionKeyring
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let sessions: SessionManager
  let creation: SessionCreation
  let reset: BrowserReset
  let audit: AuditTrail

  /// The query item with the code.
  static let parameter = "code"

  /// `GET arrive`.
  func arrive(_ request: ControlRequest) async -> ControlResponse {
    var response: ControlResponse
    do throws(ArrivalError) {
      response = try await arrival(request)
    } catch {
      creation.noteFailure(error.cause, request)
      response = pages.failure(error.cause.page, request, returnTo: error.returnTo)
    }
    // The address holds the code.
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    return response
  }

  private func arrival(_ request: ControlRequest) async throws(ArrivalError) -> ControlResponse {
    let (code, arrival) = try open(request)
    // The pages of another host are not known here.
    let isMeantHere = arrival.host.utf8.elementsEqual(origin.origin.authority.utf8)
    let returnTo = isMeantHere ? arrival.returnTo : "/"
    do throws(SignInError) {
      guard Date.now < arrival.expires else { throw SignInError(.attemptExpired, "arrival_expired") }
      try await creation.consume(
        .arrival(code), until: arrival.expires.advanced(by: HostArrival.lifetime), otherwise: "arrival_used")
      guard isMeantHere else { throw SignInError(.attemptUnknown, "arrival_host") }
      let cookies = VisitCookie.all(in: RequestCookies(request.head.headerFields), keyring.cookies)
      let cookie = cookies.first { arrival.isProved(by: $0.secret.utf8) }
      guard request.isTopLevelNavigation, cookie != nil || hasArrived(arrival, request)
      else { throw SignInError(.attemptUnknown, "arrival_visit") }
      let session = try await creation.session(arrival.identifier, otherwise: "arrival_ended").session
      try await endOthers(than: session.handle, request)
      var response = ControlResponse.redirect(.seeOther, to: returnTo)
      let seconds = Int64(session.ends.timeIntervalSinceNow.rounded(.up))
      response.setCookie(keyring.setCookie(for: arrival.identifier, on: scope, maxAge: max(seconds, 0)))
      if let cookie { response.setCookie(cookie.clearing) }
      reset.noteSignIn(of: session.subject, request, in: &response)
      return response
    } catch {
      throw ArrivalError(cause: error, returnTo: returnTo)
    }
  }

  /// Whether the browser has a cookie of the same session on this host: another tab has arrived before. Of a browser
  /// with more than five tabs that wait, the oldest visits have lost their cookies, and there is nothing to sign in.
  private func hasArrived(_ arrival: HostArrival, _ request: ControlRequest) -> Bool {
    requestSessions.ofCookies(request).contains { $0.handle == arrival.identifier.handle }
  }

  private func open(_ request: ControlRequest) throws(ArrivalError) -> (code: [UInt8], HostArrival) {
    guard let query = try? request.query(), let code = try? query.value(of: Self.parameter),
      let arrival = try? keyring.openArrival(code)
    else { throw ArrivalError(cause: SignInError(.attemptUnknown, "arrival_forged"), returnTo: "/") }
    return (code, arrival)
  }

  /// Ends the previous sessions of the host's cookies, so that the browser has the same session on every host.
  private func endOthers(than handle: PublicSessionID, _ request: ControlRequest) async throws(SignInError) {
    for other in requestSessions.ofCookies(request).map(\.handle) where other != handle {
      do throws(StoreError) {
        let ended = try await sessions.end(.one(other), because: .replaced)
        audit.recordEnd(of: ended, because: .replaced, requestID: request.requestID)
      } catch {
        throw SignInError(.storeUnavailable, "store")
      }
    }
  }
}

/// The failure of an arrival.
private struct ArrivalError: Error {
  let cause: SignInError
  /// The path that its page links to.
  let returnTo: String
}
