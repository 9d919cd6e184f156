internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import Pages
internal import Sessions

/// Decides on the user of a request to a route: by its session or machine token, the rules, and the age of the sign-in.
///
/// The order of the steps is security-critical. There is one, for the requests that the gateway forwards and for those
/// that another proxy asks about (``VerifyEndpoint``). A class, because every request uses it: a copy of a structure
/// would retain all that it is made of.
final class UserAdmission {
  private let sessions: LoopSessions
  private let finder: SessionFinder
  private let tokens: MachineTokens

  init(_ configuration: GateConfiguration, _ sessions: LoopSessions) {
    self.sessions = sessions
    finder = SessionFinder(sessions, configuration)
    tokens = MachineTokens(sessions, configuration)
  }

  /// The decision on a user.
  enum Decision {
    /// The request passes a public route without an identity.
    case nobody
    /// It passes with the identity of a session or a machine token.
    case admitted(SessionCacheEntry)
    /// It has no session.
    case signedOut
    /// The sign-in of its session is too old for the route.
    case outdated(SessionCacheEntry)
    /// The rules of the route deny the user.
    case denied(DenialReason, SessionCacheEntry)
    /// Its machine token is refused: 401, 403 or 503.
    case refusedToken(PageFailure)
    /// It is not known whether its session exists.
    case storeUnavailable
    /// Something has to be asked first; decide on the request again afterwards.
    case suspend(@Sendable () async -> Void)
  }

  /// - Parameter route: one that is neither denied to everybody nor a sign-out.
  @inline(__always)
  func decide(
    on route: RouteDecision, _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: inout GateRequest
  ) -> Decision {
    let field = MachineTokenField.find(head, bytes)
    guard case .absent = field else {
      request.token = .machine
      return decide(on: field, of: route)
    }
    // Public routes never wait for a revalidation.
    let isPublic = if case .public = route.access { true } else { false }
    let entry: SessionCacheEntry
    switch finder.find(head, bytes, &request, waitsForRevalidation: !isPublic) {
    case .known(let known): entry = known
    case .suspend(let work): return .suspend(work)
    case .storeUnavailable: return isPublic ? .nobody : .storeUnavailable
    case .none: return isPublic ? .nobody : .signedOut
    }
    if isPublic, entry.isNobody(on: route, sessions.configuration) { return .nobody }
    if case .rules(let rules) = route.access,
      case .denied(let reason) = entry.decision(of: rules, sessions.configuration)
    {
      return .denied(reason, entry)
    }
    if !isPublic, entry.mustSignInAgain(maxAge: route.maxAge, at: sessions.now) { return .outdated(entry) }
    if let signing = sessions.renewAssertion(of: entry) { return .suspend(signing) }
    return .admitted(entry)
  }

  private func decide(on field: MachineTokenField, of route: RouteDecision) -> Decision {
    switch tokens.decide(on: field, route) {
    case .nobody: .nobody
    case .admitted(let entry): .admitted(entry)
    case .suspend(let work): .suspend(work)
    case .refused(let failure): .refusedToken(failure)
    }
  }
}
