internal import AppleIdentity
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Secrets
internal import Sessions
internal import Synchronization

/// Revalidates accounts: asks Apple about an account when it is due, and applies the result.
///
/// `RevalidationSchedule` decides when an account is due, ``RevalidationQueue`` when it is its turn, the store
/// (`acquireLease`) whether Apple may be asked, and ``AppleCallHistory`` what follows from an answer. This type
/// combines them.
final class Revalidator: Sendable {
  private let store: any RevalidationLeaseStore & AccountStore & EncryptedTokenStore
  private let storeHealth: StoreHealth
  private let metrics: MetricsRegistry
  private let log: RevalidationLog
  private let clock: @Sendable () -> Date
  private let state = Mutex(State())
  /// Has the dependencies in use, and what calls to Apple with their credentials have shown.
  let apple: AppleMonitor
  /// Records the results.
  let recorder: RevalidationRecorder
  /// Admits revalidations: a caller of ``run(_:isNeeded:waitingUntil:)`` has a slot.
  let queue = RevalidationQueue()
  /// The longest time that an overdue request waits.
  let longestWait: Duration

  /// The dependencies of a revalidation that a reload replaces. A revalidation keeps those that it began with.
  struct Dependencies: Sendable {
    let apple: AppleIdentityProvider
    let keyring: SessionKeyring
    let audit: AuditTrail
    let interval: Duration
  }

  private struct State {
    var ownLeases = OwnLeases()
    var graceEnds = HourlySessions()
  }

  /// The effect of a revalidation on the caches.
  struct Outcome {
    var ended: [PublicSessionID] = []
    var accountChanged = false
    /// The account as the store has it since; nil if that is not known.
    var account: Account?
    /// A revocation that the store has not recorded: the cached sessions that it concerns end already.
    var unrecordedRevocation: UnrecordedResult?
  }

  /// - Parameters:
  ///   - unrecorded: keeps the results that the store does not take.
  ///   - health: receives the state of Apple as the check `apple`, for information.
  init(
    _ dependencies: Dependencies, store: any RevalidationLeaseStore & AccountStore & EncryptedTokenStore,
    storeHealth: StoreHealth, unrecorded: UnrecordedResults, metrics: MetricsRegistry, health: HealthMonitor,
    logger: Logger,
    longestWait: Duration = RevalidationSchedule.longestWait, clock: @escaping @Sendable () -> Date = { Date.now }
  ) {
    self.longestWait = longestWait
    self.clock = clock
    self.store = store
    self.storeHealth = storeHealth
    self.metrics = metrics
    log = RevalidationLog(logger, clock: clock)
    apple = AppleMonitor(dependencies, health: health, log: log, clock: clock)
    recorder = RevalidationRecorder(
      store: store, storeHealth: storeHealth, unrecorded: unrecorded, metrics: metrics, logger: logger, clock: clock)
  }

  /// Uses other dependencies from now on. Revalidations under way go on.
  func apply(_ dependencies: Dependencies) { apple.apply(dependencies) }

