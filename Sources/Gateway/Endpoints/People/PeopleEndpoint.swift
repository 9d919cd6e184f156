internal import AccessPolicy
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `people`: the page of managers. GET shows requests, accounts and invitations; each act is a POST, which
/// redirects to the page.
struct PeopleEndpoint: Sendable {
  let origin: OriginSettings
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let authority: ManagerAuthority
  let lists: PeopleLists
  let acts: PeopleActs
  let storeHealth: StoreHealth
  let sessions: SessionManager
  let audit: AuditTrail
  /// Limits the audit of requests by others than managers; shared by all configurations.
  let refusals: LogLimit

  /// `GET people`, with `person`, `ask`, `q`, `after`, `requests` and `done` in its query.
  func page(_ request: ControlRequest) async -> ControlResponse {
    guard !authority.managers.isEmpty else { return pages.failure(.notFound, request) }
    do {
      guard let snapshot = try await requestSessions.find(request) else { return signInFirst(request) }
      switch authority.status(snapshot, at: sessions.date) {
      case .manager: return try await show(request, to: snapshot.account.subject)
      case .signInTooOld: return signInFirst(request)
      case .banned: return pages.failure(.banned, request, to: snapshot.account)
      case .nobody: return pages.failure(.forbidden, request, to: snapshot.account)
      }
    } catch {
      return failed(error, request)
    }
  }

  /// `POST people`.
  func act(_ request: ControlRequest) async -> ControlResponse {
    guard !authority.managers.isEmpty else { return pages.failure(.notFound, request) }
    guard requestSessions.isIntended(request, at: origin) else { return pages.failure(.crossSite, request) }
    do {
      guard let snapshot = try await requestSessions.find(request) else {
        return pages.failure(.formNotSent, request, returnTo: path)
      }
      switch authority.status(snapshot, at: sessions.date) {
      case .manager: return try await act(request, by: snapshot.account.subject)
      case .signInTooOld: return pages.failure(.reauthenticationRequired, request, returnTo: path)
      case .banned: return refused(.banned, request)
      case .nobody: return refused(.forbidden, request)
      }
    } catch {
      return failed(error, request)
    }
  }

  private var path: String { GatewayEndpoint.people.path(below: origin.prefix) }

  // MARK: Page

  private func show(_ request: ControlRequest, to manager: Subject) async throws -> ControlResponse {
    var query = PeopleQuery((try? request.query()) ?? FormFields(fields: []))
    if !request.isCausedByOwnPage { query.result = nil }
    let renderer = pages.pages(request)
    guard let subject = query.person else {
      return ControlResponse(renderer.people(try await lists.list(query, for: manager))).separatedFromOpener()
    }
    guard let details = try await lists.details(of: subject, for: manager, result: query.result) else {
      return redirect([("done", PeopleResult.unchanged.rawValue)])
    }
    if let question = query.question {
      guard !details.person.isProtected else { return pages.failure(.forbidden, request) }
      return ControlResponse(renderer.peopleQuestion(question, details.person)).separatedFromOpener()
    }
    return ControlResponse(renderer.person(details)).separatedFromOpener()
  }

  private func signInFirst(_ request: ControlRequest) -> ControlResponse {
    guard request.prefersPage else {
      return pages.failureJSON(.signInRequired, request)
    }
    let target = PercentEncoding.encode(request.head.path ?? path, keepsSlash: true)
    return .redirect(.found, to: GatewayEndpoint.signIn.path(below: origin.prefix) + "?return_to=" + target)
  }

  // MARK: Acts

  private func act(_ request: ControlRequest, by manager: Subject) async throws -> ControlResponse {
    let actor = AccessChanges.Actor(
      author: audit.author(ofManager: manager), peer: request.client.address, requestID: request.requestID)
    guard let form = try? FormFields(parsing: request.body), let act = PeopleActs.Act(form) else {
      return pages.failure(.badRequest, request)
    }
    switch try await acts.carryOut(act, for: manager, by: actor) {
    case .done(let result): return redirect(back(from: act, result))
    case .invited(let link):
      return ControlResponse(pages.pages(request).invitationLink(link)).separatedFromOpener()
    case .protected: return pages.failure(.forbidden, request, returnTo: path)
    }
  }

  /// The query of the page to redirect to: that of the person, or the list.
  private func back(from act: PeopleActs.Act, _ result: PeopleResult) -> [(String, String)] {
    let done = [("done", result.rawValue)]
    switch act {
    case .admit, .reject, .invite, .revoke: return done
    case .add(let subject, _), .remove(let subject, _), .ban(let subject, _, _), .unban(let subject),
      .endSession(_, let subject), .endSessions(let subject):
      return [("person", subject.text)] + done
    }
  }

  private func redirect(_ query: [(String, String)]) -> ControlResponse {
    let text = query.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    return .redirect(.seeOther, to: path + "?" + text)
  }

  private func refused(_ failure: PageFailure, _ request: ControlRequest) -> ControlResponse {
    if let omitted = refusals.admit() {
      audit.record(
        .administrationRefused(omitted: omitted), peer: request.client.address, requestID: request.requestID)
    }
    return pages.failure(failure, request)
  }

  private func failed(_ error: any Error, _ request: ControlRequest) -> ControlResponse {
    if let error = error as? StoreError { storeHealth.failed("people", error) }
    return pages.failure(.storeUnavailable, request)
  }
}

/// The query of the people page.
struct PeopleQuery: Sendable {
  /// The person whose page is shown.
  let person: Subject?
  let question: PeopleQuestion?
  /// The beginning of a name, an address or a subject.
  let search: String
  /// The subject that the list goes on after.
  let after: Subject?
  /// The code that the requests go on after.
  let requestsAfter: AccessRequestCode?
  var result: PeopleResult?

  /// Unknown and malformed values are ignored.
  init(_ fields: FormFields) {
    func text(_ name: String) -> String? {
      (try? fields.value(of: name)).map { String(decoding: $0, as: UTF8.self) }
    }
    person = text("person").flatMap { Subject($0) }
    question = text("ask").flatMap { PeopleQuestion(rawValue: $0) }
    search = String(decoding: (text("q") ?? "").utf8.prefix(255), as: UTF8.self)
    after = text("after").flatMap { Subject($0) }
    requestsAfter = text("requests").flatMap { AccessRequestCode($0) }
    result = text("done").flatMap { PeopleResult(rawValue: $0) }
  }
}
