internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// Records the results of revalidations in the store. A result that the store does not take is kept and recorded again
/// later: its lease is used up, so that Apple is not asked again within the interval.
///
/// A late record is harmless: the store ignores it if Apple was asked again since, and after a sign-in it affects only
/// the token that it is about.
final class RevalidationRecorder: Sendable {
  private let store: any RevalidationLeaseStore
  private let storeHealth: StoreHealth
  private let unrecorded: UnrecordedResults
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let failures: LogLimit
  private let drops: LogLimit
  /// The pass over the kept results that is under way.
  private let pass = Mutex<Task<Void, Never>?>(nil)

  init(
    store: any RevalidationLeaseStore, storeHealth: StoreHealth, unrecorded: UnrecordedResults,
    metrics: MetricsRegistry, logger: Logger, clock: @escaping @Sendable () -> Date
  ) {
    self.store = store
    self.storeHealth = storeHealth
    self.unrecorded = unrecorded
    self.metrics = metrics
    self.logger = logger
    self.clock = clock
    let time = { @Sendable in Duration.milliseconds(clock().millisecondsSince1970) }
    failures = LogLimit(clock: time)
    drops = LogLimit(clock: time)
  }

  /// Records a result, or keeps it if the store does not take it.
  func record(_ result: UnrecordedResult) async -> Revalidator.Outcome {
    do throws(StoreError) {
      return try await write(result)
    } catch {
      return keep(result, after: error)
    }
  }

  private func write(_ result: UnrecordedResult) async throws(StoreError) -> Revalidator.Outcome {
    let lease = result.lease
    switch result.content {
    case .notAsked:
      try await store.releaseLease(lease)
      return Revalidator.Outcome(accountChanged: true)
    case .answer(let answer, let verdict):
      // Apple's confirmation counts from its answer, however late it is recorded. Sessions end now.
      let moment = answer.kind == .good ? result.answeredAt : clock()
      let recorded = try await store.record(answer, of: lease, at: moment)
      result.audit.record(.check(verdict: verdict), subject: lease.subject, clientID: lease.clientID)
      metrics.countEnd(of: recorded.ended, because: .revoked)
      result.audit.recordEnd(
        of: recorded.ended, because: .revoked, subject: lease.subject, clientID: lease.clientID)
      return Revalidator.Outcome(
        ended: recorded.ended, accountChanged: true, account: answer.kind == .revoked ? nil : recorded.account)
    }
  }

  private func keep(_ result: UnrecordedResult, after error: StoreError) -> Revalidator.Outcome {
    // The process ends: nobody is served any more.
    if error.code == .closed { return Revalidator.Outcome() }
    storeHealth.failed("check", error)
    if failures.isDue() {
      logger.warning(
        "recording the result of a revalidation failed, retrying", metadata: ["error": "\(error)"])
    }
    if let dropped = unrecorded.keep(result) { logDrop(of: dropped, "more than \(UnrecordedResults.limit) wait") }
    guard case .answer(let answer, _) = result.content else { return Revalidator.Outcome() }
    // Its own event follows when it is recorded.
    result.audit.record(
      .check(verdict: "failed"), subject: result.lease.subject, clientID: result.lease.clientID)
    return answer.kind == .revoked ? Revalidator.Outcome(unrecordedRevocation: result) : Revalidator.Outcome()
  }

  private func logDrop(of result: UnrecordedResult, _ reason: String) {
    guard drops.isDue() else { return }
    logger.warning(
      "dropping the result of a revalidation that could not be recorded",
      metadata: [
        "client": "\(result.lease.clientID)", "reason": "\(reason)",
        "remedy": "see why the session store cannot be written; Apple is asked again after revalidation.interval",
      ])
  }

  // MARK: Kept results

  /// Whether results are kept.
  var hasUnrecorded: Bool { unrecorded.count > 0 }

  /// Runs a pass over the kept results, unless one is under way.
  /// - Returns: the pass.
  func beginPass(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    pass.withLock { current in
      if let current { return current }
      let task = Task {
        await work()
        pass.withLock { $0 = nil }
      }
      current = task
      return task
    }
  }

  /// An attempt with one kept result.
  struct Attempt {
    /// The number after which the pass goes on.
    let number: Int
    let subject: Subject
    /// nil if the result is still kept, while the store may take others: a row may be locked.
    let outcome: Revalidator.Outcome?
  }

  /// Tries to record the earliest kept result with a greater number.
  /// - Returns: nil if no such result is kept, or the store takes no other either.
  func recordNext(after number: Int) async -> Attempt? {
    guard let entry = unrecorded.first(after: number) else { return nil }
    let subject = entry.result.lease.subject
    do throws(StoreError) {
      let outcome = try await write(entry.result)
      unrecorded.remove(entry)
      return Attempt(number: entry.number, subject: subject, outcome: outcome)
    } catch {
      storeHealth.failed("check", error)
      switch error.code {
      case .unavailable, .readOnly, .full, .corrupt, .denied, .misconfigured, .missingDirectory, .newerSchema,
        .unfinishedCopy, .closed:
        return nil
      case .busy, .interrupted: break
      // A revocation is kept, and its sessions are refused, for as long as it may be recorded.
      case .conflict where entry.result.isRevocation, .internalError where entry.result.isRevocation: break
      case .damagedRow, .conflict, .internalError:
        unrecorded.remove(entry)
        logDrop(of: entry.result, "\(error)")
        return Attempt(
          number: entry.number, subject: subject, outcome: Revalidator.Outcome(accountChanged: true))
      }
      return Attempt(number: entry.number, subject: subject, outcome: nil)
    }
  }

  /// Logs at shutdown how many results are not recorded.
  func reportUnrecorded() {
    let count = unrecorded.count
    guard count > 0 else { return }
    logger.warning(
      "results of revalidations not recorded at shutdown, these accounts count as not confirmed",
      metadata: [
        "accounts": "\(count)",
        "remedy": "see that the session store can be written before a gateway is stopped",
      ])
  }
}
