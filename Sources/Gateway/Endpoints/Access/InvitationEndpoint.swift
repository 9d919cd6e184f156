internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `invite/CODE`: GET shows an invitation and writes nothing; POST joins its group.
///
/// The answer is the same for every invalid code, so that nothing is learned by trying codes; but a member of the group
/// of an invitation that admits nobody any longer is told so, because that user has probably used it.
struct InvitationEndpoint: Sendable {
  let origin: OriginSettings
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let store: any InvitationStore
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let evaluator: AccessEvaluator
  /// Each `[[host]]`.
  let hosts: [GateSite]
  let audit: AuditTrail

  /// The endpoint for the gate. Both methods count if they look a code up, so that codes cannot be tried faster by
  /// either.
  /// - Parameter limit: nil for none.
  func action(within limit: SignInLimit?) -> EndpointAction {
    EndpointAction(
      [
        .get: pages.within(limit, .invitation, counts: mayBeOpened, page),
        .post: pages.within(limit, .invitation, counts: isIntended, join),
      ], pages: pages, bodyLimit: 4 * 1024)
  }

  /// Whether a request may learn about a code, and counts for the limit: others are refused without a look-up. A page
  /// of another site may link to an invitation, but not load one as an image or in a frame.
  private func mayBeOpened(_ request: ControlRequest) -> Bool {
    !request.isOfAnotherSite || request.isTopLevelNavigation
  }

  private func isIntended(_ request: ControlRequest) -> Bool { requestSessions.isIntended(request, at: origin) }

  /// `GET invite/CODE`.
  func page(_ request: ControlRequest) async -> ControlResponse {
    guard mayBeOpened(request) else { return secret(pages.failure(.crossSite, request)) }
    do throws(StoreError) {
      guard let (code, invitation) = try await find(request) else { return invalid(request) }
      let found = try await requestSessions.find(request)
      guard invitation.isOpen(at: sessions.date) else { return over(invitation, found, request) }
      let account = found?.account
      let user = account.map { $0.name?.text ?? $0.claims.email ?? $0.subject.text }
      return ControlResponse(pages.pages(request).invitation(path: path(of: code), user: user))
    } catch {
      return unavailable(error, request)
    }
  }

  /// `POST invite/CODE`. Without a session the browser is led to sign in, and then back to the page.
  func join(_ request: ControlRequest) async -> ControlResponse {
    guard isIntended(request) else { return secret(pages.failure(.crossSite, request)) }
    do throws(StoreError) {
      guard let (code, invitation) = try await find(request) else { return invalid(request) }
      let found = try await requestSessions.find(request)
      guard invitation.isOpen(at: sessions.date) else { return over(invitation, found, request) }
      guard let found else { return signIn(code) }
      let account = found.account
      switch evaluator.refusal(account, at: sessions.date) {
      case .banned: return secret(pages.failure(.banned, request, to: account))
      case .denied: return secret(pages.failure(.forbidden, request, to: account))
      case nil: break
      }
      return try await redeem(code, invitation, found, request)
    } catch {
      return unavailable(error, request)
    }
  }

  private func redeem(
    _ code: InvitationCode, _ invitation: Invitation, _ snapshot: SessionSnapshot, _ request: ControlRequest
  ) async throws(StoreError) -> ControlResponse {
    let account = snapshot.account
    let isMember = evaluator.isMember(evaluator.principal(account), ofAny: [invitation.group.text])
    switch try await store.redeem(hash: code.hash, by: account.subject, isMember: isMember, at: sessions.date) {
    case .joined(let group):
      // Before the response, so that the next request of this browser is admitted.
      await sessions.markStale(account.subject)
      audit.record(
        .invitationRedeemed, subject: account.subject, peer: request.client.address, requestID: request.requestID,
        access: AuditEvent.AccessFields(group: group.text, invitation: invitation.id))
      return await welcome(snapshot, isNew: true, request)
    // Perhaps since a moment ago, by the same form sent twice.
    case .alreadyMember: return await welcome(snapshot, isNew: false, request)
    case .banned: return secret(pages.failure(.banned, request, to: account))
    case .closed: return invalid(request)
    }
  }

  /// The page of a member, who may have joined after the session was read.
  private func welcome(
    _ snapshot: SessionSnapshot, isNew: Bool, _ request: ControlRequest
  ) async -> ControlResponse {
    let joined = (try? await requestSessions.find(request)) ?? snapshot
    return ControlResponse(welcomePages(joined).pages(request).joined(isNew: isNew))
  }

  /// The answer for an invitation that admits nobody any longer.
  private func over(
    _ invitation: Invitation, _ snapshot: SessionSnapshot?, _ request: ControlRequest
  ) -> ControlResponse {
    guard let snapshot, evaluator.refusal(snapshot.account, at: sessions.date) == nil,
      evaluator.isMember(evaluator.principal(snapshot.account), ofAny: [invitation.group.text])
    else { return invalid(request) }
    return ControlResponse(welcomePages(snapshot).pages(request).alreadyMember())
  }

  /// The pages of the first site whose front page admits a user, with links to it; else those of `public_url`. The
  /// group of an invitation may be admitted on a `[[host]]` only.
  private func welcomePages(_ snapshot: SessionSnapshot) -> EndpointPages {
    if evaluator.access(snapshot, to: "/") == .admitted { return pages }
    var hostEvaluator = evaluator
    for host in hosts {
      hostEvaluator.host = host.routes
      guard hostEvaluator.access(snapshot, to: "/") == .admitted else { continue }
      return EndpointPages(host.pages.leading(to: host.origin.description))
    }
    return pages
  }

  /// The invitation of the request's path to a declared group, also one that admits nobody any longer.
  private func find(_ request: ControlRequest) async throws(StoreError) -> (InvitationCode, Invitation)? {
    guard let code = InvitationCode(ofPath: request.head.path ?? "", below: origin.prefix) else { return nil }
    guard let invitation = try await store.invitation(hash: code.hash),
      evaluator.policy.groups.number(of: invitation.group.text) != nil
    else { return nil }
    return (code, invitation)
  }

  private func path(of code: InvitationCode) -> String {
    GatewayEndpoint.invite.path(below: origin.prefix) + "/" + code.exposedText
  }

  private func signIn(_ code: InvitationCode) -> ControlResponse {
    let target = PercentEncoding.encode(path(of: code), keepsSlash: true)
    return secret(
      .redirect(.seeOther, to: GatewayEndpoint.signIn.path(below: origin.prefix) + "?return_to=" + target))
  }

  private func invalid(_ request: ControlRequest) -> ControlResponse {
    secret(pages.failure(.invitationInvalid, request))
  }

  private func unavailable(_ error: StoreError, _ request: ControlRequest) -> ControlResponse {
    storeHealth.failed("invitation", error)
    return secret(pages.failure(.storeUnavailable, request))
  }

  /// A response for an address that contains a code.
  private func secret(_ response: ControlResponse) -> ControlResponse {
    var response = response
    response.head.headerFields[.referrerPolicy] = "strict-origin"
    return response
  }
}

extension InvitationCode {
  /// The code of the path of an invitation; nil for any other path.
  /// - Parameter path: with its query.
  init?(ofPath path: String, below prefix: String) {
    let folder = GatewayEndpoint.invite.path(below: prefix) + "/"
    let path = path.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard path.starts(with: folder.utf8) else { return nil }
    self.init(String(decoding: path.dropFirst(folder.utf8.count), as: UTF8.self))
  }
}
