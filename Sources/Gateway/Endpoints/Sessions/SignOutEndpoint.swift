internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `sign-out`: GET asks, POST signs out.
struct SignOutEndpoint: Sendable {
  let origin: OriginSettings
  let pages: EndpointPages
  let returnTargets: ReturnTargets
  let requestSessions: RequestSessions
  let sessions: SessionManager
  let reset: BrowserReset
  let audit: AuditTrail

  /// The endpoint for the gate.
  var action: EndpointAction {
    EndpointAction([.get: page, .post: signOut], pages: pages, bodyLimit: 16 * 1024)
  }

  /// The endpoint at an application's own address for signing out (`access = "sign-out"`). Its parameters are meant for
  /// the application and are ignored, so it redirects to the front page. A script's `GET` must not sign out.
  var applicationAction: EndpointAction {
    let page: EndpointHandler = { request in
      guard request.isTopLevelNavigation else {
        return pages.methodNotAllowed(request, allow: HTTPRequest.Method.post.rawValue)
      }
      return await self.page(request, wanted: .frontPage)
    }
    let signOut: EndpointHandler = { await self.signOut($0, wanted: .frontPage) }
    return EndpointAction([.get: page, .post: signOut], pages: pages, bodyLimit: 64 * 1024)
  }

  /// The query item with which `account/stop` redirects a browser here: an ``AccountDeletion``.
  static let deletedItem = "deleted"

  /// `GET sign-out`.
  func page(_ request: ControlRequest) async -> ControlResponse {
    await page(request, wanted: returnTargets.wanted(request), deletion: Self.deletion(request))
  }

  /// The deletion that the query names; ignored if another site links to it. The page says the same when its address is
  /// opened again, after the session has gone: otherwise it would ask who wants to sign out.
  private static func deletion(_ request: ControlRequest) -> AccountDeletion? {
    guard !request.isOfAnotherSite, let query = try? request.query(), let value = try? query.value(of: deletedItem)
    else { return nil }
    return AccountDeletion(rawValue: String(decoding: value, as: UTF8.self))
  }

  /// Asks a signed-in user, and confirms to any other.
  private func page(
    _ request: ControlRequest, wanted: ReturnTarget, deletion: AccountDeletion? = nil
  ) async -> ControlResponse {
    do throws(StoreError) {
      guard let snapshot = try await requestSessions.findToSignOut(request) else {
        let pages = pages.pages(request)
        return ControlResponse(deletion.map(pages.farewell(after:)) ?? pages.signedOut(returnTo: wanted.path))
      }
      let user = snapshot.account.name?.text ?? snapshot.account.claims.email
      return ControlResponse(pages.pages(request).signOutQuestion(user: user, returnTo: wanted.path))
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
  }

  /// `POST sign-out`: ends the session, then clears the cookie. If the store cannot record the end, the response
  /// reports it. A bearer token ends its own session alone: the cookie of another session stays.
  func signOut(_ request: ControlRequest) async -> ControlResponse {
    let form = try? FormFields(parsing: request.body)
    return await signOut(request, wanted: returnTargets.target(form.flatMap { try? $0.value(of: "return_to") }))
  }

  private func signOut(_ request: ControlRequest, wanted: ReturnTarget) async -> ControlResponse {
    guard requestSessions.isIntended(request, at: origin) else { return pages.failure(.crossSite, request) }
    let handles = requestSessions.endedBySigningOut(request).map(\.handle)
    do throws(StoreError) {
      for handle in handles {
        let ended = try await sessions.end(.one(handle), because: .signedOut)
        guard !ended.isEmpty else { continue }
        audit.record(.signOut, session: handle, peer: request.client.address, requestID: request.requestID)
      }
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
    var response =
      request.prefersPage
      ? ControlResponse(pages.pages(request).signedOut(returnTo: wanted.path))
      : ControlResponse(.noContent, fields: [.cacheControl: "no-store"])
    // A form of another site ends no session, and must not take its cookie away either. One that we have not signed,
    // or with a secret that is gone, proves our own page as well.
    let hasCookie = !RequestCookies(request.head.headerFields).all(requestSessions.cookies.session).isEmpty
    let isProved = hasCookie || !handles.isEmpty || !request.hidesCausingSite
    if isProved, requestSessions.ofCookies(request).allSatisfy({ handles.contains($0.handle) }) {
      response.setCookie(requestSessions.cookies.sessionClearing)
      reset.apply(to: &response)
    }
    return response
  }
}
