internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `request-access`: a signed-in user that lists refuse requests access. The request waits in the store for an operator
/// or a manager, who identifies it by its code.
struct AccessRequestEndpoint: Sendable {
  let origin: OriginSettings
  /// `access.requests`.
  let isEnabled: Bool
  let pages: EndpointPages
  let returnTargets: ReturnTargets
  let requestSessions: RequestSessions
  let sessions: SessionManager
  let store: any AccessRequestStore
  let storeHealth: StoreHealth
  let evaluator: AccessEvaluator
  let audit: AuditTrail

  /// The endpoint for the gate.
  /// - Parameter limit: nil for none.
  func action(within limit: SignInLimit?) -> EndpointAction {
    EndpointAction(
      [.get: page, .post: pages.within(limit, .accessRequest, counts: isIntended, ask)], pages: pages,
      bodyLimit: 16 * 1024)
  }

  private func isIntended(_ request: ControlRequest) -> Bool { requestSessions.isIntended(request, at: origin) }

  /// Looks up requests for access, for the gate; nil if they are disabled.
  var lookUps: SiteEndpoints.AccessRequestQuery? { isEnabled ? lookUp : nil }

  /// Whether a request of the user waits, and its code; nil if the store does not answer.
  func lookUp(_ subject: Subject) async -> AccessRequestState? {
    do throws(StoreError) {
      return try await store.request(of: subject, at: sessions.date).map { .waits(code: $0.code.text) } ?? .mayAsk
    } catch {
      storeHealth.failed("request_access", error)
      return nil
    }
  }

  /// `GET request-access`: the button, or the code of the request that waits.
  func page(_ request: ControlRequest) async -> ControlResponse {
    guard isEnabled else { return pages.failure(.notFound, request) }
    do throws(StoreError) {
      guard let snapshot = try await requestSessions.find(request) else { return signInFirst(request) }
      let wanted = wanted(request)
      if let refusal = refusal(snapshot, wanted, request) { return refusal }
      // If the store does not answer, the button is shown: pressing it reports the failure.
      return answer(
        await lookUp(snapshot.account.subject) ?? .mayAsk, wanted, request, to: snapshot.account)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
  }

  /// `POST request-access`: asks, once for each user; asking again gives the same code.
  func ask(_ request: ControlRequest) async -> ControlResponse {
    guard isEnabled else { return pages.failure(.notFound, request) }
    guard isIntended(request) else { return pages.failure(.crossSite, request) }
    do throws(StoreError) {
      guard let snapshot = try await requestSessions.find(request) else { return signInFirst(request) }
      let wanted = wanted(request)
      if let refusal = refusal(snapshot, wanted, request) { return refusal }
      return try await ask(snapshot.account, wanted, request)
    } catch {
      storeHealth.failed("request_access", error)
      return pages.failure(.storeUnavailable, request)
    }
  }

  private func ask(
    _ user: Account, _ wanted: ReturnTarget?, _ request: ControlRequest
  ) async throws(StoreError) -> ControlResponse {
    let subject = user.subject
    let code = AccessRequestCode.random()
    switch try await store.ask(subject, code: code, at: sessions.date) {
    case .waits(let waiting):
      // Before the response, so that the refused page shows the code when it is reloaded.
      await sessions.markStale(subject)
      if waiting.code == code {
        audit.record(
          .accessRequested, subject: subject, peer: request.client.address, requestID: request.requestID)
      }
      return answer(.waits(code: waiting.code.text), wanted, request, to: user)
    case .banned: return pages.failure(.banned, request, to: user)
    case .tooMany: return pages.failure(.accessRequestsFull, request)
    }
  }

  /// The answer to a user who cannot ask: banned, denied, or not refused at the path in question.
  private func refusal(
    _ snapshot: SessionSnapshot, _ wanted: ReturnTarget?, _ request: ControlRequest
  ) -> ControlResponse? {
    switch evaluator.refusal(snapshot.account, at: sessions.date) {
    case .banned: return pages.failure(.banned, request, to: snapshot.account)
    case .denied: return pages.failure(.forbidden, request, to: snapshot.account)
    case nil: break
    }
    guard let wanted else { return nil }
    switch evaluator.access(snapshot, to: wanted.path) {
    case .refusedByLists: return nil
    case .refused: return pages.failure(.forbidden, request, to: snapshot.account)
    case .admitted: return ControlResponse(pages.pages(request).admitted(returnTo: wanted.path))
    }
  }

  private func signInFirst(_ request: ControlRequest) -> ControlResponse {
    pages.failure(.signInRequired, request, returnTo: wanted(request)?.path ?? "/")
  }

  /// The path that was refused to the user, from the form or the query; nil without one.
  private func wanted(_ request: ControlRequest) -> ReturnTarget? {
    let form = request.head.method == .post ? try? FormFields(parsing: request.body) : nil
    let query = try? request.query()
    let value = form.flatMap { try? $0.value(of: "return_to") } ?? query.flatMap { try? $0.value(of: "return_to") }
    return value.map { returnTargets.target($0) }
  }

  private func answer(
    _ state: AccessRequestState, _ wanted: ReturnTarget?, _ request: ControlRequest, to user: Account
  ) -> ControlResponse {
    let path = wanted?.path ?? "/"
    let renderer = pages.pages(request)
    if case .waits(let code) = state, !isPage(request) {
      return ControlResponse(renderer.accessRequestJSON(code: code))
    }
    return ControlResponse(
      renderer.accessRequest(state, requestID: request.requestID, returnTo: path, user: user.shownAddress))
  }

  private func isPage(_ request: ControlRequest) -> Bool {
    request.isNavigation && request.prefersPage
  }
}
