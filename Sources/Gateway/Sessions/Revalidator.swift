internal import AppleIdentity
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Secrets
internal import Sessions
internal import Synchronization

/// Revalidates accounts: asks Apple about an account when it is due, and applies the result.
///
/// `RevalidationSchedule` decides when an account is due, the store (`acquireLease`) whether Apple may be asked, and
/// `RevalidationCircuitBreaker` what follows from a result. This type combines them.
final class Revalidator: Sendable {
  private let store: any RevalidationLeaseStore
  private let current: Mutex<Current>
  private let metrics: MetricsRegistry
  private let health: HealthMonitor
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())
  /// The longest time that an overdue request waits.
  let longestWait: Duration

  /// The dependencies of a revalidation that a reload replaces. A revalidation keeps those that it began with.
  struct Dependencies: Sendable {
    let apple: AppleIdentityProvider
    let keyring: SessionKeyring
    let audit: AuditTrail
    let interval: Duration
  }

  /// The dependencies, and the state of Apple for their credentials.
  private struct Current {
    var dependencies: Dependencies
    var apple = AppleState()
  }

  /// The results of recent calls with one set of credentials. A revalidation keeps the state that it began with: after
  /// a reload with other credentials its result no longer counts.
  private final class AppleState: Sendable {
    private let values = Mutex(Values())

    struct Values {
      var circuitBreaker = RevalidationCircuitBreaker()
      var backoff = ReachabilityBackoff()
      var condition = AppleCondition()
    }

    func withLock<Result>(_ body: (inout Values) -> Result) -> Result { values.withLock { body(&$0) } }
  }

  private struct State {
    var slots = RevalidationSlots()
    var pace = RevalidationPace()
    var ownLeases = OwnLeases()
    var hourly = HourlyLimit()
    var graceEnds = RecentSessions()
  }

  /// The effect of a revalidation on the caches.
  struct Outcome {
    var ended: [PublicSessionID] = []
    var accountChanged = false
    /// The account as the store has it since; nil if that is not known.
    var account: Account?
  }

  /// - Parameter health: receives the state of Apple as the check `apple`, for information.
  init(
    _ dependencies: Dependencies, store: any RevalidationLeaseStore, metrics: MetricsRegistry, health: HealthMonitor,
    logger: Logger,
    longestWait: Duration = RevalidationSchedule.longestWait, clock: @escaping @Sendable () -> Date = { Date.now }
  ) {
    self.longestWait = longestWait
    self.clock = clock
    self.health = health
    current = Mutex(Current(dependencies: dependencies))
    self.store = store
    self.metrics = metrics
    self.logger = logger
  }

  /// Uses other dependencies from now on. Revalidations under way go on. The state of Apple is kept unless the
  /// credentials have changed: Apple's answers to other credentials must not hold revocations back, nor pause calls.
  func apply(_ dependencies: Dependencies) {
    current.withLock { current in
      let isSame = dependencies.apple.hasSameCredentials(as: current.dependencies.apple)
      current = Current(dependencies: dependencies, apple: isSame ? current.apple : AppleState())
    }
    state.withLock { $0.hourly.reset() }
    reportHealth()
  }

  /// Takes a slot for a background revalidation; false if one of the account is under way, or too many are.
  func begin(_ subject: Subject) -> Bool { state.withLock { $0.slots.begin(subject) } }

  /// Waits until a background revalidation may start: at once, or shortly after the one before.
  func waitForStart() async {
    let now = ContinuousClock.now
    let start = state.withLock { $0.pace.start(at: now) }
    if start > now { try? await Task.sleep(until: start, clock: .continuous) }
  }

  /// Takes a slot for a revalidation that a request waits for; if all are taken, waits for one until the deadline.
  func acquireSlot(for subject: Subject, by deadline: ContinuousClock.Instant) async -> RevalidationSlots.SlotResult {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let (slot, ticket) = state.withLock { $0.slots.acquire(subject, signal) }
    guard let ticket else { return slot }
    _ = await Self.wait(for: stream, by: deadline)
    return state.withLock { $0.slots.collect(ticket) }
  }

  /// Frees the slot of an account.
  func end(_ subject: Subject) {
    for signal in state.withLock({ $0.slots.end(subject) }) { signal.finish() }
  }

  /// Waits until the revalidation of the account that is under way has ended.
  /// - Returns: whether it has, or none was under way.
  @discardableResult
  func waitForEnd(of subject: Subject, by deadline: ContinuousClock.Instant) async -> Bool {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    guard state.withLock({ $0.slots.wait(for: subject, signal) }) else { return true }
    return await Self.wait(for: stream, by: deadline)
  }

  /// - Returns: whether the signal came before the deadline.
  private static func wait(for signal: AsyncStream<Never>, by deadline: ContinuousClock.Instant) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in signal {}
        return !Task.isCancelled
      }
      group.addTask {
        try? await Task.sleep(until: deadline, clock: .continuous)
        return false
      }
      let isFirst = await group.next() ?? false
      group.cancelAll()
      return isFirst
    }
  }

  /// Revalidates one account, unless that was done within the interval.
  /// - Parameter deadline: for the result of another process that is asking Apple; nil to not wait for it.
  func run(_ snapshot: SessionSnapshot, waitingUntil deadline: ContinuousClock.Instant? = nil) async -> Outcome {
    let current = current.withLock { $0 }
    let dependencies = current.dependencies
    guard current.apple.withLock({ $0.backoff.mayTry(at: clock()) }) else {
      return await recordFailedAttempt(snapshot, dependencies)
    }
    var hasWaited = false
    do throws(StoreError) {
      while true {
        let now = clock()
        let outcome = try await store.acquireLease(
          of: snapshot.account.subject, preferring: snapshot.session.clientID, interval: dependencies.interval,
          now: now)
        switch outcome {
        case .granted(let lease):
          state.withLock { state in
            state.slots.setWaitsElsewhere(lease.subject, false)
            state.ownLeases.note(lease.claimedAt, of: lease.subject, at: now)
          }
          // The other process could not reach Apple, and meanwhile neither could this one: those that waited must not
          // all try.
          if hasWaited, !current.apple.withLock({ $0.backoff.mayTry(at: now) }) {
            try await store.releaseLease(lease)
            return Outcome(accountChanged: true)
          }
          return try await ask(lease, of: snapshot, current)
        // Another loop or replica asked meanwhile: its result is in the store, or will be.
        case .notYet(let account):
          guard let deadline, ContinuousClock.now < deadline, isAsking(account, now) else {
            return Outcome(accountChanged: account != snapshot.account, account: account)
          }
          hasWaited = true
          state.withLock { $0.slots.setWaitsElsewhere(account.subject, true) }
          try? await Task.sleep(for: Self.pollInterval)
        // The store has recorded that no revalidation can succeed. Or another process was told that the token is
        // revoked, and has ended the sessions: a request that waits must not be admitted from the cache.
        case .nothingToAskWith:
          return Outcome(accountChanged: deadline != nil || snapshot.account.failingSince(at: now) == nil)
        }
      }
    } catch {
      return failed(error)
    }
  }

  /// The interval at which the result of another process is looked for in the store.
  private static let pollInterval = Duration.milliseconds(250)

  /// Whether another process may still be waiting for Apple's answer about the account. Leases of this process are not
  /// waited for: an account has one revalidation at a time here.
  private func isAsking(_ account: Account, _ now: Date) -> Bool {
    account.isLeaseYoung(at: now) && !state.withLock { $0.ownLeases.contains(account) }
  }

  /// Records a failed attempt without asking Apple, because it cannot be reached: otherwise the grace period of a user
  /// would not begin while that lasts. Recorded once for an account.
  private func recordFailedAttempt(_ snapshot: SessionSnapshot, _ dependencies: Dependencies) async
    -> Outcome
  {
    let now = clock()
    guard snapshot.account.failingSince(at: now) == nil else { return Outcome() }
    do throws(StoreError) {
      let outcome = try await store.acquireLease(
        of: snapshot.account.subject, preferring: snapshot.session.clientID, interval: dependencies.interval, now: now)
      if case .granted(let lease) = outcome { try await store.releaseLease(lease) }
      return Outcome(accountChanged: true)
    } catch {
      return failed(error)
    }
  }

  private func failed(_ error: StoreError) -> Outcome {
    metrics.storeFailures.count("check")
    logger.warning("storing a revalidation result failed", metadata: ["error": "\(error)"])
    return Outcome()
  }

  private func ask(
    _ lease: RevalidationLease, of snapshot: SessionSnapshot, _ current: Current
  ) async throws(StoreError) -> Outcome {
    let dependencies = current.dependencies
    let token: RefreshToken
    do throws(SealError) {
      token = try dependencies.keyring.open(lease.token, of: lease.subject, clientID: lease.clientID)
    } catch {
      switch error {
      case .unknownKey(let key): return try await keyIsMissing(key, lease, of: snapshot)
      case .refused, .expired, .failed: return try await tokenIsDamaged(lease, dependencies)
      }
    }
    let answer = await dependencies.apple.tokens.refresh(
      token, of: lease.subject.text, clientID: lease.clientID)
    let result = RevalidationResult(answer)
    let decision = current.apple.withLock { apple in
      if result == .notSent { apple.backoff.noteNotSent(at: clock()) } else { apple.backoff.noteSent() }
      apple.condition.note(AppleCondition.Contact(answer), clientID: lease.clientID, at: clock())
      return apple.circuitBreaker.evaluate(result, at: clock())
    }
    metrics.checks.count(result.label)
    dependencies.audit.record(.check(verdict: result.label), subject: lease.subject, clientID: lease.clientID)
    if isInUse(current.apple) {
      reportHealth()
      if let alarm = decision.alarm { raise(alarm) }
      log(answer, clientID: lease.clientID)
    }
    switch decision.action {
    case .releaseLease:
      try await store.releaseLease(lease)
      return Outcome(accountChanged: true)
    case .keep:
      let recorded = try await store.record(.noGoodAnswer, of: lease, at: clock())
      return Outcome(accountChanged: true, account: recorded.account)
    case .endSessions:
      let recorded = try await store.record(.revoked, of: lease, at: clock())
      for handle in recorded.ended {
        metrics.sessionsEnded.count(SessionEnding.revoked.label)
        dependencies.audit.record(
          .sessionEnded(reason: SessionEnding.revoked.label), subject: lease.subject, session: handle,
          clientID: lease.clientID)
      }
      return Outcome(ended: recorded.ended, accountChanged: true)
    case .recordGood:
      guard case .goodStanding(let standing) = answer else { return Outcome() }
      let recorded = try await store.record(
        .good(
          claims: standing.identityToken.map { AccountClaims($0.claims) },
          token: replacement(for: token, standing.refreshToken, of: lease, dependencies)),
        of: lease, at: clock())
      return Outcome(accountChanged: true, account: recorded.account)
    }
  }

  private func keyIsMissing(
    _ key: KeyIdentifier, _ lease: RevalidationLease, of snapshot: SessionSnapshot
  ) async throws(StoreError) -> Outcome {
    metrics.checks.count("no_key")
    if isDue("key \(key)") {
      logger.error(
        "refresh token cannot be decrypted, its key is not in session.secret_files",
        metadata: [
          "key": "\(key)",
          "remedy": "list the same secrets in session.secret_files of every gateway with this store, and reload",
        ])
    }
    // Apple was not asked: a replica that has the key may still ask today. Only the first failure changes the
    // account: otherwise each request would have it looked up and revalidated again.
    try await store.releaseLease(lease)
    return Outcome(accountChanged: snapshot.account.failingSince(at: clock()) == nil)
  }

  /// Records an attempt without a good answer: no replica can decrypt the token, so that only another sign-in helps.
  private func tokenIsDamaged(
    _ lease: RevalidationLease, _ dependencies: Dependencies
  ) async throws(StoreError) -> Outcome {
    metrics.checks.count("damaged")
    dependencies.audit.record(.check(verdict: "damaged"), subject: lease.subject, clientID: lease.clientID)
    if isDue("damaged") {
      logger.error(
        "refresh token in the store is damaged, the user has to sign in again after revalidation.grace",
        metadata: [
          "client": "\(lease.clientID)",
          "remedy": "if it is not the only one (cordon_checks_total), check the store's disk and restore a backup",
        ])
    }
    let recorded = try await store.record(.noGoodAnswer, of: lease, at: clock())
    return Outcome(accountChanged: true, account: recorded.account)
  }

  /// The new refresh token that Apple sent, encrypted; nil if it is the same.
  private func replacement(
    for old: RefreshToken, _ new: RefreshToken?, of lease: RevalidationLease, _ dependencies: Dependencies
  ) -> EncryptedToken? {
    guard let new, new != old else { return nil }
    do throws(SealError) {
      return try dependencies.keyring.seal(new, of: lease.subject, clientID: lease.clientID)
    } catch {
      logger.error("encrypting a refresh token from revalidation failed")
      return nil
    }
  }

  // MARK: The end of the grace period

  /// Records that a session is refused because its account was not confirmed within the grace period: once an hour for
  /// each session, whichever loop refuses it. The session itself stays in the store, for Apple may confirm the account.
  func noteGraceEnd(of session: Session) {
    let now = clock()
    guard state.withLock({ $0.graceEnds.insert(session.handle, at: now) }) else { return }
    metrics.sessionsEnded.count("grace_over")
    current.withLock { $0.dependencies.audit }.record(
      .sessionEnded(reason: "grace_over"), subject: session.subject, session: session.handle,
      clientID: session.clientID)
    guard isDue("grace_over") else { return }
    logger.warning(
      "revalidation.grace is over, refusing sessions until Apple confirms the account or the user signs in again",
      metadata: [
        "remedy": "see the check apple of /healthz and earlier messages about token revalidation for the reason"
      ])
  }

  // MARK: State of Apple

  /// Whether a reload has not replaced the credentials since.
  private func isInUse(_ apple: AppleState) -> Bool { current.withLock { $0.apple === apple } }

  /// Notes the outcome of a sign-in's code exchange: Apple refuses or accepts our credentials there as well.
  /// - Parameter provider: made the call. If a reload has replaced its credentials since, the outcome does not count.
  func note(_ outcome: ExchangeOutcome, clientID: String, by provider: AppleIdentityProvider) {
    let current = current.withLock { $0 }
    guard let contact = AppleCondition.Contact(outcome), provider.hasSameCredentials(as: current.dependencies.apple)
    else { return }
    let alarm = current.apple.withLock { apple -> RevalidationAlarm? in
      apple.condition.note(contact, clientID: clientID, at: clock())
      guard case .refused = contact else { return nil }
      return apple.circuitBreaker.credentialsRefused(at: clock())
    }
    if let alarm { raise(alarm) }
    reportHealth()
  }

  /// Fetches Apple's public keys if Apple could not be reached and nothing has called it for a minute: otherwise the
  /// end of an outage would be noticed at the next sign-in or revalidation, which may be hours away.
  func probe() async {
    let current = current.withLock { $0 }
    guard current.apple.withLock({ $0.condition.beginProbe(at: clock()) }) else { return }
    do throws(AppleKeySetError) { try await current.dependencies.apple.keySet.fetchNow() } catch { return }
    current.apple.withLock { $0.condition.noteReachable() }
    reportHealth()
  }

  /// Reports the state of Apple to health.
  func reportHealth() {
    let apple = current.withLock { $0.apple }
    let report = apple.withLock { $0.condition.report($0.circuitBreaker.hold(at: clock()), at: clock()) }
    switch report {
    case .outdated(let message): health.update(Self.checkName, .unknown, message: message, at: .now())
    case .unknown: health.update(Self.checkName, .unknown, at: .now())
    case .ok: health.update(Self.checkName, .ok, at: .now())
    case .failing(let message): health.update(Self.checkName, .failing, message: message, at: .now())
    }
  }

  /// The name of the check on `/healthz`.
  static let checkName = "apple"

  private func raise(_ alarm: RevalidationAlarm) {
    let count: Logger.Metadata = alarm.checks.map { ["checks": "\($0)"] } ?? [:]
    logger.critical("\(alarm.message)", metadata: count.merging(["remedy": "\(alarm.remedy)"]) { own, _ in own })
  }

  /// Whether a line with this key may be logged now: once an hour.
  private func isDue(_ key: String) -> Bool { state.withLock { $0.hourly.isDue(key, at: clock()) } }

  /// Logs results that an operator should know about.
  private func log(_ answer: RefreshVerdict, clientID: String) {
    switch answer {
    case .goodStanding(let standing):
      guard let rejection = standing.rejection else { return }
      guard !rejection.isAppleTrouble else {
        return logger.warning(
          "identity token from revalidation not verified: Apple's keys are unavailable, account remains valid",
          metadata: ["reason": "\(rejection.message)"])
      }
      logger.warning(
        "identity token from revalidation is invalid, account remains valid",
        metadata: ["reason": "\(rejection.message)"])
    case .revoked: break
    case .misconfigured(let refusal):
      // Once for all users: each of their revalidations fails for the same reason.
      guard isDue("\(refusal.code.rawValue) \(clientID)") else { return }
      logger.error(
        "token revalidation failed: Apple rejects our credentials",
        metadata: [
          "client": "\(clientID)", "error": "\(refusal.code.rawValue)", "reason": "\(refusal.message)",
          "remedy": "\(refusal.refreshRemedy)",
        ])
    case .appleTrouble(let trouble):
      logger.warning("token revalidation failed: error response from Apple", metadata: ["reason": "\(trouble.message)"])
    case .notSent(let reason):
      logger.warning("token revalidation failed: Apple is unreachable", metadata: ["reason": "\(reason)"])
    case .noSecret(let problem):
      logger.error("token revalidation failed: no client secret", metadata: ["reason": "\(problem.message)"])
    }
  }
}

