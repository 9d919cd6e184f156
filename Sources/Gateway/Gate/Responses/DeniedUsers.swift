internal import AccessPolicy
internal import DataPlane
internal import HTTPWire
internal import NIOCore
internal import Pages
internal import Sessions

/// Refuses users whom the rules of a route deny, some of whom may ask for access.
struct DeniedUsers {
  private let routes: RouteTable
  private let sessions: LoopSessions
  /// Those of each site, by its number.
  private let endpoints: [SiteEndpoints]
  private let responses: GateResponses

  /// The time for which an event loop caches the request of a session's user, in milliseconds. Asking, admitting and
  /// rejecting end it on every loop of this process.
  private static let requestStateLifetime: Int64 = 60_000
  /// The same after the store did not answer.
  private static let outageRetryInterval: Int64 = 1_000

  init(_ routes: RouteTable, _ sessions: LoopSessions, _ endpoints: [SiteEndpoints], _ responses: GateResponses) {
    self.routes = routes
    self.sessions = sessions
    self.endpoints = endpoints
    self.responses = responses
  }

  /// The decision on a request of a user whom the rules deny.
  func decide(
    _ entry: SessionCacheEntry, _ reason: DenialReason, _ route: RouteDecision, _ label: RequestLabel,
    _ head: borrowing RequestHead, _ bytes: RawSpan, _ request: GateRequest
  ) -> GateDecision {
    let mayAsk = endpoints[request.site.number].accessRequests != nil && couldBeLifted(route, entry)
    if mayAsk, let query = queryAccessRequest(of: entry, request.site) { return .suspend(query) }
    let user = entry.snapshot.account
    var response =
      if mayAsk, let state = entry.accessRequest?.state {
        responses.accessRefusal(PageFailure(reason), state, head, bytes, request, to: user)
      } else {
        responses.failure(PageFailure(reason), head, bytes, request, to: user)
      }
    if let cookie = CredentialRenewal.cookie(of: entry, sessions, head, bytes) { response.setCookie(cookie) }
    return .answer(response, label: label)
  }

  /// Whether membership in a group could admit the user whom the rules of a route refuse.
  private func couldBeLifted(_ route: RouteDecision, _ entry: SessionCacheEntry) -> Bool {
    guard case .rules(let rules) = route.access else { return false }
    return routes.couldBeLifted(rules) { entry.decision(of: $0, sessions.configuration) }
  }

  /// The query for the user's request for access, which only the store knows; nil if it is cached.
  private func queryAccessRequest(
    of entry: SessionCacheEntry, _ site: GateSite
  ) -> (@Sendable () async -> Void)? {
    guard let accessRequests = endpoints[site.number].accessRequests else { return nil }
    if let request = entry.accessRequest, request.known.contains(sessions.now) { return nil }
    let subject = entry.snapshot.account.subject
    let bound = NIOLoopBound((entry: entry, sessions: sessions), eventLoop: sessions.eventLoop)
    return {
      let found = await accessRequests(subject)
      try? await bound.eventLoop.submit {
        // If the store does not answer, the button stays: pressing it says so.
        let lifetime = found == nil ? Self.outageRetryInterval : Self.requestStateLifetime
        bound.value.entry.take(found ?? .mayAsk, for: Period(from: bound.value.sessions.now, for: lifetime))
      }.get()
    }
  }
}
