internal import IdentityAssertion
internal import Logging
internal import Operations
internal import Secrets
internal import Sessions
internal import Synchronization

/// Warns while a file of secrets that only a start or a reload reads is missing: in the log, once for each change, and
/// on `/healthz`. The secrets that were read from it stay in use, so that nobody would notice before the restart.
final class KeyFilesWatch: Sendable {
  private let health: HealthMonitor
  private let logger: Logger
  /// The paths that were missing at the last look.
  private let missing = Mutex<[String]>([])

  /// The name of the check on `/healthz`, which is there while a file is missing.
  private static let checkName = "secret files"
  private static let remedy = "put it back, or correct the path and reload; until then, a restart would fail"

  init(health: HealthMonitor, logger: Logger) {
    self.health = health
    self.logger = logger
  }

  /// Looks at the files of the configuration in effect. Apple's key has a watch of its own, see ``AppleKeyWatch``.
  func look(_ reload: Reload) -> FileRounds.Look {
    { [self] in
      let settings = reload.current.settings
      check(
        settings.session.secretFiles + settings.assertion.keyFiles + (settings.admin.tokenFile.map { [$0] } ?? []))
      return nil
    }
  }

  /// Looks at the files.
  func check(_ paths: [String]) {
    let gone = FileAttributes(paths).missing
    let before = missing.withLock { missing in
      defer { missing = gone }
      return missing
    }
    guard gone != before else { return }
    for path in gone where !before.contains(path) {
      logger.error(
        "a file of secrets is missing, keeping the secrets in use",
        metadata: ["file": "\(path)", "remedy": "\(Self.remedy)"])
    }
    for path in before where !gone.contains(path) && paths.contains(path) {
      logger.notice("a file of secrets is there again", metadata: ["file": "\(path)"])
    }
    guard !gone.isEmpty else { return health.remove(Self.checkName) }
    health.update(
      Self.checkName, .failing, message: "\(gone.joined(separator: ", ")) is missing: \(Self.remedy)", at: .now())
  }
}
