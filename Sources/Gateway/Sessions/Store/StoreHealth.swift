internal import Logging
internal import Operations
internal import Sessions
internal import Synchronization

/// The availability of the session store, from its latest answers, and the outage grace: how long cached sessions stay
/// valid without it.
final class StoreHealth: Sendable {
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let outageGrace: Atomic<Int64>
  /// The end of the time in which caches may be used without an answer of the store; `refused` while this version must
  /// not use the store.
  private let trustedUntil: Atomic<Int64>
  /// The moment at which the change feed was asked for its latest answer.
  private let feedAnsweredAt = Atomic<Int64>(.min / 2)
  /// The error of the change feed; nil if it answered when it was last asked. Otherwise it is unknown what ended
  /// elsewhere, whatever else the store answers.
  private let feedProblem = Mutex<StoreError?>(nil)
  private let isUnreachable = Atomic<Bool>(false)
  /// Whether an outage was logged that has not ended.
  private let isOutageLogged = Atomic<Bool>(false)
  /// Whether the end of the outage grace was logged, and signed-in requests have not been served since.
  private let isGraceEndLogged = Atomic<Bool>(false)
  private let isReadOnly = Atomic<Bool>(false)
  /// Whether a missing permission was logged.
  private let lacksPermission = Atomic<Bool>(false)
  /// Whether the store has answered since the start.
  private let hasEverAnswered = Atomic<Bool>(false)
  /// The error of the last operation other than the change feed's that concerns the store as a whole; nil after a
  /// successful check, unless the store was full lately (see ``Shortage``).
  private let problem = Mutex<StoreError?>(nil)
  private let shortage = Mutex(Shortage.none)
  /// Limits the messages about records that are damaged: each request of their users finds them.
  private let damagedRows = WarningInterval()
  /// Limits the messages about a store that went back: a balancer between two servers may lead to either, time and
  /// again.
  private let rollbacks = WarningInterval()
  /// The message of the last failed opening that was logged.
  private let loggedOpening = Mutex<String?>(nil)

  /// A store that was too full for an operation, with its error, until checks that succeed are believed again: a check
  /// changes a row that is there, for which there may be room when there is none for new rows.
  private enum Shortage {
    case none
    /// No check has succeeded since.
    case found(StoreError)
    case doubted(StoreError, Period)

    /// The time for which checks are doubted. In milliseconds.
    private static let doubt: Int64 = 300_000

    /// The error that a check which has succeeded at this moment leaves; nil if the store can be written.
    mutating func rest(afterCheckAt now: Int64) -> StoreError? {
      switch self {
      case .none: return nil
      case .found(let error): self = .doubted(error, Period(from: now, for: Self.doubt))
      case .doubted(_, let period): if !period.contains(now) { self = .none }
      }
      guard case .doubted(let error, _) = self else { return nil }
      return error
    }
  }

  private static let refused = Int64.min
  /// The shortest time for which an answer is trusted from its arrival, whatever `store.outage_grace` is: with a short
  /// grace and a slow store, a request could not even use the answer to its own query.
  private static let shortestGrace = Duration.seconds(1)
  /// A time that is further ahead than the grace was kept while the clock was ahead. In milliseconds.
  private static let clockTolerance: Int64 = 1_000

  /// - Parameter now: in milliseconds since 1970, as everywhere below.
  init(_ settings: StoreSettings, metrics: MetricsRegistry, logger: Logger, now: Int64) {
    self.metrics = metrics
    self.logger = logger
    let grace = Self.grace(settings)
    outageGrace = Atomic(grace)
    trustedUntil = Atomic(now + grace)
  }

  /// Uses other settings: a longer grace from the next answer on, a shorter one at once.
  func apply(_ settings: StoreSettings) { outageGrace.store(Self.grace(settings), ordering: .relaxed) }

  private static func grace(_ settings: StoreSettings) -> Int64 {
    max(settings.outageGrace, shortestGrace).milliseconds
  }

  /// Whether caches may be used at `now`: the store has answered within the outage grace.
  @inline(__always)
  func isTrusted(at now: Int64) -> Bool {
    let longest = outageGrace.load(ordering: .relaxed) &+ Self.clockTolerance
    let until = trustedUntil.load(ordering: .relaxed)
    return now < until && until &- longest <= now
  }

  private var feedFails: Bool { feedProblem.withLock { $0 != nil } }

  /// Whether caches may be used at `now`, and the change feed answered when it was last asked.
  func trustsFeed(at now: Int64) -> Bool { !feedFails && isTrusted(at: now) }

  /// Whether a newer version changed the store in a way that this one must not ignore: no signed-in request is served.
  var isRefused: Bool { trustedUntil.load(ordering: .relaxed) == Self.refused }

  /// Whether no session may be used at `now`, though the store may answer: this version is refused, or the change feed
  /// has not answered within the outage grace.
  func refusesSessions(at now: Int64) -> Bool { isRefused || !isTrusted(at: now) && feedFails }

  /// Whether the store did not answer when it was last asked.
  var isUnavailable: Bool { isUnreachable.load(ordering: .relaxed) }

