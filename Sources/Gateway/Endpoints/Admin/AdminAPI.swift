internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Secrets
internal import Sessions

/// The admin API: administers accounts and sessions, and reloads the configuration. Every operation is audited.
struct AdminAPI: Sendable {
  let authorization: AdminAuthorization
  let sessions: SessionManager
  let store: any SessionRecordStore & AccountStore & EncryptedTokenStore & TeamTransferStore & BanStore
  /// Bans, groups, requests, invitations and machine tokens.
  let accessChanges: AccessChanges
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring
  /// The groups of all deny lists.
  let denyGroups: Set<GroupName>
  let storeHealth: StoreHealth
  let metrics: MetricsRegistry
  let audit: AuditTrail
  /// Reloads the configuration; the argument is the credential of the caller, for the log.
  let reload: @Sendable (String) async -> ReloadReport
  /// Limits the audit of refusals; shared by all configurations.
  let refusals: LogLimit

  /// Authorizes and handles a request.
  func answer(_ request: ControlRequest) async -> ControlResponse {
    do throws(AdminError) {
      let caller = try authorize(request)
      let asked = try AdminRequest(
        method: request.head.method.rawValue, target: request.head.path ?? "", body: request.body)
      switch asked {
      case .operation(let operation): return try await carryOut(operation, by: caller, request)
      case .access(let operation): return try await carryOut(operation, by: caller, request)
      }
    } catch {
      return Self.response(error)
    }
  }

  /// - Returns: the caller, by the credential.
  private func authorize(_ request: ControlRequest) throws(AdminError) -> AccessAuthor {
    do throws(AdminError) {
      return try authorization.authorize(request.head.headerFields[values: .authorization])
    } catch {
      refuse(request)
      let isReload = request.head.path == "/reload"
      throw isReload && error == .switchedOff ? AdminError.reloadSwitchedOff : error
    }
  }

  /// Performs an operation, and audits one that fails.
  private func carryOut(
    _ operation: AdminOperation, by caller: AccessAuthor, _ request: ControlRequest
  ) async throws(AdminError) -> ControlResponse {
    let context = AdminRequestContext(request: request, caller: caller)
    do throws(AdminError) {
      return try await reportingStore { () async throws in try await carryOut(operation, context) }
    } catch {
      record(operation.name, operation.subject, session: operation.session, by: caller, failed: error.code, request)
      throw error
    }
  }

  /// The request of an operation, and its caller.
  private struct AdminRequestContext {
    let request: ControlRequest
    let caller: AccessAuthor
  }

  private func carryOut(_ operation: AdminOperation, _ context: AdminRequestContext) async throws -> ControlResponse {
    switch operation {
    case .findSubject(let named):
      let subject = try await store.subjectOfAccount(named) ?? named
      let account = try await store.account(subject)
      record(operation.name, subject, by: context.caller, context.request)
      return Self.json(AccountsReport(accounts: [account].compactMap(\.self).map(report)))
    case .findEmail(let email):
      let found = try await store.accounts(withEmail: email)
      for listed in found { record(operation.name, listed.subject, by: context.caller, context.request) }
      if found.isEmpty { record(operation.name, by: context.caller, context.request) }
      return Self.json(
        AccountsReport(accounts: found.records().map(report), damaged: names(of: found.damagedRecords())))
    case .sessions(of: let named, let after, let limit):
      guard let subject = try await store.subjectOfAccount(named) else { throw AdminError.noAccount }
      let page = try await store.sessions(of: subject, after: after, limit: limit)
      record(operation.name, subject, by: context.caller, context.request)
      return Self.json(
        SessionsReport(
          sessions: page.sessions.records().map(SessionReport.init), next: page.next?.text,
          damaged: names(of: page.sessions.damagedRecords())))
    case .endSession(let handle):
      let ended = try await sessions.end(.one(handle), because: .byOperator)
      guard !ended.isEmpty else { throw AdminError.noSession }
      record(operation.name, session: handle, by: context.caller, context.request)
      audit.recordEnd(of: ended, because: .byOperator, requestID: context.request.requestID)
      return Self.json(EndedReport(ended: ended.count))
    case .endSessions(of: let named):
      // First, whether there is an account or not: the store may have lost what gateways have in their caches.
      var ended = try await endSessions(of: named, context.request)
      // Only now, so that a move meanwhile is followed, too.
      let latest = try await store.latestSubject(of: named)
      if let latest {
        ended += try await endSessions(of: latest, context.request)
      } else if ended == 0 {
        guard try await store.hasAccount(named) else { throw AdminError.noAccount }
      }
      record(operation.name, latest ?? named, by: context.caller, context.request)
      return Self.json(EndedReport(ended: ended))
    case .disconnect(let named, let evenUnrevoked):
      guard let subject = try await store.subjectOfAccount(named) else {
        // As above: the store may have lost the account, and with it sessions that gateways have in their caches.
        try await sessions.end(.all(of: named), because: .accountRemoved)
        throw AdminError.noAccount
      }
      let removal = AccountRemoval(
        sessions: sessions, store: store, apple: apple, keyring: keyring, denyGroups: denyGroups, metrics: metrics,
        audit: audit)
      let tokens = try await store.tokens(of: subject)
      let report = try await removal.remove(subject, revoking: tokens, evenUnrevoked: evenUnrevoked, context.request)
      record(
        operation.name, subject, by: context.caller, failed: report.forgotten ? nil : "not_revoked", context.request)
      return Self.json(report, status: report.forgotten ? .ok : .badGateway)
    case .migrate(let request):
      let migration = TeamMigration(
        store: store, storeHealth: storeHealth, sessions: sessions, apple: apple, keyring: keyring)
      let report = try await migration.run(request)
      record(operation.name, by: context.caller, failed: report.stopped == nil ? nil : "stopped", context.request)
      return Self.json(report)
    case .reload:
      let report = await reload(context.caller.text)
      record(operation.name, by: context.caller, failed: report.failure, context.request)
      return Self.json(report, status: report.reloaded ? .ok : .unprocessableContent)
    }
  }