extension AppleCondition.Contact {
  /// The contact with Apple that a result shows.
  init(_ answer: RefreshVerdict) {
    self =
      switch answer {
      case .goodStanding, .revoked: .accepted
      case .misconfigured(let refusal): .refused(code: refusal.code.rawValue, remedy: refusal.refreshRemedy)
      case .noSecret(let problem): .refused(code: "no client secret", remedy: problem.message)
      case .appleTrouble(let error): .inconclusive(reason: error.message)
      case .notSent: .notSent
      }
  }

  /// The contact with Apple that a code exchange shows; nil if it shows nothing.
  init?(_ outcome: ExchangeOutcome) {
    switch outcome {
    case .granted, .refused, .disagreement: self = .accepted
    case .misconfigured(let refusal): self = .refused(code: refusal.code.rawValue, remedy: refusal.remedy)
    case .noSecret(let problem): self = .refused(code: "no client secret", remedy: problem.message)
    case .appleTrouble(let error): self = .inconclusive(reason: error.message)
    case .notSent: self = .notSent
    case .unverified: return nil
    }
  }
}

extension RevalidationResult {
  /// The result of an answer from Apple.
  init(_ answer: RefreshVerdict) {
    self =
      switch answer {
      case .goodStanding: .good
      case .revoked: .revoked
      case .misconfigured, .noSecret: .misconfigured
      case .appleTrouble: .appleTrouble
      case .notSent: .notSent
      }
  }

  /// The name in metrics and in the audit.
  var label: String {
    switch self {
    case .good: "good"
    case .revoked: "revoked"
    case .misconfigured: "misconfigured"
    case .appleTrouble: "unavailable"
    case .notSent: "not_sent"
    }
  }
}
