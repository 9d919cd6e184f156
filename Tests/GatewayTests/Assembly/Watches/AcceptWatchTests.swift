import Logging
import Operations
import Testing

@testable import DataPlane
@testable import Gateway

// A short shortage, one that lasts, its end, one that comes and goes, and one in which clients are accepted late.

@Suite("Readiness while no connection can be accepted")
struct AcceptWatchTests {
  private let descriptors = DescriptorBudget(limit: 256, others: 64)
  private let health = HealthMonitor(checks: [])
  private let lines = RecordedLines()
  private let watch: AcceptWatch
  private let start = SuspendingClock().now

  init() {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, []) }
    watch = AcceptWatch(descriptors: descriptors, health: health, logger: logger)
  }

  /// Looks once in each of the seconds, and returns whether the gateway was ready after each.
  private func readiness(in seconds: Range<Int>, isPaused: (Int) -> Bool) -> [Bool] {
    seconds.map { second in
      let change = (isPaused(second) ? 1 : 0) - descriptors.pausedSockets
      if change != 0 { descriptors.changePausedSockets(by: change) }
      watch.check(at: start + .seconds(second))
      return health.report.isReady
    }
  }

  @Test("Readiness ends when a shortage has lasted for ten seconds, and begins when none was there for thirty")
  func shortage() {
    #expect(readiness(in: 0..<10) { _ in true }.allSatisfy { $0 })
    #expect(lines.take() == [])
    #expect(readiness(in: 10..<100) { _ in true }.allSatisfy { !$0 })
    #expect(lines.take() == ["no connection was accepted for 10 s, answering 503 at /readyz "])
    #expect(health.report.readyz().status == 503 && health.report.livez().status == 200)
    #expect(health.report.checks.first?.message?.contains("LimitNOFILE=") == true)
    #expect(readiness(in: 100..<130) { _ in false }.allSatisfy { !$0 })
    #expect(readiness(in: 130..<140) { _ in false }.allSatisfy { $0 } && health.report.checks.isEmpty)
    #expect(lines.take() == ["connections are accepted again, /readyz no longer fails for it "])
  }

  @Test("Readiness does not flap while a shortage comes and goes")
  func flapping() {
    #expect(readiness(in: 0..<100) { $0 % 9 != 8 }.allSatisfy { $0 }, "some connections are accepted")
    #expect(readiness(in: 100..<120) { _ in true }.last == false)
    #expect(readiness(in: 120..<300) { $0 % 20 == 0 }.allSatisfy { !$0 }, "it would be short again")
    #expect(lines.take().count == 1)
  }

  @Test("Readiness does not end while clients are accepted between the looks, nor begin while they wait for that")
  func lateClients() {
    func isPaused(at second: Int) -> Bool {
      if second % 9 == 0 { descriptors.acceptedLate() }
      return true
    }
    #expect(readiness(in: 0..<100, isPaused: isPaused).allSatisfy { $0 } && lines.take() == [])
    #expect(readiness(in: 100..<120) { _ in true }.last == false)
    #expect(readiness(in: 120..<200, isPaused: isPaused).allSatisfy { !$0 })
  }

  @Test("A gateway that shuts down does not say that it accepts connections again")
  func shutdown() {
    #expect(readiness(in: 0..<20) { _ in true }.last == false && lines.take().count == 1)
    health.beginDraining()
    #expect(readiness(in: 20..<60) { _ in false }.allSatisfy { !$0 })
    #expect(lines.take() == [] && health.report.checks.isEmpty)
  }
}
