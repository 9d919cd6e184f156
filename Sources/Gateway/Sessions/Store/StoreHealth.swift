internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// The availability of the session store, from its latest answers, and the outage grace: how long cached sessions stay
/// valid without it. Counts failures, and writes the notices of ``StoreAvailability`` to the log.
final class StoreHealth: Sendable {
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let state: Mutex<StoreAvailability>
  // Copies of the state for the path of a signed-in request, which takes no lock. They are written under the lock of
  // the state: otherwise two changes could leave the copy of the earlier one, such as trust after a refusal.
  /// The trust, encoded.
  private let trust: Atomic<Int64>
  private let outageGrace: Atomic<Int64>
  private let isUnreachable = Atomic<Bool>(false)

  /// Limits the messages about operations that fail: while the store is locked, all that write do.
  private let failures: LogLimit
  /// Limits the messages about records that are damaged: each request of their users finds them.
  private let damagedRows: LogLimit
  /// Limits the messages about a store that went back: a balancer between two servers may lead to either, time and
  /// again.
  private let rollbacks: LogLimit

  /// - Parameters:
  ///   - now: in milliseconds since 1970, as everywhere below.
  ///   - uptime: the steady clock of the limits on messages.
  init(
    _ settings: StoreSettings, metrics: MetricsRegistry, logger: Logger, now: Int64,
    uptime: @escaping @Sendable () -> Duration = { LogLimit.uptime() }
  ) {
    self.metrics = metrics
    self.logger = logger
    failures = LogLimit(lines: 10, clock: uptime)
    damagedRows = LogLimit(clock: uptime)
    rollbacks = LogLimit(clock: uptime)
    let initial = StoreAvailability(outageGrace: settings.outageGrace, now: now)
    trust = Atomic(initial.trust.encoded)
    outageGrace = Atomic(initial.outageGrace)
    state = Mutex(initial)
  }

  /// Changes the state, and logs the notices of the change after the lock is released.
  private func change(_ event: (inout StoreAvailability) -> [StoreNotice]) {
    let notices = state.withLock { state in
      let notices = event(&state)
      trust.store(state.trust.encoded, ordering: .relaxed)
      outageGrace.store(state.outageGrace, ordering: .relaxed)
      isUnreachable.store(state.isUnavailable, ordering: .relaxed)
      return notices
    }
    for notice in notices { log(notice) }
  }

  /// Uses other settings: a longer grace from the next answer on, a shorter one at once.
  func apply(_ settings: StoreSettings) {
    change { state in
      state.apply(outageGrace: settings.outageGrace)
      return []
    }
  }

  // MARK: Without a lock

  @inline(__always)
  private var currentTrust: StoreTrust { StoreTrust(encoded: trust.load(ordering: .relaxed)) }

  /// Whether caches may be used at `now`: the store has answered within the outage grace.
  @inline(__always)
  func isTrusted(at now: Int64) -> Bool {
    currentTrust.contains(now, grace: outageGrace.load(ordering: .relaxed))
  }

  /// Whether a newer version changed the store in a way that this one must not ignore: no signed-in request is served.
  var isRefused: Bool { currentTrust == .refused }

  /// Whether no session may be used at `now`, though the store may answer: this version is refused, or the change feed
  /// has not answered within the outage grace. A lock is taken only after the outage grace.
  func refusesSessions(at now: Int64) -> Bool {
    if isTrusted(at: now) { return false }
    return isRefused || state.withLock { $0.refusesSessions(at: now) }
  }

  /// Whether the store did not answer when it was last asked.
  var isUnavailable: Bool { isUnreachable.load(ordering: .relaxed) }

  // MARK: With the lock

  /// Whether caches may be used at `now`, and the change feed answered when it was last asked.
  func trustsFeed(at now: Int64) -> Bool { state.withLock { $0.trustsFeed(at: now) } }

  /// Whether the store has answered since the start; until then nobody is signed in or can sign in.
  var hasAnswered: Bool { state.withLock { $0.hasAnswered } }

  /// Whether the last check of the store succeeded, and the change feed answered when it was last asked.
  var isHealthy: Bool { state.withLock { $0.isHealthy } }

  /// Whether only a check can show that the store is available: it has not answered since the start, or an operation
  /// other than the change feed's has failed since the last check that succeeded. The change feed shows itself when it
  /// is available again.
  var needsCheck: Bool { state.withLock { $0.needsCheck } }

  /// Whether the change feed must be read at `now`, even without a sign of changes: the store is not healthy, or the
  /// latest answer is older than `interval` (in milliseconds), or the outage grace is shorter than twice that.
  func mustAsk(at now: Int64, after interval: Int64) -> Bool {
    state.withLock { $0.mustAsk(at: now, after: interval) }
  }

  // MARK: Reports

  /// Adds the gauge of the store's state.
  func addMetrics() {
    metrics.addGauge("cordon_store_up", help: "Whether the last check of the session store succeeded.") { [self] in
      isHealthy ? 1 : 0
    }
  }

  /// Reports the store to the health checks. It gates readiness only where signed-in requests cannot be served. Logs
  /// that the outage grace has ended, and that signed-in requests are served again: each once.
  /// - Parameter place: a description of the store for people.
  func report(to health: HealthMonitor, place: String, now: Int64, at time: Timestamp) {
    let (current, notices) = state.withLock { state in
      let notices = state.noteService(at: now)
      return (state, notices)
    }
    let effect: HealthCheck.Effect = current.isServing(at: now) ? .informs : .gatesReadiness
    let problem = current.problem
    let status: HealthCheck.Status = problem == nil ? current.hasAnswered ? .ok : .unknown : .failing
    health.update("store", status, message: problem?.description ?? place, effect: effect, at: time)
    for notice in notices { log(notice) }
  }

