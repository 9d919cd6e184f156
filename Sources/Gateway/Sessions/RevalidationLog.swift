internal import AppleIdentity
internal import FoundationEssentials
internal import Logging
internal import Operations
internal import Sessions

/// Logs what an operator should know about revalidations. Messages that concern many accounts are logged once an hour.
final class RevalidationLog: Sendable {
  private let logger: Logger
  private let clock: @Sendable () -> Date
  private let hourly = LogLimit(each: .seconds(3_600))

  init(_ logger: Logger, clock: @escaping @Sendable () -> Date) {
    self.logger = logger
    self.clock = clock
  }

  /// Logs every message again, because the configuration has changed.
  func reset() { hourly.reset() }

  /// Logs an alarm.
  func raise(_ alarm: RevalidationAlarm) {
    let count: Logger.Metadata = alarm.checks.map { ["checks": "\($0)"] } ?? [:]
    logger.critical("\(alarm.message)", metadata: count.merging(["remedy": "\(alarm.remedy)"]) { own, _ in own })
  }

  /// Logs an answer from Apple that an operator should know about.
  func note(_ answer: RefreshVerdict, clientID: String) {
    switch answer {
    case .goodStanding(let standing):
      guard let rejection = standing.rejection else { return }
      guard !rejection.isAppleTrouble else {
        return logger.warning(
          "identity token from revalidation not verified: Apple's keys are unavailable, account remains valid",
          metadata: ["reason": "\(rejection.message)"])
      }
      logger.warning(
        "identity token from revalidation is invalid, account remains valid",
        metadata: ["reason": "\(rejection.message)"])
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
      logger.warning("token revalidation failed: error response from Apple", metadata: ["reason": "\(trouble.message)"])
    case .notSent(let reason):
      logger.warning("token revalidation failed: Apple is unreachable", metadata: ["reason": "\(reason)"])
    case .noSecret(let problem):
      logger.error("token revalidation failed: no client secret", metadata: ["reason": "\(problem.message)"])
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
  private func isDue(_ key: String) -> Bool { hourly.isDue(key, at: .milliseconds(clock().millisecondsSince1970)) }
}
