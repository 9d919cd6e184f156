package import Logging
internal import Synchronization

/// Asks the event loops and the periodic tasks whether they run, and reports to health and to the log if one stands
/// still.
///
/// It needs no thread but that of its caller: the event loop of the timer and of the admin listener. If that one hangs,
/// no probe is answered.
package final class HeartbeatMonitor: Sendable {
  /// The name of the check, which is there only while it fails.
  package static let checkName = "process"

  /// The time after which the process is not ready.
  static let readinessLimit = Duration.seconds(10)
  /// The time after which the process is not live: a restart helps.
  static let livenessLimit = Duration.seconds(60)
  /// The time between two questions, in seconds, which are ticks: each wakes every event loop.
  package static let questionInterval = 5

  private struct State {
    var heartbeats: Heartbeats
    /// The parts that the log has as standing still.
    var reported: Set<Heartbeats.Part> = []
    var ticks = 0
    var hasEnded = false
  }

  /// The differences between two judgements.
  private struct Findings {
    var stalls: [Heartbeats.Stall]
    var new: [Heartbeats.Stall]
    var over: Set<Heartbeats.Part>
  }

  private let state: Mutex<State>
  private let question: @Sendable (_ loop: Int, _ answer: @escaping @Sendable () -> Void) -> Void
  private let health: HealthMonitor
  private let logger: Logger

  /// - Parameters:
  ///   - eventLoops: their number.
  ///   - health: gets the check `process`.
  ///   - ask: has an event loop call `answer`.
  package init(
    eventLoops: Int, health: HealthMonitor, logger: Logger,
    ask: @escaping @Sendable (_ loop: Int, _ answer: @escaping @Sendable () -> Void) -> Void
  ) {
    state = Mutex(State(heartbeats: Heartbeats(eventLoops: eventLoops)))
    self.health = health
    self.logger = logger
    question = ask
  }

  /// Called by the timer once a second, on its event loop. The first call begins the periodic tasks.
  package func tick(at now: Heartbeats.Instant = SuspendingClock().now) {
    let asks = state.withLock { state in
      if !state.hasEnded { state.heartbeats.beginPeriodicTasks() }
      defer { state.ticks += 1 }
      return state.ticks % Self.questionInterval == 0
    }
    if asks { ask(at: now) }
    judge(at: now)
  }

  /// Called at each probe, on the event loop of the timer: updates the check.
  package func probe(at now: Heartbeats.Instant = SuspendingClock().now) {
    ask(at: now)
    judge(at: now)
  }

  /// The periodic tasks have run: called by one of them, at ``questionInterval``.
  package func periodicTasksRan() { state.withLock { $0.heartbeats.periodicTasksRan() } }

  /// The periodic tasks end, because the process does.
  package func endPeriodicTasks() {
    state.withLock { state in
      state.hasEnded = true
      state.heartbeats.endPeriodicTasks()
    }
  }

  /// Whether every event loop that was asked has answered within a time, and the periodic tasks within it or within the
  /// limit of readiness. Asks again. For the watchdog, which may be called on any thread.
  package func isBeating(within limit: Duration, at now: Heartbeats.Instant = SuspendingClock().now) -> Bool {
    ask(at: now)
    return state.withLock { state in
      state.heartbeats.stalls(of: limit, periodicTasks: max(limit, Self.readinessLimit), at: now).isEmpty
    }
  }

  private func ask(at now: Heartbeats.Instant) {
    for loop in state.withLock({ $0.heartbeats.ask(at: now) }) {
      question(loop) { [self] in state.withLock { $0.heartbeats.answered(loop) } }
    }
  }

  private func judge(at now: Heartbeats.Instant) {
    let findings = state.withLock { state -> Findings in
      state.heartbeats.observe(at: now)
      let stalls = state.heartbeats.stalls(of: Self.readinessLimit, at: now)
      let before = state.reported
      state.reported = Set(stalls.map(\.part))
      return Findings(
        stalls: stalls, new: stalls.filter { !before.contains($0.part) }, over: before.subtracting(state.reported))
    }
    report(findings.stalls, wasFailing: !findings.over.isEmpty, at: now)
    for stall in findings.new { log(stall, at: now) }
    for part in findings.over { logEnd(of: part) }
  }

  // MARK: Reports

  private func report(_ stalls: [Heartbeats.Stall], wasFailing: Bool, at now: Heartbeats.Instant) {
    guard let first = stalls.first else {
      if wasFailing { health.remove(Self.checkName) }
      return
    }
    let isLive = stalls.allSatisfy { now - $0.since < Self.livenessLimit }
    let seconds = (now - first.since).components.seconds
    let message =
      switch first.part {
      case .eventLoop(let loop): "event loop \(loop) has not answered for \(seconds) s"
      case .periodicTasks: "the periodic tasks have not run for \(seconds) s"
      }
    health.update(
      Self.checkName, .failing, message: "\(message); \(Self.remedy)",
      effect: isLive ? .gatesReadiness : .gatesLiveness, at: .now())
  }

  private static let remedy = "restart the gateway if it goes on, and see whether a disk or a network file system hangs"

  private func log(_ stall: Heartbeats.Stall, at now: Heartbeats.Instant) {
    let since = Self.text(.now(), before: now - stall.since)
    switch stall.part {
    case .eventLoop(let loop):
      logger.error(
        "an event loop does not answer, its connections stand still",
        metadata: ["loop": "\(loop)", "since": "\(since)", "remedy": "\(Self.remedy)"])
    case .periodicTasks:
      logger.error(
        "the periodic tasks of the process stand still",
        metadata: ["since": "\(since)", "remedy": "\(Self.remedy)"])
    }
  }

  private func logEnd(of part: Heartbeats.Part) {
    switch part {
    case .eventLoop(let loop): logger.notice("an event loop answers again", metadata: ["loop": "\(loop)"])
    case .periodicTasks: logger.notice("the periodic tasks of the process run again")
    }
  }

  /// The time of the wall clock before a duration.
  private static func text(_ now: Timestamp, before duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    var text: [UInt8] = []
    Timestamp(microseconds: now.microseconds - microseconds).append(to: &text)
    return String(decoding: text, as: UTF8.self)
  }
}
