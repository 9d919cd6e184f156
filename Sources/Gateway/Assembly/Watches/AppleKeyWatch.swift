internal import AppleIdentity
internal import Logging
internal import Operations
internal import Secrets
internal import Synchronization

/// Warns while the file of Apple's key holds another key than the one in use, or none, in the log and on `/healthz`.
///
/// Only a reload takes the new key, together with the configuration: each key of Apple's has an identifier of its own,
/// `apple.key_id`, and Apple refuses one with the identifier of another.
final class AppleKeyWatch: Sendable {
  private let health: HealthMonitor
  private let logger: Logger
  private let last = Mutex<Look?>(nil)
  /// The problem of the file that was logged; nil while it can be used.
  private let logged = Mutex<String?>(nil)

  /// The state of the file that was compared, and the key in use.
  private struct Look {
    let attributes: FileAttributes
    /// Signs with the key in use.
    let mint: ClientSecretMint
  }

  init(health: HealthMonitor, logger: Logger) {
    self.health = health
    self.logger = logger
  }

  /// Looks at the file of the key in use.
  func look(_ reload: Reload) -> FileRounds.Look {
    { [self] in
      check(reload.current.keys.apple)
      return nil
    }
  }

  /// Compares the file with the key in use, if one of both has changed. Reads the file.
  func check(_ apple: AppleIdentityProvider) {
    let path = apple.settings.privateKeyFile
    let look = Look(attributes: FileAttributes([path]), mint: apple.mint)
    let isKnown = last.withLock { last in
      last.map { $0.attributes == look.attributes && $0.mint === look.mint } ?? false
    }
    guard !isKnown else { return }
    let key: ClientSecretKey
    do throws(ClientSecretKeyError) {
      key = try ClientSecretKey(contentsOfFile: path)
    } catch {
      // Half written, or not readable: the key in use stays. What can be read later is compared then.
      if case .file(let problem) = error, problem.isTransient { return }
      last.withLock { $0 = look }
      return reportUnusable(error)
    }
    last.withLock { $0 = look }
    if logged.withLock({ $0.take() }) != nil {
      logger.notice("Apple's key file can be used again", metadata: ["file": "\(path)"])
    }
    guard !apple.signs(with: key) else { return health.remove(Self.checkName) }
    let remedy = "write its identifier to apple.key_id, then reload (cordon reload)"
    health.update(
      Self.checkName, .failing, message: "\(path) has another key than the one in use: \(remedy)", at: .now())
    logger.warning(
      "Apple's key file has another key than the one in use", metadata: ["file": "\(path)", "remedy": "\(remedy)"])
  }

  /// Logs the problem of the file, once, and puts it on `/healthz`.
  private func reportUnusable(_ error: ClientSecretKeyError) {
    let remedy = "\(error.remedy); until then, a restart would fail"
    health.update(
      Self.checkName, .failing, message: "Apple's key file cannot be used: \(error.message): \(remedy)", at: .now())
    let isNew = logged.withLock { logged in
      defer { logged = error.message }
      return logged != error.message
    }
    guard isNew else { return }
    logger.error(
      "Apple's key file cannot be used, keeping the key in use",
      metadata: ["problem": "\(error.message)", "remedy": "\(remedy)"])
  }

  /// The name of the check on `/healthz`, which is there while the file has another key, or none.
  private static let checkName = "apple key"
}
