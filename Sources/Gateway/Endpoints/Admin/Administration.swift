internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Secrets
internal import Sessions

/// The admin API: administers accounts and sessions, and reloads the configuration. Every operation is audited.
struct Administration: Sendable {
  let access: AdministrationAccess
  let sessions: SessionManager
  let store: any SessionRecordStore & AccountStore & EncryptedTokenStore & TeamTransferStore
  let apple: AppleIdentityProvider
  let keyring: SessionKeyring
  let metrics: MetricsRegistry
  let audit: AuditTrail
  /// Reloads the configuration; the argument is the credential of who asks, for the log.
  let reload: @Sendable (String) async -> ReloadReport
  /// The same for the life of the process.
  let refusals: RefusalAudit

  /// Authorizes and handles a request.
  func answer(_ request: ControlRequest) async -> ControlResponse {
    do throws(AdministrationError) {
      let right: String
      do throws(AdministrationError) {
        right = try access.judge(authorization: request.head.headerFields[values: .authorization])
      } catch {
        refuse(request)
        throw error
      }
      let act = try AdminOperation(method: request.head.method.rawValue, target: request.head.path ?? "")
      let deed = AdminRequestContext(request: request, right: right)
      do throws(AdministrationError) {
        return try await Self.storeTrouble(metrics) { () async throws in try await carryOut(act, deed) }
      } catch {
        record(act.name, act.subject, session: act.session, by: right, failed: error.code, request)
        throw error
      }
    } catch {
      return Self.response(error)
    }
  }

  /// The request of an operation, and the credential that authorized it.
  private struct AdminRequestContext {
    let request: ControlRequest
    let right: String
  }

  private func carryOut(_ act: AdminOperation, _ deed: AdminRequestContext) async throws -> ControlResponse {
    switch act {
    case .findSubject(let subject):
      let account = try await store.account(subject)
      record(act.name, subject, by: deed.right, deed.request)
      return Self.json(AccountsReport(accounts: [account].compactMap(\.self).map(AccountReport.init)))
    case .findEmail(let email):
      let accounts = try await store.accounts(withEmail: email)
      for account in accounts { record(act.name, account.subject, by: deed.right, deed.request) }
      if accounts.isEmpty { record(act.name, by: deed.right, deed.request) }
      return Self.json(AccountsReport(accounts: accounts.map(AccountReport.init)))
    case .sessions(of: let subject):
      try await requireAccount(subject)
      let found = try await store.sessions(of: subject)
      record(act.name, subject, by: deed.right, deed.request)
      return Self.json(SessionsReport(sessions: found.map(SessionReport.init)))
    case .endSession(let handle):
      let ended = try await sessions.end(.one(handle), because: .byOperator)
      guard !ended.isEmpty else { throw AdministrationError.noSession }
      record(act.name, session: handle, by: deed.right, deed.request)
      recordEnd(of: ended, nil, .byOperator, deed.request)
      return Self.json(EndedReport(ended: ended.count))
    case .endSessions(of: let subject):
      try await requireAccount(subject)
      let ended = try await sessions.end(.all(of: subject), because: .byOperator)
      record(act.name, subject, by: deed.right, deed.request)
      recordEnd(of: ended, subject, .byOperator, deed.request)
      return Self.json(EndedReport(ended: ended.count))
    case .disconnect(let subject, let evenUnrevoked):
      try await requireAccount(subject)
      record(act.name, subject, by: deed.right, deed.request)
      return try await disconnect(subject, evenUnrevoked: evenUnrevoked, deed.request)
    case .migrate(let order):
      record(act.name, by: deed.right, deed.request)
      let migration = TeamMigration(store: store, sessions: sessions, apple: apple, keyring: keyring)
      return Self.json(try await migration.run(order))
    case .reload:
      let report = await reload(deed.right)
      record(act.name, by: deed.right, failed: report.failure, deed.request)
      return Self.json(report, status: report.reloaded ? .ok : .unprocessableContent)
    }
  }

  private func requireAccount(_ subject: Subject) async throws {
    guard try await store.account(subject) != nil else { throw AdministrationError.noAccount }
  }

  // MARK: Disconnecting

