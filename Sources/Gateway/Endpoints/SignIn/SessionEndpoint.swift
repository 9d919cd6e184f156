internal import DataPlane
internal import Pages
internal import Sessions

/// `session` by way of the store: for requests that the gate does not answer itself, such as HEAD.
struct SessionEndpoint: Sendable {
  let pages: EndpointPages
  let sessions: RequestSessions

  /// `GET session`.
  func session(_ request: ControlRequest) async -> ControlResponse {
    do throws(StoreError) {
      guard let snapshot = try await sessions.find(request) else { return pages.failureJSON(.signInRequired, request) }
      return SessionDescription.response(snapshot)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
  }
}
