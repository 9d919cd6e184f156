internal import DataPlane
internal import Logging
internal import Operations
internal import Synchronization

/// Ends readiness while a listening socket accepts nothing for lack of descriptors or memory, so that a balancer sends
/// new connections to other gateways. Connections that are open are served meanwhile.
///
/// Readiness does not flap: the shortage has to last before it ends, and to be over for longer before it begins again.
/// Liveness does not depend on it: a restart would end all connections, and a balancer needs none.
final class AcceptWatch: Sendable {
  typealias Instant = SuspendingClock.Instant

  /// The name of the check on `/healthz`, which is there while it fails.
  private static let checkName = "connections"
  /// The time for which nothing is accepted before readiness ends.
  private static let shortageLimit = Duration.seconds(10)
  /// The time without a shortage after which the gateway is ready again.
  private static let recoveryTime = Duration.seconds(30)
  private static let remedy = """
    see "out of file descriptors" or "the system has no room" in the log: raise LimitNOFILE= of the unit (ulimit -n), \
    lower listen.limits.connections, or run more gateways
    """

  private struct State {
    var isFailing = false
    /// The first of the looks in a row that contradict `isFailing`; nil if the last one did not.
    var changing: Instant?
    /// The clients that had been accepted in spite of a shortage at the last look.
    var lateAccepts = 0

    /// - Returns: whether `isFailing` has changed.
    mutating func look(isHeldUp: Bool, lateAccepts: Int, at now: Instant) -> Bool {
      // At its limit a busy gateway accepts clients as others leave, a little late, and is found paused at each look.
      let isShort = isHeldUp && (isFailing || lateAccepts == self.lateAccepts)
      self.lateAccepts = lateAccepts
      guard isShort != isFailing else {
        changing = nil
        return false
      }
      let began = changing ?? now
      changing = began
      guard now - began >= (isFailing ? AcceptWatch.recoveryTime : AcceptWatch.shortageLimit) else { return false }
      isFailing = isShort
      changing = nil
      return true
    }
  }

  private let descriptors: DescriptorBudget
  private let health: HealthMonitor
  private let logger: Logger
  private let state = Mutex(State())

  init(descriptors: DescriptorBudget = .process, health: HealthMonitor, logger: Logger) {
    self.descriptors = descriptors
    self.health = health
    self.logger = logger
  }

  /// Looks at the listening sockets; called once a second. Does not block.
  func check(at now: Instant = SuspendingClock().now) {
    let (isHeldUp, lateAccepts) = (descriptors.pausedSockets > 0, descriptors.lateAccepts)
    let (hasChanged, isFailing) = state.withLock { state in
      let hasChanged = state.look(isHeldUp: isHeldUp, lateAccepts: lateAccepts, at: now)
      return (hasChanged, state.isFailing)
    }
    guard hasChanged else { return }
    guard isFailing else {
      health.remove(Self.checkName)
      // A gateway that shuts down has no paused socket because it has closed them.
      guard !health.report.isDraining else { return }
      return logger.notice("connections are accepted again, /readyz no longer fails for it")
    }
    health.update(
      Self.checkName, .failing, message: "no connection was accepted for 10 s: \(Self.remedy)",
      effect: .gatesReadiness, at: .now())
    logger.error(
      "no connection was accepted for 10 s, answering 503 at /readyz", metadata: ["remedy": "\(Self.remedy)"])
  }
}
