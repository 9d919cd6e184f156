internal import AppleIdentity
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions

/// Logs what an operator should know about revalidations. Messages that concern many accounts are logged once an hour.
/// Failures are logged three times a minute for each reason, with the number of those left out: while Apple is down,
/// each account that is due fails. `cordon_checks_total` counts them all.
final class RevalidationLog: Sendable {
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let hourly = LogLimit(each: .seconds(3_600))
  private let failures = LogLimit(lines: 3)

  init(_ logger: Logger, clock: @escaping @Sendable () -> Date) {
    self.logger = logger
    self.clock = clock
  }

  /// Logs every message again, because the configuration has changed.
  func reset() {
    hourly.reset()
    failures.reset()
  }

  /// Logs an alarm.
  /// - Parameter refusalRemedy: the remedy for Apple's refusal of our credentials, if there was one: to set the clock,
  ///   for instance.
  func raise(_ alarm: RevalidationAlarm, refusalRemedy: String? = nil) {
    let count: Logger.Metadata = alarm.checks.map { ["checks": "\($0)"] } ?? [:]
    let remedy =
      if alarm == .credentialsRefused, let refusalRemedy {
        "\(refusalRemedy), and run `cordon doctor`; reload if the key file was replaced; sessions go on for "
          + "revalidation.grace"
      } else {
        alarm.remedy
      }
    logger.critical("\(alarm.message)", metadata: count.merging(["remedy": "\(remedy)"]) { own, _ in own })
  }

  /// Logs an answer from Apple that an operator should know about.
  func note(_ answer: RefreshOutcome, clientID: String) {
    switch answer {
    case .goodStanding(let standing):
      guard let rejection = standing.rejection, let metadata = admit(rejection.message) else { return }
      guard !rejection.isAppleTrouble else {
        return logger.warning(
          "identity token from revalidation not verified: Apple's keys are unavailable, account remains valid",
          metadata: metadata)
      }
      logger.warning("identity token from revalidation is invalid, account remains valid", metadata: metadata)
    case .revoked: break
    case .misconfigured(let refusal):
      // Once for all users: each of their revalidations fails for the same reason.
      guard isDue("\(refusal.code.rawValue) \(clientID)") else { return }
      logger.error(
        "token revalidation failed: Apple rejects our credentials",
        metadata: [
          "client": "\(clientID)", "error": "\(refusal.code.rawValue)", "reason": "\(refusal.message)",
          "remedy": "\(refusal.refreshRemedy)",
        ])
    case .appleTrouble(let trouble):
      guard let metadata = admit(trouble.message, key: trouble.logKey) else { return }
      logger.warning("token revalidation failed: error response from Apple", metadata: metadata)
    case .notSent(let reason):
      guard let metadata = admit(reason) else { return }
      logger.warning("token revalidation failed: Apple is unreachable", metadata: metadata)
    case .noSecret(let problem):
      guard let metadata = admit(problem.message) else { return }
      logger.error("token revalidation failed: no client secret", metadata: metadata)
    }
  }

  /// Logs that no secret of the configuration decrypts a refresh token.
  func noteMissing(_ key: KeyIdentifier) {
    guard isDue("key \(key)") else { return }
    logger.error(
      "refresh token cannot be decrypted, its key is not in session.secret_files",
      metadata: [
        "key": "\(key)",
        "remedy": "list the same secrets in session.secret_files of every gateway with this store, and reload",
      ])
  }

  /// Logs that a refresh token in the store is damaged.
  func noteDamagedToken(clientID: String) {
    guard isDue("damaged") else { return }
    logger.error(
      "refresh token in the store is damaged, the user has to sign in again after revalidation.grace",
      metadata: [
        "client": "\(clientID)",
        "remedy": "if it is not the only one (cordon_checks_total), check the store's disk and restore a backup",
      ])
  }

  /// Logs that a new refresh token could not be encrypted.
  func noteEncryptionFailure() { logger.error("encrypting a refresh token from revalidation failed") }

  /// Logs that sessions are refused because the grace period of their accounts is over.
  func noteGraceEnd() {
    guard isDue("grace_over") else { return }
    logger.warning(
      "revalidation.grace is over, refusing sessions until Apple confirms the account or the user signs in again",
      metadata: [
        "remedy": "see the check apple of /healthz and earlier messages about token revalidation for the reason"
      ])
  }

  /// Whether a line with this key may be logged now: once an hour.
  private func isDue(_ key: String) -> Bool { hourly.isDue(key, at: now) }

  /// Asks whether a failure may be logged now.
  /// - Parameter key: of the failures that share one limit. Default: the reason.
  /// - Returns: its metadata, with the number of failures that were left out since the last line; nil if it may not.
  private func admit(_ reason: String, key: String? = nil) -> Logger.Metadata? {
    guard let suppressed = failures.admit(key ?? reason, at: now) else { return nil }
    var metadata: Logger.Metadata = ["reason": "\(reason)"]
    if suppressed > 0 { metadata["suppressed"] = "\(suppressed)" }
    return metadata
  }

  private var now: Duration { .milliseconds(clock().millisecondsSince1970) }
}
