internal import AppleIdentity
internal import Logging
internal import Operations
internal import WebFormats

/// Limits the lines that failed sign-ins write: ten a minute for each reason, in the log and in the audit log. A
/// stranger can cause thousands a second, and while Apple is down each user causes one. `cordon_sign_ins_total` counts
/// them all.
///
/// Shared by all endpoints; a reload keeps it.
final class SignInFailureLog: Sendable {
  private let lines = LogLimit(lines: 10)
  /// Of the audit log.
  private let audited = LogLimit(lines: 10)
  /// Of the audit log, about banned users, for each client: one of them must not hide another.
  private let banned = LogLimit(lines: 10)
  private let uptime: @Sendable () -> Duration

  init(uptime: @escaping @Sendable () -> Duration = { LogLimit.uptime() }) { self.uptime = uptime }

  /// Asks whether a line of the log may be written now.
  /// - Parameters:
  ///   - failure: the reason of the failed sign-in.
  ///   - key: tells apart lines about the same failure. Never text of a client: others would share the rest.
  /// - Returns: the metadata, with the number of lines that were left out since the last one; nil if it may not.
  func admit(
    _ failure: String, key: String = "", _ metadata: @autoclosure () -> Logger.Metadata
  ) -> Logger.Metadata? {
    guard let suppressed = lines.admit("\(failure) \(key)", at: uptime()) else { return nil }
    var admitted = metadata()
    if suppressed > 0 { admitted["suppressed"] = "\(suppressed)" }
    return admitted
  }

  /// Asks whether a line of the audit log may be written now.
  /// - Parameters:
  ///   - reason: the reason of the failed sign-in.
  ///   - peer: the client's address.
  /// - Returns: the number of lines for this reason that were left out since the last one; nil if it may not.
  func admitAudit(of reason: String, peer: String) -> Int? {
    reason == SignInError.banned.reason
      ? banned.admit(Self.client(peer), at: uptime()) : audited.admit(reason, at: uptime())
  }

  /// The client of an address: all addresses of a /64 network of IPv6 are of one.
  private static func client(_ peer: String) -> String {
    guard let address = IPAddress(peer) else { return peer }
    return String(ClientNetwork(address).bits)
  }
}

extension IdentityTokenError {
  /// The problem, without the name of an algorithm, which a stranger can choose.
  var logKey: String {
    if case .algorithmRefused = self { "algorithm" } else { message }
  }
}

extension AppleServiceError {
  /// The problem, without the pause that Apple asks for, which may differ from one answer to the next.
  var logKey: String {
    if case .throttled = self { "throttled" } else { message }
  }
}