  /// Revalidates one account, unless that was done within the interval.
  /// - Parameters:
  ///   - isNeeded: whether the user is not admitted without the result, though nobody waits for it.
  ///   - deadline: for the result of another process that is asking Apple; nil to not wait for it.
  func run(
    _ snapshot: SessionSnapshot, isNeeded: Bool = false, waitingUntil deadline: ContinuousClock.Instant? = nil
  ) async -> Outcome {
    let current = apple.current
    guard var attempt = await allowedAttempt(for: snapshot, current.history) else {
      return await recordFailedAttempt(snapshot, isNeeded: isNeeded || deadline != nil, current.dependencies)
    }
    // Without effect once Apple was asked.
    defer { current.history.noteNotCalled(for: attempt.clientID, since: attempt.allowedAt) }
    do throws(StoreError) {
      while true {
        let now = clock()
        let outcome = try await store.acquireLease(
          of: snapshot.account.subject, preferring: attempt.clientID, interval: current.dependencies.interval, now: now)
        switch outcome {
        case .granted(let lease):
          if let outcome = try await use(lease, of: snapshot, in: &attempt, current, at: now) { return outcome }
        // Another loop or replica asked meanwhile: its result is in the store, or will be.
        case .notYet(let account):
          guard let deadline, ContinuousClock.now < deadline, isAsking(account, now) else {
            return Outcome(accountChanged: account != snapshot.account, account: account)
          }
          attempt.hasWaited = true
          current.history.noteNotCalled(for: attempt.clientID, since: attempt.allowedAt)
          queue.note(account.subject, waitsElsewhere: true)
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

  /// The course of one revalidation.
  private struct Attempt {
    /// The client that Apple may be called for.
    var clientID: String
    /// The client to call for if Apple refuses the credentials of the first; nil for none.
    var otherClientID: String?
    /// The moment at which the history has allowed the call.
    var allowedAt: Date
    /// Whether the result of another process was waited for. Then the call has to be allowed again.
    var hasWaited = false
    /// Whether a lease was released because the store was slow to grant it.
    var wasLate = false
  }

  /// The attempt for the first client of the account that Apple may be called for; nil if for no client.
  private func allowedAttempt(for snapshot: SessionSnapshot, _ history: AppleCallHistory) async -> Attempt? {
    let (first, other) = await clients(for: snapshot, history)
    let now = clock()
    if history.mayCall(for: first, at: now) {
      return Attempt(clientID: first, otherClientID: other, allowedAt: now)
    }
    guard let other, history.mayCall(for: other, at: now) else { return nil }
    return Attempt(clientID: other, otherClientID: nil, allowedAt: now)
  }

  /// Asks Apple by a lease that was granted, or releases it if it is late, or the call is no longer allowed.
  /// - Returns: nil if another lease is to be acquired.
  private func use(
    _ lease: RevalidationLease, of snapshot: SessionSnapshot, in attempt: inout Attempt,
    _ current: AppleMonitor.Current, at now: Date
  ) async throws(StoreError) -> Outcome? {
    let (dependencies, history) = (current.dependencies, current.history)
    queue.note(lease.subject, waitsElsewhere: false)
    state.withLock { $0.ownLeases.note(lease.acquiredAt, of: lease.subject, at: now) }
    // The store was slow, as behind another process's lock: the next lease would come as much sooner than the interval
    // after the request to Apple. Once only: a store may always be slow.
    if !attempt.wasLate, clock().timeIntervalSince(lease.acquiredAt) > Self.longestLeaseDelay {
      attempt.wasLate = true
      _ = await release(lease, dependencies)
      return nil
    }
    // The account has another client's token only, and it is that client whose credentials count.
    let isOther = !lease.clientID.utf8.elementsEqual(attempt.clientID.utf8)
    if isOther, !attempt.hasWaited { history.noteNotCalled(for: attempt.clientID, since: attempt.allowedAt) }
    // Or the other process could not reach Apple, and meanwhile neither could this one: those that waited must not all
    // try.
    if isOther || attempt.hasWaited {
      (attempt.clientID, attempt.allowedAt) = (lease.clientID, now)
      guard history.mayCall(for: attempt.clientID, at: now) else { return await release(lease, dependencies) }
    }
    if let outcome = try await ask(lease, of: snapshot, current, hasOther: attempt.otherClientID != nil) {
      return outcome
    }
    // Apple refuses this client as before, or no client secret can be made: the account is asked about with the token
    // of the other one.
    let released = await release(lease, dependencies)
    // Without a secret Apple was not called, and the turn would go on for nobody.
    history.noteNotCalled(for: attempt.clientID, since: attempt.allowedAt)
    attempt.allowedAt = clock()
    guard let next = attempt.otherClientID, history.mayCall(for: next, at: attempt.allowedAt) else { return released }
    (attempt.clientID, attempt.otherClientID, attempt.hasWaited) = (next, nil, false)
    return nil
  }

  /// The age of a lease, in seconds, above which another one is acquired before Apple is asked.
  private static let longestLeaseDelay: TimeInterval = 1
  /// The interval at which the result of another process is looked for in the store.
  private static let pollInterval = Duration.milliseconds(250)

  /// The client to call Apple for: that of the session. While Apple refuses the credentials of some client, one that it
  /// does not refuse and whose token the account has: neither does a refusal of one client keep accounts from being
  /// confirmed that have another one's token, nor is a token of the refused client used for sessions of another.
  ///
  /// A refused client of the session comes first: the attempt after each of its pauses shows whether Apple accepts it
  /// again, and perhaps no account has its token alone. The other one is for when it may not be called, or is refused.
  private func clients(
    for snapshot: SessionSnapshot, _ history: AppleCallHistory
  ) async -> (first: String, other: String?) {
    let own = snapshot.session.clientID
    guard history.refuses(nil), let tokens = try? await store.tokens(of: snapshot.account.subject) else {
      return (own, nil)
    }
    let clients = tokens.map(\.clientID)
    let isOwnUsed = clients.contains { $0.utf8.elementsEqual(own.utf8) }
    if isOwnUsed, !history.refuses(own) { return (own, nil) }
    let accepted = clients.first { !history.refuses($0) }
    return isOwnUsed ? (own, accepted) : (accepted ?? clients.first ?? own, nil)
  }

  /// Whether another process may still be waiting for Apple's answer about the account. Leases of this process are not
  /// waited for: an account has one revalidation at a time here.
  private func isAsking(_ account: Account, _ now: Date) -> Bool {
    account.isLeaseYoung(at: now) && !state.withLock { $0.ownLeases.contains(account) }
  }

  /// Records a failed attempt without asking Apple, because it cannot be reached, gives no answer of use or refuses our
  /// credentials: otherwise the grace period of a user would not begin while that lasts. Recorded once for an account,
  /// whose lease is free for another process, and for this one as soon as Apple gives answers again.
  /// - Parameter isNeeded: whether the user is not admitted if the grace period is over: another process, whose calls
  ///   to Apple succeed, may have confirmed the account since.
  private func recordFailedAttempt(
    _ snapshot: SessionSnapshot, isNeeded: Bool, _ dependencies: Dependencies
  ) async -> Outcome {
    let now = clock()
    let subject = snapshot.account.subject
    do throws(StoreError) {
      guard snapshot.account.failingSince(at: now) == nil else {
        guard isNeeded else { return Outcome() }
        let account = try await store.account(subject)
        return Outcome(accountChanged: account != snapshot.account, account: account)
      }
      let outcome = try await store.acquireLease(
        of: subject, preferring: snapshot.session.clientID, interval: dependencies.interval, now: now)
      if case .granted(let lease) = outcome { return await release(lease, dependencies) }
      return Outcome(accountChanged: true)
    } catch {
      return failed(error)
    }
  }

  private func failed(_ error: StoreError) -> Outcome {
    storeHealth.failed("check", error)
    return Outcome()
  }

  /// Asks Apple, and records the answer.
  /// - Parameter hasOther: whether the account has a token of another client, for the case that Apple refuses this one.
  /// - Returns: nil in that case: nothing is recorded.
  private func ask(
    _ lease: RevalidationLease, of snapshot: SessionSnapshot, _ current: AppleMonitor.Current, hasOther: Bool
  ) async throws(StoreError) -> Outcome? {
    let dependencies = current.dependencies
    let token: RefreshToken
    do throws(SealError) {
      token = try dependencies.keyring.open(lease.token, of: lease.subject, clientID: lease.clientID)
    } catch {
      switch error {
      case .unknownKey(let key): return await keyIsMissing(key, lease, of: snapshot, dependencies)
      case .refused, .expired, .failed: return try await tokenIsDamaged(lease, dependencies)
      }
    }
    let began = clock()
    let answer = await dependencies.apple.tokens.refresh(
      token, of: lease.subject.text, clientID: lease.clientID)
    let answeredAt = clock()
    let decision = current.history.note(answer, clientID: lease.clientID, began: began, at: answeredAt)
    let result = RevalidationResult(answer)
    let verdict = result.label
    metrics.checks.count(verdict)
    apple.report(answer, decision.alarm, clientID: lease.clientID, in: current.history)
    switch decision.action {
    case .releaseLease:
      dependencies.audit.record(.check(verdict: verdict), subject: lease.subject, clientID: lease.clientID)
      return await release(lease, dependencies)
    case .keep:
      dependencies.audit.record(.check(verdict: verdict), subject: lease.subject, clientID: lease.clientID)
      if hasOther, result == .misconfigured { return nil }
      // If it cannot be recorded, nothing is lost: the attempt counts as failed since its lease.
      let recorded = try await store.record(.noGoodAnswer, of: lease, at: clock())
      return Outcome(accountChanged: true, account: recorded.account)
    case .endSessions:
      // The circuit breaker has decided by now: a later hold does not undo it, however late it is recorded.
      return await recorder.record(
        UnrecordedResult(
          lease: lease, content: .answer(.revoked, verdict: verdict), answeredAt: answeredAt,
          audit: dependencies.audit))
    case .recordGood:
      guard case .goodStanding(let standing) = answer else { return Outcome() }
      let good = RevalidationRecord.good(
        claims: standing.identityToken.map { AccountClaims($0.claims) },
        token: replacement(for: token, standing.refreshToken, of: lease, dependencies))
      return await recorder.record(
        UnrecordedResult(
          lease: lease, content: .answer(good, verdict: verdict), answeredAt: answeredAt, audit: dependencies.audit))
    }
  }

  /// Releases the lease of a request that was not made or cannot have reached Apple.
  private func release(_ lease: RevalidationLease, _ dependencies: Dependencies) async -> Outcome {
    await recorder.record(
      UnrecordedResult(lease: lease, content: .notAsked, answeredAt: clock(), audit: dependencies.audit))
  }

  private func keyIsMissing(
    _ key: KeyIdentifier, _ lease: RevalidationLease, of snapshot: SessionSnapshot, _ dependencies: Dependencies
  ) async -> Outcome {
    metrics.checks.count("no_key")
    log.noteMissing(key)
    // Apple was not asked: a replica that has the key may still ask today. Only the first failure changes the
    // account: otherwise each request would have it looked up and revalidated again.
    let released = await release(lease, dependencies)
    return Outcome(accountChanged: released.accountChanged && snapshot.account.failingSince(at: clock()) == nil)
  }

  /// Records an attempt without a good answer: no replica can decrypt the token, so that only another sign-in helps.
  private func tokenIsDamaged(
    _ lease: RevalidationLease, _ dependencies: Dependencies
  ) async throws(StoreError) -> Outcome {
    metrics.checks.count("damaged")
    dependencies.audit.record(.check(verdict: "damaged"), subject: lease.subject, clientID: lease.clientID)
    log.noteDamagedToken(clientID: lease.clientID)
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
      log.noteEncryptionFailure()
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
    apple.current.dependencies.audit.record(
      .sessionEnded(reason: "grace_over"), subject: session.subject, session: session.handle,
      clientID: session.clientID)
    log.noteGraceEnd()
  }
}
