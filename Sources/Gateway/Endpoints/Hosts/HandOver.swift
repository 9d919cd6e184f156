internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Pages
internal import Sessions
internal import WebFormats

/// The transfer of a session from `public_url` to another host: reads the visit from the request, and redirects the
/// browser back with a one-time code.
///
/// A visit is sealed by the host's own `sign-in`, so it cannot be forged, and bound to a cookie of the browser that
/// began it, so its code is invalid in another browser. It works on every replica.
struct HandOver: Sendable {
  /// Each `[[host]]`.
  let hosts: [GateSite]
  let prefix: String
  let keyring: SessionKeyring
  let requestSessions: RequestSessions
  let policy: UserPolicy
  let schedule: RevalidationSchedule
  let logger: Logger

  /// The query item with the sealed visit.
  static let parameter = "visit"

  // MARK: The visit

  /// The visit that a request to `public_url` continues; nil if it continues none.
  func visit(in request: ControlRequest) throws(VisitViolation) -> HostVisit? {
    guard let query = try? request.query(), let sealed = query.values(of: Self.parameter).first else { return nil }
    let visit: HostVisit
    do throws(SealError) {
      visit = try keyring.openVisit(sealed)
    } catch {
      throw .malformed
    }
    guard query.values(of: Self.parameter).count == 1, host(of: visit) != nil else { throw .malformed }
    if visit.isOver(at: .now) { throw .over(visit) }
    return visit
  }

  /// The pages of a visit, with links to its host; nil if the configuration no longer has the host.
  func pages(of visit: HostVisit) -> EndpointPages? {
    host(of: visit).map { EndpointPages($0.pages.leading(to: $0.origin.description)) }
  }

  private func host(of visit: HostVisit) -> GateSite? {
    hosts.first { $0.origin.authority.utf8.elementsEqual(visit.host.utf8) }
  }

  // MARK: The session

  /// The redirect to the host of a visit if the session of the browser suffices; nil if the user has to sign in.
  func redirect(for visit: HostVisit, _ request: ControlRequest) async throws(StoreError) -> ControlResponse? {
    guard let found = try await requestSessions.current(request),
      !mustSignInAgain(found.snapshot, for: visit, at: .now)
    else { return nil }
    return redirect(found.identifier, to: visit, request)
  }

  /// Whether the gate of the host would require another sign-in for this session. Both must agree, to avoid a redirect
  /// loop.
  private func mustSignInAgain(_ snapshot: SessionSnapshot, for visit: HostVisit, at now: Date) -> Bool {
    if let maxAge = visit.maxAge, !snapshot.session.isRecent(.seconds(maxAge), at: now) { return true }
    return mustSignInAgain(snapshot, at: now)
  }

  /// Whether the gate would require another sign-in for this session, whatever its age.
  func mustSignInAgain(_ snapshot: SessionSnapshot, at now: Date) -> Bool {
    let account = snapshot.account
    // If no route admits the user, the account is not revalidated, and a new token would be discarded.
    guard policy.couldAdmit(policy.principal(of: account), of: snapshot) else { return false }
    if account.access.isTokenDiscarded { return true }
    return schedule.decision(account: account, now: now) == .blocking && !schedule.mayGoOn(account: account, now: now)
  }

  // MARK: The redirect

  /// The redirect to the host with the one-time code; nil if it is impossible.
  func redirect(_ identifier: SessionIdentifier, to visit: HostVisit, _ request: ControlRequest) -> ControlResponse? {
    guard let host = host(of: visit),
      let code = try? keyring.sealArrival(HostArrival(of: identifier, by: visit, now: .now))
    else {
      logger.error("handing a session over to another host failed", metadata: ["request": "\(request.requestID)"])
      return nil
    }
    let arrive = host.origin.description + GatewayEndpoint.arrive.path(below: prefix)
    return .redirect(.seeOther, toSecret: "\(arrive)?\(ArrivalEndpoint.parameter)=\(code)")
  }
}

/// The reason that a visit cannot be continued.
enum VisitViolation: Error {
  /// It is not sealed by the gateway, or for an unknown host.
  case malformed
  /// It has expired.
  case over(HostVisit)
}
