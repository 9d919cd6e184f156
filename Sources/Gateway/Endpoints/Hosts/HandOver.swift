internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Logging
internal import Pages
internal import Sessions
internal import WebFormats

/// The hand-over of a session from `public_url` to another host: reads the visit that a browser comes with, and leads
/// it back with a one-time code.
///
/// A visit is sealed by the host's own `sign-in`, so nobody can make one up, and bound to a cookie of the browser that
/// began it, so a code that another browser brings is worth nothing. It works on every replica.
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

  /// The pages of a visit, which lead back to its host; nil if the configuration no longer has it.
  func pages(of visit: HostVisit) -> EndpointPages? {
    host(of: visit).map { EndpointPages($0.pages.leading(to: $0.origin.description)) }
  }

  private func host(of visit: HostVisit) -> GateSite? {
    hosts.first { $0.origin.authority.utf8.elementsEqual(visit.host.utf8) }
  }

  // MARK: The session

  /// The redirect to the host of a visit if the browser has a session that is good enough for it; nil if the user has
  /// to sign in.
  func redirect(for visit: HostVisit, _ request: ControlRequest) async throws(StoreError) -> ControlResponse? {
    guard let found = try await requestSessions.current(request),
      !mustSignInAgain(found.snapshot, for: visit, at: .now)
    else { return nil }
    return redirect(found.identifier, to: visit, request)
  }

  /// Whether the gate of the host would send the user of this session to sign in again: the answer is the same, so that
  /// no browser goes to and fro.
  private func mustSignInAgain(_ snapshot: SessionSnapshot, for visit: HostVisit, at now: Date) -> Bool {
    let (session, account) = (snapshot.session, snapshot.account)
    if let maxAge = visit.maxAge, !session.isRecent(.seconds(maxAge), at: now) { return true }
    // Without a route that admits the user, the account is not revalidated, and a new token would not be kept.
    guard policy.couldAdmit(policy.principal(of: account), of: snapshot) else { return false }
    if account.access.isTokenDiscarded { return true }
    return schedule.decision(account: account, now: now) == .blocking && !schedule.mayGoOn(account: account, now: now)
  }

  // MARK: The way back

  /// The redirect to the host with the one-time code; nil if there is no way back.
  func redirect(_ identifier: SessionIdentifier, to visit: HostVisit, _ request: ControlRequest) -> ControlResponse? {
    guard let host = host(of: visit),
      let code = try? keyring.sealArrival(HostArrival(of: identifier, by: visit, now: .now))
    else {
      logger.error("handing a session over to another host failed", metadata: ["request": "\(request.requestID)"])
      return nil
    }
    let arrive = host.origin.description + GatewayEndpoint.arrive.path(below: prefix)
    var response = ControlResponse.redirect(.seeOther, to: "\(arrive)?\(ArrivalEndpoint.parameter)=\(code)")
    response.head.headerFields[.referrerPolicy] = "no-referrer"
    return response
  }
}

/// The reason that a visit cannot be continued.
enum VisitViolation: Error {
  /// Nothing that the gateway sealed, or for a host that the configuration does not have.
  case malformed
  /// It took too long.
  case over(HostVisit)
}