  /// An account with its groups and its ban.
  private func report(_ account: Account) -> AccountReport {
    AccountReport(account, groups: accessChanges.policy.groupNames(of: account), at: accessChanges.now)
  }

  /// The names of the records of a list that are damaged, which is logged; nil if there are none.
  private func names(of damaged: [DamagedRecord]) -> [String?]? {
    if let first = damaged.first { storeHealth.failed("administration", first.error) }
    return damaged.names
  }

  /// Ends all sessions of a subject.
  /// - Returns: how many there were.
  private func endSessions(of subject: Subject, _ request: ControlRequest) async throws(StoreError) -> Int {
    let ended = try await sessions.end(.all(of: subject), because: .byOperator)
    audit.recordEnd(of: ended, because: .byOperator, subject: subject, requestID: request.requestID)
    return ended.count
  }

  // MARK: Audit

  /// Audits an operation.
  /// - Parameter failed: the code of the error; nil if it succeeded.
  func record(
    _ act: String, _ subject: Subject? = nil, session: PublicSessionID? = nil, by caller: AccessAuthor,
    failed: String? = nil, _ request: ControlRequest
  ) {
    audit.record(
      .administration(act: act, by: caller.text, failed: failed), subject: subject, session: session,
      peer: request.client.address, requestID: request.requestID)
  }

  private func refuse(_ request: ControlRequest) {
    metrics.administrationRefusals.count()
    guard let omitted = refusals.admit() else { return }
    audit.record(.administrationRefused(omitted: omitted), peer: request.client.address, requestID: request.requestID)
  }

  // MARK: Answers

  /// Reports an error of the store to its health.
  private func reportingStore(
    _ body: () async throws -> ControlResponse
  ) async throws(AdminError) -> ControlResponse {
    do {
      return try await body()
    } catch let refusal as AdminError {
      throw refusal
    } catch {
      if let error = error as? StoreError { storeHealth.failed("administration", error) }
      throw .store("\(error)")
    }
  }

  static func json(_ report: some Encodable, status: HTTPResponse.Status = .ok) -> ControlResponse {
    var response = ControlResponse.json(of: report, isForPeople: true)
    response.head.status = status
    return response
  }

  private static func response(_ refusal: AdminError) -> ControlResponse {
    var response = json(
      RefusalReport(error: refusal.code, message: refusal.message), status: .init(code: refusal.status))
    if let allowed = refusal.allowed {
      response.head.headerFields[.allow] = allowed.joined(separator: ", ")
    }
    if refusal.status == 401 { response.head.headerFields[.wwwAuthenticate] = "Bearer realm=\"cordon\"" }
    return response
  }
}
