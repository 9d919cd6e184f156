import Logging
import Operations
import Secrets
import Testing

@testable import Gateway

@Suite("The watch of file systems that do not answer")
struct FileStallWatchTests {
  private let lines = RecordedLines()
  private let health = HealthMonitor(checks: [])
  private let watch: FileStallWatch
  // The clock that stands still while the machine sleeps: a laptop that wakes up has no file system that hangs.
  private let began = SuspendingClock.now

  init() {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, ["path"]) }
    watch = FileStallWatch(health: health, logger: logger)
  }

  @Test("A use of ten seconds is told once, on health until it ends, and so is its end")
  func stall() {
    let use = FilesInUse.Use(path: "/net/staff.txt", began: began)
    watch.check(use, at: began + .seconds(9))
    watch.check(nil, at: began + .seconds(9))
    #expect(lines.take() == [] && health.report.checks.isEmpty)
    watch.check(use, at: began + .seconds(10))
    watch.check(use, at: began + .seconds(15))
    #expect(
      lines.take() == ["the file system does not answer, going on with the files as they were read /net/staff.txt"])
    #expect(health.report.checks.map(\.name) == ["files"] && health.report.checks[0].status == .failing)
    #expect(health.report.checks[0].message?.contains("/net/staff.txt") == true)
    watch.check(nil, at: began + .seconds(20))
    watch.check(nil, at: began + .seconds(25))
    #expect(lines.take() == ["the file system answers again /net/staff.txt"] && health.report.checks.isEmpty)
  }
}
