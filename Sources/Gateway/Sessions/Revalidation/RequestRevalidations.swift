internal import FoundationEssentials
internal import NIOCore
internal import Sessions

/// Revalidations that requests ask for: in the background, or with the request waiting.
struct RequestRevalidations: Sendable {
  private let revalidator: Revalidator
  private let sessions: SessionManager

  init(_ revalidator: Revalidator, sessions: SessionManager) {
    self.revalidator = revalidator
    self.sessions = sessions
  }

  /// Starts a revalidation that no request waits for, unless one is under way.
  /// - Parameters:
  ///   - isOverdue: whether an open exchange ends if the result does not come soon: then it starts at once.
  ///   - canBePutOff: whether the user is admitted without the result: then it does not start in a pause that Apple has
  ///     asked for.
  func startInBackground(_ snapshot: SessionSnapshot, isOverdue: Bool = false, canBePutOff: Bool = true) {
    let canBePutOff = canBePutOff && !isOverdue
    if canBePutOff, revalidator.apple.isPaused { return }
    guard revalidator.queue.begin(snapshot.account.subject) else { return }
    start(
      snapshot, isPaced: !isOverdue, canBePutOff: canBePutOff,
      waitingUntil: isOverdue ? ContinuousClock.now + revalidator.longestWait : nil)
  }

  /// Records that a session is refused because the grace period of its account is over.
  func noteGraceEnd(of session: Session) { revalidator.noteGraceEnd(of: session) }

  /// Runs a revalidation that has its slot. It continues when no request waits for it any longer, because its lease is
  /// used up.
  /// - Parameter deadline: for the result of another process that is asking Apple; nil to not wait for it.
  private func start(
    _ snapshot: SessionSnapshot, isPaced: Bool = false, canBePutOff: Bool = false,
    waitingUntil deadline: ContinuousClock.Instant? = nil
  ) {
    Task {
      if isPaced { await revalidator.queue.waitForStart() }
      // The pause may have begun since.
      if canBePutOff, revalidator.apple.isPaused { return revalidator.queue.end(snapshot.account.subject) }
      // Read before the store is asked: a change that arrives meanwhile is newer than the answer.
      let version = sessions.version
      let outcome = await revalidator.run(snapshot, isNeeded: !canBePutOff, waitingUntil: deadline)
      await apply(outcome, to: snapshot.account.subject, readAfter: version)
      revalidator.queue.end(snapshot.account.subject)
    }
  }

  /// Updates the caches after a revalidation.
  private func apply(
    _ outcome: Revalidator.Outcome, to subject: Subject, readAfter version: ProcessSessions.Version
  ) async {
    if let revocation = outcome.unrecordedRevocation { await sessions.endInProcess(revokedBy: revocation) }
    if !outcome.ended.isEmpty { await sessions.endInProcess(outcome.ended) }
    if outcome.accountChanged {
      // Renewed sessions can be used at once; others have to be looked up again.
      if let account = outcome.account {
        await sessions.renew(account, readAfter: version)
      } else {
        await sessions.markStale(subject)
      }
    }
  }

  // MARK: Results that the store did not take

  /// Whether results of revalidations wait for the store.
  var hasUnrecorded: Bool { revalidator.recorder.hasUnrecorded }

  /// Records the results that wait for the store, unless that is under way.
  func recordSoon() {
    if hasUnrecorded { _ = recordKept() }
  }

  private func recordKept() -> Task<Void, Never> {
    revalidator.recorder.beginPass {
      var (last, refusals) = (0, 0)
      while refusals < Self.mostRefusals {
        // Read before the store is asked, as above.
        let version = sessions.version
        guard let attempt = await revalidator.recorder.recordNext(after: last) else { return }
        last = attempt.number
        if let outcome = attempt.outcome {
          await apply(outcome, to: attempt.subject, readAfter: version)
        } else {
          refusals += 1
        }
      }
    }
  }

  /// Results that a pass goes past because the store does not take them now: each may have to wait for a lock.
  private static let mostRefusals = 10

  /// Tries at shutdown to record the results that wait for the store, and logs how many are left at the deadline.
  func finish(by deadline: ContinuousClock.Instant) async {
    guard hasUnrecorded else { return }
    await recordKept().waitForEnd(by: deadline)
    revalidator.recorder.reportUnrecorded()
  }

  // MARK: Requests that wait

  /// Revalidates an overdue account, waits at most ten seconds for a slot and for the result, and loads the session
  /// again.
  func waitAndReload(
    _ snapshot: SessionSnapshot, _ credential: SessionCredential, for loop: NIOLoopBound<LoopSessions>
  ) async {
    let subject = snapshot.account.subject
    let deadline = ContinuousClock.now + revalidator.longestWait
    var slot = await revalidator.queue.acquireSlot(for: subject, by: deadline)
    if slot == .underWay, revalidator.apple.isPaused,
      await revalidator.queue.waitForEnd(of: subject, by: deadline)
    {
      // The one under way may have been put off without asking. If it was not, its lease is used up.
      slot = await revalidator.queue.acquireSlot(for: subject, by: deadline)
    }
    if slot == .begun { start(snapshot, waitingUntil: deadline) }
    let isOver = slot == .none ? false : await revalidator.queue.waitForEnd(of: subject, by: deadline)
    // Without a result here, another process may have one.
    await sessions.load(credential, for: loop, fromStore: slot != .none && !isOver)
    let now = sessions.clock()
    try? await loop.eventLoop.submit {
      guard case .session(let entry)? = loop.value.cache.find(credential.fingerprint),
        entry.snapshot.session.handle == credential.handle
      else { return }
      let (account, date) = (entry.snapshot.account, Date(millisecondsSince1970: now))
      let schedule = loop.value.configuration.schedule
      if isOver, account.failingSince(at: date) == nil,
        schedule.decision(account: account, now: date) == .blocking
      {
        // The revalidation has no result: the store did not grant the lease. Neither admit nor sign out.
        loop.value.cache.remove(credential.fingerprint)
        loop.value.cache.insert(
          .storeUnavailable(during: Period(from: now, for: SessionManager.outageRetryInterval)),
          for: credential.fingerprint, now: now)
      } else {
        // This loop need not wait again: for a while if Apple was asked about the account, otherwise for a moment.
        let mayAsk = schedule.mayAsk(account: account, now: date)
        let pause = mayAsk ? SessionConfiguration.retryInterval : SessionConfiguration.evaluationInterval
        entry.revalidation.noteWait(Period(from: now, for: pause))
      }
    }.get()
  }
}
