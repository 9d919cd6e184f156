internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Operations
internal import Pages
internal import Sessions

/// Decides on requests of one event loop that carry a machine token: by the token alone, whatever cookies came along.
struct MachineTokens {
  private let sessions: LoopSessions
  private let routes: RouteTable

  init(_ sessions: LoopSessions, _ configuration: GateConfiguration) {
    self.sessions = sessions
    routes = configuration.routes
  }

  /// The decision on a request that carries a token.
  enum Decision {
    /// It passes a public route, without an identity, whatever the token is.
    case nobody
    /// It passes as the token.
    case admitted(SessionCacheEntry)
    /// It is refused: 401, 403 or 503.
    case refused(PageFailure)
    /// Something has to be asked first; decide on the request again afterwards.
    case suspend(@Sendable () async -> Void)
  }

  /// Decides on a request to a route that is not denied to everybody.
  /// - Parameter field: a token, in whatever form.
  func decide(on field: MachineTokenField, _ route: RouteDecision) -> Decision {
    if case .public = route.access {
      sessions.tokenRequests.count(.ignored)
      return .nobody
    }
    guard route.acceptsTokens else { return refused(.signInRequired, .notAccepted) }
    guard case .token(let text) = field else { return refused(.signInRequired, .malformed) }
    switch sessions.find(machineToken: text) {
    case .none: return refused(.signInRequired, .unknown)
    case .storeUnavailable: return refused(.storeUnavailable, .unavailable)
    case .suspend(let work): return .suspend(work)
    case .known(let entry):
      guard let token = entry.machineToken, Self.admits(token, route, routes) else {
        return refused(.forbidden, .forbidden)
      }
      if let signing = sessions.renewAssertion(of: entry) { return .suspend(signing) }
      sessions.tokenRequests.count(.admitted)
      return .admitted(entry)
    }
  }

  /// Whether the rules of a route admit a token. `allow_groups` alone does: a token is never admitted as "signed in".
  static func admits(_ token: MachineToken, _ route: RouteDecision, _ routes: RouteTable) -> Bool {
    route.acceptsTokens && routes.evaluateToken(inGroupNamed: token.group.text, by: route.access) == .allowed
  }

  private func refused(_ failure: PageFailure, _ outcome: MachineTokenRecorder.Outcome) -> Decision {
    sessions.tokenRequests.count(outcome)
    return .refused(failure)
  }

  /// The lookup of a token for `GET session`, which has no route.
  func find(_ field: MachineTokenField) -> LoopSessions.LookUp {
    guard case .token(let text) = field else { return .none }
    return sessions.find(machineToken: text)
  }
}