  /// Whether the store has answered since the start; until then nobody is signed in or can sign in.
  var hasAnswered: Bool { hasEverAnswered.load(ordering: .relaxed) }

  /// Whether the last check of the store succeeded, and the change feed answered when it was last asked.
  var isHealthy: Bool { !needsCheck && !feedFails }

  /// Whether only a check can show that the store is available: it has not answered since the start, or an operation
  /// other than the change feed's has failed since the last check that succeeded. The change feed shows itself when it
  /// is available again.
  var needsCheck: Bool { !hasAnswered || problem.withLock { $0 != nil } }

  /// The error to report.
  private var reportedProblem: StoreError? { problem.withLock { $0 } ?? feedProblem.withLock { $0 } }

  /// Whether signed-in requests can be served: the store answers, or cached sessions are still valid. All
  /// gateways share the store, so reporting not ready earlier would not move requests to a better one.
  func isServing(at now: Int64) -> Bool {
    hasAnswered && !refusesSessions(at: now) && (!isUnavailable || isTrusted(at: now))
  }

  /// Whether the change feed must be read at `now`, even without a sign of changes: the store is not healthy, or the
  /// latest answer is older than `interval` (in milliseconds), or the outage grace is shorter than twice that.
  func mustAsk(at now: Int64, after interval: Int64) -> Bool {
    guard isHealthy, !isUnavailable, !isRefused else { return true }
    guard outageGrace.load(ordering: .relaxed) >= 2 * interval else { return true }
    return !Period(from: feedAnsweredAt.load(ordering: .relaxed), for: interval).contains(now)
  }

  // MARK: Reports

  /// Adds the gauge of the store's state.
  func addMetrics() {
    metrics.addGauge("cordon_store_up", help: "Whether the last check of the session store succeeded.") { [self] in
      isHealthy ? 1 : 0
    }
  }

  /// Reports the store to the health checks. It gates readiness only where signed-in requests cannot be served.
  /// - Parameter place: a description of the store for people.
  func report(to health: HealthMonitor, place: String, now: Int64, at time: Timestamp) {
    let effect: HealthCheck.Effect = isServing(at: now) ? .informs : .gatesReadiness
    let problem = reportedProblem
    let status: HealthCheck.Status = problem == nil ? hasAnswered ? .ok : .unknown : .failing
    health.update("store", status, message: problem?.description ?? place, effect: effect, at: time)
    logServing(effect == .informs, problem)
  }

  /// Logs that the outage grace has ended, and that signed-in requests are served again: each once.
  private func logServing(_ isServing: Bool, _ problem: StoreError?) {
    // A store that was never open, and one that refuses this version, have messages of their own.
    guard hasAnswered, !isRefused else { return }
    guard isGraceEndLogged.exchange(!isServing, ordering: .relaxed) == isServing else { return }
    if isServing {
      logger.notice("serving signed-in requests again")
    } else {
      logger.error(
        "store.outage_grace is over, answering signed-in requests with 503",
        metadata: [
          "error": "\(problem?.description ?? "unknown")",
          "remedy": "make the session store available; store.outage_grace sets how long sessions are served without it",
        ])
    }
  }

  // MARK: Answers

  /// Notes that the store has answered a query. Without the change feed that restores no trust in caches.
  /// - Parameters:
  ///   - arrival: the moment at which the answer arrived. The request that asked must be able to use it.
  ///   - asked: the moment at which the query began. It is not known what has changed since.
  func answered(at arrival: Int64, asked: Int64) {
    if !hasAnswered { hasEverAnswered.store(true, ordering: .relaxed) }
    if !feedFails { trust(at: arrival, asked: asked) }
    isUnreachable.store(false, ordering: .relaxed)
    endOutage()
  }

  private func trust(at arrival: Int64, asked: Int64) {
    let until = max(
      asked + outageGrace.load(ordering: .relaxed), arrival + Self.shortestGrace.milliseconds)
    var before = trustedUntil.load(ordering: .relaxed)
    // A look-up that was answered before the store refused this version restores no trust: only the change feed does.
    while before != Self.refused {
      let change = trustedUntil.compareExchange(expected: before, desired: until, ordering: .relaxed)
      if change.exchanged { break }
      before = change.original
    }
  }

  /// Logs the end of an outage, unless the change feed, or the store as a whole, still fails: then an answer to another
  /// query does not end it.
  private func endOutage() {
    guard isOutageLogged.load(ordering: .relaxed), !feedFails,
      problem.withLock({ $0.map { !Self.isOutage($0) } ?? true }),
      isOutageLogged.exchange(false, ordering: .relaxed)
    else { return }
    logger.notice("session store available again")
  }

  /// Whether an error concerns the store as a whole, and not one operation.
  private static func isOutage(_ error: StoreError) -> Bool {
    switch error.code {
    case .unavailable, .denied, .misconfigured, .missingDirectory, .newerSchema, .unfinishedCopy, .corrupt, .closed:
      true
    case .readOnly, .full, .interrupted, .busy, .damagedRow, .conflict, .internalError: false
    }
  }