  // MARK: Answers

  /// Notes that the store has answered a query. Without the change feed that restores no trust in caches.
  /// - Parameters:
  ///   - arrival: the moment at which the answer arrived. The request that asked must be able to use it.
  ///   - asked: the moment at which the query began. It is not known what has changed since.
  func answered(at arrival: Int64, asked: Int64) { change { $0.answered(at: arrival, asked: asked) } }

  /// Notes that the change feed has answered, and that its changes have been applied: this version may use the store
  /// again if it was refused.
  func feedAnswered(at arrival: Int64, asked: Int64) { change { $0.feedAnswered(at: arrival, asked: asked) } }

  /// Notes that a check has written to the store.
  func wrote(at arrival: Int64, asked: Int64) { change { $0.wrote(at: arrival, asked: asked) } }

  /// Notes that a sign-in was stored, which takes new rows: the next check counts.
  func hadRoom() {
    change { state in
      state.hadRoom()
      return []
    }
  }

  // MARK: Failures

  /// Whether an error is that of an operation after the end of a shutdown, which closes the store: such as that of an
  /// endpoint whose client was aborted. It is no failure of the store, and nobody is served any longer.
  private static func isOfShutdown(_ error: StoreError) -> Bool { error.code == .closed }

  /// Notes that the change feed did not answer: the store counts as unavailable, and caches are trusted for no longer
  /// than the outage grace, even if it answers other queries.
  func feedDidNotAnswer(_ error: StoreError) {
    if Self.isOfShutdown(error) { return }
    metrics.storeFailures.count("changes")
    change { $0.feedDidNotAnswer(error) }
  }

  /// Notes that a check could not write to the store. It may still answer queries, even if the error is one of an
  /// outage: those that fail say so themselves.
  func didNotWrite(_ error: StoreError) {
    if Self.isOfShutdown(error) { return }
    metrics.storeFailures.count("ping")
    change { $0.didNotWrite(error) }
  }

  /// Notes that an operation failed. The store may still be available. An error that was reported before is ignored, so
  /// that one operation fails once, whatever calls it.
  /// - Returns: the error as reported, to be thrown.
  @discardableResult
  func failed(_ operation: String, _ error: StoreError) -> StoreError {
    if error.isReported || Self.isOfShutdown(error) { return error }
    metrics.storeFailures.count(operation)
    change { $0.failed(operation, error) }
    return error.reported
  }

  /// Notes that a query was not answered: the store counts as unavailable, unless it has answered with a record that is
  /// damaged. An error that was reported before is ignored.
  /// - Returns: the error as reported, to be thrown.
  @discardableResult
  func didNotAnswer(_ operation: String, _ error: StoreError) -> StoreError {
    if error.isReported || Self.isOfShutdown(error) { return error }
    metrics.storeFailures.count(operation)
    change { $0.didNotAnswer(operation, error) }
    return error.reported
  }

  /// Notes that the store could not be opened at the start; opening is retried.
  func didNotOpen(_ error: StoreError) {
    metrics.storeFailures.count("open")
    change { $0.didNotOpen(error) }
  }

  /// Notes that the change feed no longer has the changes that it had: by a failover to a standby that had not received
  /// them, a backup that was restored, or another database at the same address.
  func foundRollback(_ gap: StoreChanges.Gap) {
    metrics.storeRollbacks.count()
    guard rollbacks.isDue() else { return }
    let reason = gap == .otherStore ? "another store answers" : "the store is in an earlier state"
    let remedy =
      "repeat the sign-outs, bans, removals from groups and revocations of the last moments before it (see the audit "
      + "log); with a synchronous standby a failover loses none"
    logger.critical(
      "session store has lost confirmed changes, sign-outs and bans may be undone",
      metadata: ["reason": "\(reason)", "remedy": "\(remedy)"])
  }

  // MARK: The log

  private func log(_ notice: StoreNotice) {
    switch notice {
    case .notOpened(let error):
      logger.error(
        "session store cannot be opened, retrying; signed-in requests are answered with 503",
        metadata: ["error": "\(error)"])
    case .unavailable(let operation, let error):
      logger.error(
        "session store unavailable, serving cached sessions for store.outage_grace",
        metadata: ["operation": "\(operation)", "error": "\(error)"])
    case .available: logger.notice("session store available again")
    case .notWritable(let error):
      logger.error(
        "session store not writable, sign-in and sign-out are unavailable", metadata: ["error": "\(error)"])
    case .writable: logger.notice("session store writable again")
    case .permissionMissing(let error):
      logger.error("session store lacks a permission, some operations fail", metadata: ["error": "\(error)"])
    case .refused(let error):
      logger.critical(
        "session store requires a newer version, answering signed-in requests with 503",
        metadata: ["remedy": "\(error.message)"])
    case .compatible: logger.notice("session store is compatible again, serving signed-in requests")
    case .graceEnded(let error):
      logger.error(
        "store.outage_grace is over, answering signed-in requests with 503",
        metadata: [
          "error": "\(error?.description ?? "unknown")",
          "remedy": "make the session store available; store.outage_grace sets how long sessions are served without it",
        ])
    case .serving: logger.notice("serving signed-in requests again")
    case .operationFailed(let operation, let error): logFailure(of: operation, error)
    }
  }

  private func logFailure(of operation: String, _ error: StoreError) {
    var metadata: Logger.Metadata = ["operation": "\(operation)", "error": "\(error)"]
    if error.code == .damagedRow {
      guard damagedRows.isDue() else { return }
    } else {
      guard let suppressed = failures.admit("\(operation) \(error.code.rawValue)") else { return }
      if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
    }
    logger.error("session store operation failed", metadata: metadata)
  }
}
