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
  /// - Parameter isOverdue: whether an open exchange ends if the result does not come soon: then it starts at once.
  func startInBackground(_ snapshot: SessionSnapshot, isOverdue: Bool = false) {
    guard revalidator.begin(snapshot.account.subject) else { return }
    start(snapshot, isPaced: !isOverdue)
  }

  /// Runs a revalidation that has its slot. It continues if nobody waits for it any more: its lease has been used.
  private func start(_ snapshot: SessionSnapshot, isPaced: Bool = false) {
    Task {
      if isPaced { await revalidator.waitForStart() }
      // Before the store is asked: a change that comes meanwhile is newer than what it answers.
      let version = sessions.version
      let outcome = await revalidator.run(snapshot)
      if !outcome.ended.isEmpty { await sessions.forget(outcome.ended) }
      if outcome.accountChanged {
        // Requests go on with renewed sessions, and wait for those that are looked up again.
        if let account = outcome.account {
          await sessions.renew(account, readAfter: version)
        } else {
          await sessions.forget(snapshot.account.subject)
        }
      }
      revalidator.end(snapshot.account.subject)
    }
  }

  /// Revalidates an overdue account, waits at most ten seconds for a slot and for the result, and loads the session
  /// again.
  func waitAndReload(
    _ snapshot: SessionSnapshot, _ credential: SessionCredential, for loop: NIOLoopBound<LoopSessions>
  ) async {
    let subject = snapshot.account.subject
    let deadline = ContinuousClock.now + revalidator.longestWait
    let place = await revalidator.place(for: subject, by: deadline)
    if place == .begun { start(snapshot) }
    let isOver = place == .none ? false : await revalidator.waitForEnd(of: subject, by: deadline)
    await sessions.load(credential, for: loop)
    let now = sessions.clock()
    try? await loop.eventLoop.submit {
      guard case .session(let entry)? = loop.value.cache.find(credential.fingerprint),
        entry.snapshot.session.handle == credential.handle
      else { return }
      let (account, date, schedule) = (entry.snapshot.account, Date(wallClock: now), loop.value.configuration.schedule)
      if isOver, account.failingSince(at: date) == nil,
        schedule.decision(account: account, now: date) == .blocking
      {
        // The revalidation ended without a trace: the store did not grant the lease. Neither admit nor sign out.
        loop.value.cache.remove(credential.fingerprint)
        loop.value.cache.insert(
          .storeUnavailable(until: now + SessionManager.outageMemory), for: credential.fingerprint)
      } else {
        // This loop need not wait again: for a while if Apple was asked about the account, otherwise for a moment.
        let mayAsk = schedule.mayAsk(account: account, now: date)
        entry.waitedUntil =
          now + (mayAsk ? SessionConfiguration.retryInterval : SessionConfiguration.evaluationInterval)
      }
    }.get()
  }
}
