internal import AppleIdentity
internal import FoundationEssentials
internal import Operations
internal import Sessions
internal import Synchronization

/// Watches Apple by the calls of revalidations and sign-ins, by notifications and by probes: reports its state to
/// health, and raises alarms.
final class AppleMonitor: Sendable {
  private let inUse: Mutex<Current>
  private let health: HealthMonitor
  private let log: RevalidationLog
  private let clock: @Sendable () -> Date

  /// The dependencies in use, and what calls with their credentials have shown.
  struct Current {
    let dependencies: Revalidator.Dependencies
    var history = AppleCallHistory()
  }

  /// - Parameter health: receives the state of Apple as the check `apple`, for information.
  init(
    _ dependencies: Revalidator.Dependencies, health: HealthMonitor, log: RevalidationLog,
    clock: @escaping @Sendable () -> Date
  ) {
    inUse = Mutex(Current(dependencies: dependencies))
    self.health = health
    self.log = log
    self.clock = clock
  }

  /// The dependencies in use now, and their history.
  var current: Current { inUse.withLock { $0 } }

  /// Uses other dependencies from now on. The history of calls is kept unless the credentials have changed: Apple's
  /// answers to other credentials must not hold revocations back, nor pause calls.
  func apply(_ dependencies: Revalidator.Dependencies) {
    inUse.withLock { current in
      let isSame = dependencies.apple.hasSameCredentials(as: current.dependencies.apple)
      current = Current(dependencies: dependencies, history: isSame ? current.history : AppleCallHistory())
    }
    log.reset()
    reportHealth()
  }

  /// Whether revalidations that can be put off are, because Apple has asked for a pause.
  var isPaused: Bool { current.history.isPaused(at: clock()) }

  /// Reports the answer to a revalidation, unless a reload has replaced the credentials since.
  /// - Parameters:
  ///   - alarm: the alarm to raise.
  ///   - history: has noted the answer.
  func report(
    _ answer: RefreshOutcome, _ alarm: RevalidationAlarm?, clientID: String, in history: AppleCallHistory
  ) {
    guard current.history === history else { return }
    reportHealth()
    if let alarm { log.raise(alarm, refusalRemedy: answer.refusalRemedy) }
    log.note(answer, clientID: clientID)
  }

  /// Notes the outcome of a sign-in's code exchange.
  /// - Parameter provider: made the call. If a reload has replaced its credentials since, the outcome does not count.
  func note(_ outcome: ExchangeOutcome, clientID: String, by provider: AppleIdentityProvider) {
    let current = current
    guard provider.hasSameCredentials(as: current.dependencies.apple) else { return }
    if let alarm = current.history.note(outcome, clientID: clientID, at: clock()) {
      log.raise(alarm, refusalRemedy: outcome.refusalRemedy)
    }
    reportHealth()
  }

  /// Notes a notification that Apple signed, and that was issued in the future by our clock. As proof of a clock that
  /// is behind, it is worth as much as an identity token.
  func noteNotificationFromFuture() {
    if let alarm = current.history.noteNotificationFromFuture(at: clock()) { log.raise(alarm) }
    reportHealth()
  }

  /// Whether ``probe()`` would call Apple.
  var isProbeDue: Bool { current.history.isProbeDue(at: clock()) }

  /// Fetches Apple's public keys if Apple could not be reached, had no keys, or showed that our clock is behind, and
  /// nothing has called it for a minute: otherwise the end of the trouble would be noticed at the next sign-in or
  /// revalidation, which may be hours away.
  func probe() async {
    let current = current
    guard current.history.beginProbe(at: clock()) else { return }
    do throws(AppleKeySetError) {
      let report = try await current.dependencies.apple.keySet.fetchNow()
      current.history.noteReachable(clockDifference: report.clockDifference(at: clock()))
    } catch {
      current.history.noteProbeFailed(error, at: clock())
    }
    reportHealth()
  }

  /// Reports the state of Apple to health.
  func reportHealth() {
    switch current.history.report(at: clock()) {
    case .outdated(let message): health.update(Self.checkName, .unknown, message: message, at: .now())
    case .unknown: health.update(Self.checkName, .unknown, at: .now())
    case .ok: health.update(Self.checkName, .ok, at: .now())
    case .failing(let message): health.update(Self.checkName, .failing, message: message, at: .now())
    }
  }

  /// The name of the check on `/healthz`.
  static let checkName = "apple"
}
