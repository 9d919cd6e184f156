internal import DataPlane
internal import HTTPTypes
internal import Pages
internal import Sessions

/// `session`, answered from the store: for requests that the gate does not answer itself, such as HEAD, and for
/// `?peek=1`.
struct SessionEndpoint: Sendable {
  let pages: EndpointPages
  let sessions: RequestSessions
  let tokens: MachineTokenSessions
  let policy: UserPolicy

  /// The endpoint for the gate.
  var action: EndpointAction { EndpointAction([.get: session], pages: pages) }

  /// `GET session`.
  func session(_ request: ControlRequest) async -> ControlResponse {
    do throws(StoreError) {
      let answer =
        switch MachineTokenField.find(request) {
        case .absent: try await ofSession(request)
        case .token(let text): try await tokens.find(text).map { ofToken($0, request) }
        case .malformed: nil as ControlResponse?
        }
      return answer ?? pages.failureJSON(.signInRequired, request)
    } catch {
      return pages.failure(.storeUnavailable, request)
    }
  }

  private func ofSession(_ request: ControlRequest) async throws(StoreError) -> ControlResponse? {
    guard SessionPeek.isAsked(request) else {
      return try await sessions.find(request).map {
        SessionDescription.response($0, groups: policy.groupNames(of: $0.account))
      }
    }
    return try await sessions.peek(request).map { found in
      SessionPeek.response(ends: found.ends, idleEnds: found.idleEnds)
    }
  }

  private func ofToken(_ token: MachineToken, _ request: ControlRequest) -> ControlResponse {
    guard SessionPeek.isAsked(request) else { return MachineTokenDescription.response(token) }
    return SessionPeek.response(ends: token.expires, idleEnds: nil)
  }
}
