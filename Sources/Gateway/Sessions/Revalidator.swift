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
/// `RevalidationCircuitBreaker` what follows from a result. This type puts them together.
final class Revalidator: Sendable {
  private let store: any RevalidationLeaseStore
  private let means: Mutex<Dependencies>
  private let metrics: MetricsRegistry
  private let health: HealthMonitor
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())
  /// The longest time that an overdue request waits.
  let longestWait: Duration

  /// The dependencies of a revalidation, by the configuration. A revalidation keeps those that it began with.
  struct Dependencies: Sendable {
    let apple: AppleIdentityProvider
    let keyring: SessionKeyring
    let audit: AuditTrail
    let interval: Duration
  }

  private struct State {
    var weather = RevalidationCircuitBreaker()
    var backoff = ReachabilityBackoff()
    var places = RevalidationSlots()
    var pace = RevalidationPace()
    var condition = AppleCondition()
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
    _ means: Dependencies, store: any RevalidationLeaseStore, metrics: MetricsRegistry, health: HealthMonitor,
    logger: Logger,
    longestWait: Duration = RevalidationSchedule.longestWait, clock: @escaping @Sendable () -> Date = { Date.now }
  ) {
    self.longestWait = longestWait
    self.clock = clock
    self.health = health
    self.means = Mutex(means)
    self.store = store
    self.metrics = metrics
    self.logger = logger
  }

  /// Uses other dependencies from now on. The state of Apple and of revalidations under way is kept.
  func apply(_ means: Dependencies) {
    self.means.withLock { $0 = means }
    // Apple may accept the other credentials.
    state.withLock { $0.condition.forgetRefusals() }
    reportHealth()
  }

  /// Takes a slot for a background revalidation; false if one of the account is under way, or too many are.
  func begin(_ subject: Subject) -> Bool { state.withLock { $0.places.begin(subject) } }

  /// Waits until a background revalidation may start: at once, or shortly after the one before.
  func waitForStart() async {
    let now = ContinuousClock.now
    let start = state.withLock { $0.pace.start(at: now) }
    if start > now { try? await Task.sleep(until: start, clock: .continuous) }
  }

  /// Takes a slot for a revalidation that a request waits for; waits for a slot if all are taken.
  func place(for subject: Subject, by deadline: ContinuousClock.Instant) async -> RevalidationSlots.Place {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    let (place, ticket) = state.withLock { $0.places.enter(subject, signal) }
    guard let ticket else { return place }
    _ = await Self.wait(for: stream, by: deadline)
    return state.withLock { $0.places.leave(ticket) }
  }

  /// Frees the slot of an account.
  func end(_ subject: Subject) {
    for signal in state.withLock({ $0.places.end(subject) }) { signal.finish() }
  }

  /// Waits until the revalidation of the account that is under way has ended.
  /// - Returns: whether it has, or none was under way.
  @discardableResult
  func waitForEnd(of subject: Subject, by deadline: ContinuousClock.Instant) async -> Bool {
    let (stream, signal) = AsyncStream<Never>.makeStream()
    guard state.withLock({ $0.places.wait(for: subject, signal) }) else { return true }
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
  func run(_ snapshot: SessionSnapshot) async -> Outcome {
    let (now, means) = (clock(), means.withLock { $0 })
    guard state.withLock({ $0.backoff.mayTry(at: now) }) else { return await noteAttempt(snapshot, means) }
    do throws(StoreError) {
      let claimed = try await store.acquireLease(
        of: snapshot.account.subject, preferring: snapshot.session.clientID, interval: means.interval, now: now)
      switch claimed {
      case .granted(let claim): return try await ask(claim, means)
      // Somebody asked meanwhile, here or on another replica: their result is in the store.
      case .notYet(let account): return Outcome(accountChanged: account != snapshot.account, account: account)
      // The store has recorded that no revalidation can succeed.
      case .nothingToAskWith: return Outcome(accountChanged: snapshot.account.failingSince(at: now) == nil)
      }
    } catch {
      return failed(error)
    }
  }

  /// Records a failed attempt without asking Apple, because it cannot be reached: otherwise a user would go on without
  /// a revalidation for as long as that lasts. Recorded once for an account.
  private func noteAttempt(_ snapshot: SessionSnapshot, _ means: Dependencies) async
    -> Outcome
  {
    let now = clock()
    guard snapshot.account.failingSince(at: now) == nil else { return Outcome() }
    do throws(StoreError) {
      let claimed = try await store.acquireLease(
        of: snapshot.account.subject, preferring: snapshot.session.clientID, interval: means.interval, now: now)
      if case .granted(let claim) = claimed { try await store.releaseLease(claim) }
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
    _ claim: RevalidationLease, _ means: Dependencies
  ) async throws(StoreError) -> Outcome {
    let token: RefreshToken
    do throws(SealError) {
      token = try means.keyring.open(claim.token, of: claim.subject, clientID: claim.clientID)
    } catch {
      logger.error(
        "refresh token cannot be decrypted, its key is not in session.secret_files",
        metadata: ["key": "\(claim.token.key)"])
      _ = try await store.record(.noGoodAnswer, of: claim, at: clock())
      return Outcome()
    }
    let answer = await means.apple.tokens.refresh(
      token, of: claim.subject.text, clientID: claim.clientID)
    let verdict = RevalidationResult(answer)
    let judgement = state.withLock { state in
      if verdict == .notSent { state.backoff.noteNotSent(at: clock()) } else { state.backoff.noteSent() }
      state.condition.note(AppleCondition.Contact(answer), clientID: claim.clientID)
      return state.weather.evaluate(verdict, at: clock())
    }
    reportHealth()
    metrics.checks.count(verdict.label)
    means.audit.record(.check(verdict: verdict.label), subject: claim.subject, clientID: claim.clientID)
    if let alarm = judgement.alarm { raise(alarm) }
    log(answer)
    switch judgement.action {
    case .releaseLease:
      try await store.releaseLease(claim)
      return Outcome(accountChanged: true)
    case .keep:
      let recorded = try await store.record(.noGoodAnswer, of: claim, at: clock())
      return Outcome(accountChanged: true, account: recorded.account)
    case .endSessions:
      let recorded = try await store.record(.revoked, of: claim, at: clock())
      for handle in recorded.ended {
        metrics.sessionsEnded.count(SessionEnding.revoked.label)
        means.audit.record(
          .sessionEnded(reason: SessionEnding.revoked.label), subject: claim.subject, session: handle,
          clientID: claim.clientID)
      }
      return Outcome(ended: recorded.ended, accountChanged: true)
    case .recordGood:
      guard case .goodStanding(let standing) = answer else { return Outcome() }
      let recorded = try await store.record(
        .good(
          claims: standing.identityToken.map { AccountClaims($0.claims) },
          token: replacement(for: token, standing.refreshToken, of: claim, means)),
        of: claim, at: clock())
      return Outcome(accountChanged: true, account: recorded.account)
    }
  }

  /// The new refresh token that Apple sent, encrypted; nil if it is the same.
  private func replacement(
    for old: RefreshToken, _ new: RefreshToken?, of claim: RevalidationLease, _ means: Dependencies
  ) -> EncryptedToken? {
    guard let new, new != old else { return nil }
    do throws(SealError) {
      return try means.keyring.seal(new, of: claim.subject, clientID: claim.clientID)
    } catch {
      logger.error("encrypting a refresh token from revalidation failed")
      return nil
    }
  }

  // MARK: Apple's condition

  /// Notes the outcome of a sign-in's code exchange: Apple refuses or accepts our credentials there as well.
  func note(_ outcome: ExchangeOutcome, clientID: String) {
    guard let contact = AppleCondition.Contact(outcome) else { return }
    let alarm = state.withLock { state -> RevalidationAlarm? in
      state.condition.note(contact, clientID: clientID)
      guard case .refused = contact else { return nil }
      return state.weather.credentialsRefused(at: clock())
    }
    if let alarm { raise(alarm) }
    reportHealth()
  }

  /// Reports the state of Apple to health.
  func reportHealth() {
    let report = state.withLock { $0.condition.report(allFailing: $0.weather.allFailing(at: clock())) }
    switch report {
    case .unknown: return
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

  /// Logs results that an operator should know of.
  private func log(_ answer: RefreshVerdict) {
    switch answer {
    case .goodStanding(let standing):
      guard let rejection = standing.rejection else { return }
      logger.warning(
        "identity token from revalidation is invalid, account remains valid",
        metadata: ["reason": "\(rejection.message)"])
    case .revoked: break
    case .misconfigured(let refusal):
      logger.error(
        "token revalidation failed: Apple rejects our credentials", metadata: ["remedy": "\(refusal.remedy)"])
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
      case .misconfigured(let refusal): .refused(code: refusal.code.rawValue, remedy: refusal.remedy)
      case .noSecret(let problem): .refused(code: "no client secret", remedy: problem.message)
      case .appleTrouble: .inconclusive
      case .notSent: .notSent
      }
  }

  /// The contact with Apple that a code exchange shows; nil if it shows nothing.
  init?(_ outcome: ExchangeOutcome) {
    switch outcome {
    case .granted, .refused, .disagreement: self = .accepted
    case .misconfigured(let refusal): self = .refused(code: refusal.code.rawValue, remedy: refusal.remedy)
    case .noSecret(let problem): self = .refused(code: "no client secret", remedy: problem.message)
    case .appleTrouble: self = .inconclusive
    case .notSent: self = .notSent
    case .unverified: return nil
    }
  }
}

extension RevalidationResult {
  /// The result of an answer of Apple's.
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