  /// Notes that the change feed has answered, and that its changes have been applied: this version may use the store
  /// again if it was refused.
  func feedAnswered(at arrival: Int64, asked: Int64) {
    if isRefused {
      trustedUntil.store(asked, ordering: .relaxed)
      logger.notice("session store is compatible again, serving signed-in requests")
    }
    feedAnsweredAt.store(asked, ordering: .relaxed)
    feedProblem.withLock { $0 = nil }
    answered(at: arrival, asked: asked)
  }

  /// Notes that the change feed did not answer: the store counts as unavailable, and caches are trusted for no longer
  /// than the outage grace, even if it answers other queries.
  func feedDidNotAnswer(_ error: StoreError) {
    feedProblem.withLock { $0 = error }
    metrics.storeFailures.count("changes")
    noteUnavailable("changes", error)
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

  /// Notes that a check has written to the store.
  func wrote(at arrival: Int64, asked: Int64) {
    let shortage = shortage.withLock { $0.rest(afterCheckAt: arrival) }
    problem.withLock { $0 = shortage }
    answered(at: arrival, asked: asked)
    lacksPermission.store(false, ordering: .relaxed)
    if shortage == nil, isReadOnly.exchange(false, ordering: .relaxed) { logger.notice("session store writable again") }
  }

  /// Notes that a sign-in was stored, which takes new rows: the next check is believed.
  func hadRoom() { shortage.withLock { $0 = .none } }

  // MARK: Failures

  /// Notes that a check could not write to the store. It may still answer queries, even if the error is one of an
  /// outage: those that fail say so themselves.
  func didNotWrite(_ error: StoreError) {
    metrics.storeFailures.count("ping")
    problem.withLock { $0 = error }
    if error.code == .newerSchema { return refuse(error) }
    // The store answers, and only what needs the permission fails. Wrong credentials make queries fail as well.
    if error.code == .denied, hasAnswered, !isUnavailable { return logMissingPermission(error) }
    if Self.isOutage(error) { return logOutage("ping", error) }
    guard hasAnswered else { return }
    logReadOnly(error)
  }

  /// Notes that an operation failed. The store may still be available.
  func failed(_ operation: String, _ error: StoreError) {
    if Self.isOutage(error) { return didNotAnswer(operation, error) }
    switch error.code {
    case .readOnly, .full:
      metrics.storeFailures.count(operation)
      if error.code == .full { noteShortage(error) }
      logReadOnly(error)
    case .damagedRow where !damagedRows.isDue(): metrics.storeFailures.count(operation)
    default:
      metrics.storeFailures.count(operation)
      logger.error(
        "session store operation failed", metadata: ["operation": "\(operation)", "error": "\(error)"])
    }
  }

  /// Notes that a query was not answered: the store counts as unavailable, unless it has answered with a record that is
  /// damaged.
  func didNotAnswer(_ operation: String, _ error: StoreError) {
    if error.code == .damagedRow { return failed(operation, error) }
    metrics.storeFailures.count(operation)
    problem.withLock { $0 = error }
    noteUnavailable(operation, error)
  }

  private func noteUnavailable(_ operation: String, _ error: StoreError) {
    if error.code == .newerSchema { return refuse(error) }
    isUnreachable.store(true, ordering: .relaxed)
    logOutage(operation, error)
  }

  /// Logs the beginning of an outage, once. A store that was never open has a message of its own.
  private func logOutage(_ operation: String, _ error: StoreError) {
    guard hasAnswered, !isOutageLogged.exchange(true, ordering: .relaxed) else { return }
    logger.error(
      "session store unavailable, serving cached sessions for store.outage_grace",
      metadata: ["operation": "\(operation)", "error": "\(error)"])
  }

  /// Notes that the store could not be opened at the start; opening is retried.
  func didNotOpen(_ error: StoreError) {
    metrics.storeFailures.count("open")
    isUnreachable.store(true, ordering: .relaxed)
    problem.withLock { $0 = error }
    // Its cause may be worded differently each time.
    let before = loggedOpening.withLock { logged -> String? in
      defer { logged = error.message }
      return logged
    }
    if let before, before.utf8.elementsEqual(error.message.utf8) { return }
    logger.error(
      "session store cannot be opened, retrying; signed-in requests are answered with 503",
      metadata: ["error": "\(error)"])
  }

  private func noteShortage(_ error: StoreError) {
    shortage.withLock { $0 = .found(error) }
    problem.withLock { $0 = error }
  }

  private func logReadOnly(_ error: StoreError) {
    guard !isReadOnly.exchange(true, ordering: .relaxed) else { return }
    logger.error(
      "session store not writable, sign-in and sign-out are unavailable", metadata: ["error": "\(error)"])
  }

  private func logMissingPermission(_ error: StoreError) {
    guard !lacksPermission.exchange(true, ordering: .relaxed) else { return }
    logger.error("session store lacks a permission, some operations fail", metadata: ["error": "\(error)"])
  }

  private func refuse(_ error: StoreError) {
    guard trustedUntil.exchange(Self.refused, ordering: .relaxed) != Self.refused else { return }
    logger.critical(
      "session store requires a newer version, answering signed-in requests with 503",
      metadata: ["remedy": "\(error.message)"])
  }
}
