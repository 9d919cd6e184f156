import Logging
import Synchronization
import Testing

@testable import Gateway
@testable import Operations

// Cases: loops that answer; one that hangs, is noticed at ten seconds and at sixty, and answers again; periodic tasks
// that stand still; the watchdog; the rate of questions; the end of the process.

@Suite("Heartbeats, as probes and the log have them")
struct HeartbeatMonitorTests {
  /// Event loops that answer when they are told to.
  private final class Loops: Sendable {
    private let answers = Mutex<[(loop: Int, answer: @Sendable () -> Void)]>([])
    private let questions = Atomic<Int>(0)

    var count: Int { questions.load(ordering: .relaxed) }

    func ask(_ loop: Int, _ answer: @escaping @Sendable () -> Void) {
      questions.add(1, ordering: .relaxed)
      answers.withLock { $0.append((loop, answer)) }
    }

    /// Has all loops answer but one.
    func answer(but hanging: Int? = nil) {
      let due = answers.withLock { answers in
        let due = answers.filter { $0.loop != hanging }
        answers.removeAll { $0.loop != hanging }
        return due
      }
      for (_, answer) in due { answer() }
    }
  }

  private let loops = Loops()
  private let health = HealthMonitor(checks: [])
  private let lines = RecordedLines()
  private let monitor: HeartbeatMonitor
  private let start = SuspendingClock().now

  init() {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["loop"]) }
    monitor = HeartbeatMonitor(eventLoops: 2, health: health, logger: logger) { [loops] in loops.ask($0, $1) }
  }

  private func after(_ seconds: Int) -> Heartbeats.Instant { start.advanced(by: .seconds(seconds)) }

  /// Lets the seconds pass, each with a tick.
  private func pass(_ seconds: ClosedRange<Int>, hanging: Int? = nil, periodicTasksRun: Bool = true) {
    for second in seconds {
      monitor.tick(at: after(second))
      if periodicTasksRun { monitor.periodicTasksRan() }
      loops.answer(but: hanging)
    }
  }

  private var statuses: [Int] { [health.report.livez().status, health.report.readyz().status] }

  private var message: String? { health.report.checks.first { $0.name == "process" }?.message }

  @Test("A process whose loops answer has no check and no line, and each loop is asked every five seconds")
  func healthy() {
    pass(0...99)
    #expect(statuses == [200, 200] && health.report.checks == [])
    #expect(lines.take() == [])
    #expect(loops.count == 2 * 20)
  }

  @Test("A loop that hangs ends readiness after ten seconds and liveness after sixty, until it answers")
  func hangingLoop() {
    pass(0...9, hanging: 1)
    #expect(statuses == [200, 200])
    pass(10...26, hanging: 1)
    #expect(statuses == [200, 503])
    #expect(lines.take() == ["an event loop does not answer, its connections stand still 1"])
    #expect(message?.hasPrefix("event loop 1 has not answered for 26 s; restart the gateway") == true)
    pass(27...59, hanging: 1)
    #expect(statuses == [200, 503])
    pass(60...60, hanging: 1)
    #expect(statuses == [503, 503] && lines.take() == [])
    pass(61...62)
    #expect(statuses == [200, 200] && health.report.checks == [])
    #expect(lines.take() == ["an event loop answers again 1"])
  }

  @Test("Probes alone notice a loop that hangs, from the first one on")
  func probes() {
    for second in stride(from: 0, through: 60, by: 2) {
      monitor.probe(at: after(second))
      loops.answer(but: 0)
      #expect(statuses == [second < 60 ? 200 : 503, second < 10 ? 200 : 503], "\(second)")
    }
  }

  @Test("Periodic tasks that stand still end readiness after ten seconds and liveness after sixty")
  func periodicTasks() {
    pass(0...4)
    pass(5...14, periodicTasksRun: false)
    #expect(statuses == [200, 200])
    pass(15...64, periodicTasksRun: false)
    #expect(statuses == [200, 503])
    #expect(lines.take() == ["the periodic tasks of the process stand still -"])
    pass(65...65, periodicTasksRun: false)
    #expect(statuses == [503, 503])
    #expect(message?.hasPrefix("the periodic tasks have not run for 60 s;") == true)
    pass(66...67)
    #expect(statuses == [200, 200])
    #expect(lines.take() == ["the periodic tasks of the process run again -"])
  }

  @Test("At the end of the process the periodic tasks may stand still")
  func end() {
    pass(0...5)
    monitor.endPeriodicTasks()
    pass(6...100, periodicTasksRun: false)
    #expect(statuses == [200, 200] && lines.take() == [])
  }

  @Test("The watchdog stops with a loop that does not answer within its interval, and with the periodic tasks")
  func watchdog() {
    monitor.tick(at: after(0))
    #expect(monitor.isBeating(within: .seconds(2), at: after(0)))
    loops.answer()
    #expect(monitor.isBeating(within: .seconds(2), at: after(2)))
    #expect(!monitor.isBeating(within: .seconds(2), at: after(4)))
    loops.answer()
    #expect(monitor.isBeating(within: .seconds(2), at: after(6)))
    loops.answer()
    #expect(!monitor.isBeating(within: .seconds(2), at: after(10)), "the periodic tasks have not run for ten seconds")
    monitor.periodicTasksRan()
    loops.answer()
    #expect(monitor.isBeating(within: .seconds(2), at: after(11)))
  }
}