  /// Revokes every token at Apple, each in the name of its own client, and then forgets the user. What could not be
  /// revoked keeps the account, so that it can be tried again: without the token nobody ever could.
  private func disconnect(
    _ subject: Subject, evenUnrevoked: Bool, _ request: ControlRequest
  ) async throws -> ControlResponse {
    var revocations: [DisconnectionReport.Revocation] = []
    for token in try await store.tokens(of: subject) {
      let revocation = await revoke(token)
      revocations.append(revocation)
      audit.record(
        .revocation(outcome: revocation.outcome), subject: subject, peer: request.client.address,
        requestID: request.requestID, clientID: token.clientID)
    }
    guard evenUnrevoked || revocations.allSatisfy(\.isRevoked) else {
      return Self.json(
        DisconnectionReport(forgotten: false, ended: 0, revocations: revocations), status: .badGateway)
    }
    var ended = try await sessions.end(.all(of: subject), because: .accountRemoved)
    // A sign-in between the two is forgotten as well.
    let late = try await store.forget(subject, at: Date(wallClock: WallClock.now()))
    await sessions.forget(late)
    await sessions.forget(subject)
    for _ in late { metrics.sessionsEnded.count(SessionEnding.accountRemoved.label) }
    ended += late
    recordEnd(of: ended, subject, .accountRemoved, request)
    return Self.json(DisconnectionReport(forgotten: true, ended: ended.count, revocations: revocations))
  }

  private func revoke(_ stored: StoredToken) async -> DisconnectionReport.Revocation {
    func report(_ outcome: String, _ message: String? = nil) -> DisconnectionReport.Revocation {
      DisconnectionReport.Revocation(clientID: stored.clientID, outcome: outcome, message: message)
    }
    let token: RefreshToken
    do throws(SealError) {
      token = try keyring.open(stored.token, of: stored.subject, clientID: stored.clientID)
    } catch {
      return report("unreadable", "the secret that sealed the token is not in session.secret_files: put it back")
    }
    switch await apple.revocation.revoke(token, clientID: stored.clientID) {
    case .revoked: return report("revoked")
    case .refused(let refusal): return report("refused", "\(refusal.message): \(refusal.remedy)")
    case .appleTrouble(let trouble): return report("apple_trouble", "\(trouble.message): try again")
    case .notSent(let reason): return report("not_sent", "Apple could not be reached (\(reason)): try again")
    case .noSecret(let problem): return report("no_secret", problem.message)
    }
  }

  // MARK: Writing down

  private func record(
    _ act: String, _ subject: Subject? = nil, session: PublicSessionID? = nil, by right: String, failed: String? = nil,
    _ request: ControlRequest
  ) {
    audit.record(
      .administration(act: act, by: right, failed: failed), subject: subject, session: session,
      peer: request.client.address, requestID: request.requestID)
  }

  private func refuse(_ request: ControlRequest) {
    metrics.administrationRefusals.count()
    guard let omitted = refusals.refused(at: WallClock.now()) else { return }
    audit.record(.administrationRefused(omitted: omitted), peer: request.client.address, requestID: request.requestID)
  }

  private func recordEnd(
    of handles: [PublicSessionID], _ subject: Subject?, _ reason: SessionEnding, _ request: ControlRequest
  ) {
    for handle in handles {
      audit.record(
        .sessionEnded(reason: reason.label), subject: subject, session: handle, requestID: request.requestID)
    }
  }

  // MARK: Answers

  private static func storeTrouble(
    _ metrics: MetricsRegistry, _ body: () async throws -> ControlResponse
  ) async throws(AdministrationError) -> ControlResponse {
    do {
      return try await body()
    } catch let refusal as AdministrationError {
      throw refusal
    } catch {
      metrics.storeFailures.count("administration")
      throw .store("\(error)")
    }
  }

  private static func json(_ report: some Encodable, status: HTTPResponse.Status = .ok) -> ControlResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    // Encoding plain values into memory does not fail; were it to, the answer is an empty object, not a crash.
    var response = ControlResponse.json((try? encoder.encode(report)).map { Array($0) + [0x0A] } ?? Array("{}".utf8))
    response.head.status = status
    return response
  }

  private static func response(_ refusal: AdministrationError) -> ControlResponse {
    var response = json(
      RefusalReport(error: refusal.code, message: refusal.message), status: .init(code: refusal.status))
    if refusal == .noToken { response.head.headerFields[.wwwAuthenticate] = "Bearer realm=\"cordon\"" }
    return response
  }
}
