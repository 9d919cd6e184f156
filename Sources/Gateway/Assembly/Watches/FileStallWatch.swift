internal import Logging
internal import Operations
internal import Secrets
internal import Synchronization

/// Reports a file system that does not answer: in the log, once, and on `/healthz` until it does.
final class FileStallWatch: Sendable {
  private let health: HealthMonitor
  private let logger: Logger
  /// The path that was reported; nil while files are read as they should be.
  private let reported = Mutex<String?>(nil)

  /// The time that the use of a file may take.
  private static let limit = Duration.seconds(10)
  /// The interval of the check, in seconds.
  private static let interval = 5
  /// The name of the check on `/healthz`, which is there while a file system does not answer.
  private static let checkName = "files"

  init(health: HealthMonitor, logger: Logger) {
    self.health = health
    self.logger = logger
  }

  /// Schedules the check.
  func schedule(in tasks: inout PeriodicTasks) {
    tasks.add(every: Self.interval) { [self] in check(FilesInUse.oldest, at: .now) }
  }

  /// Checks how long the oldest use of a file has lasted.
  func check(_ oldest: FilesInUse.Use?, at now: SuspendingClock.Instant) {
    guard let oldest, now - oldest.began >= Self.limit else {
      guard let path = replaceReported(by: nil) else { return }
      health.remove(Self.checkName)
      logger.notice("the file system answers again", metadata: ["path": "\(path)"])
      return
    }
    guard replaceReported(by: oldest.path) == nil else { return }
    let remedy = "see that what is mounted there answers; until then, changed files are not noticed"
    health.update(
      Self.checkName, .failing, message: "the file system of \(oldest.path) does not answer: \(remedy)", at: .now())
    logger.error(
      "the file system does not answer, going on with the files as they were read",
      metadata: ["path": "\(oldest.path)", "remedy": "\(remedy)"])
  }

  /// - Returns: the path that was reported before.
  private func replaceReported(by path: String?) -> String? {
    reported.withLock { reported in
      defer { reported = path }
      return reported
    }
  }
}
