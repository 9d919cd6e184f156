public import FoundationEssentials

/// When an account's refresh token is due to be checked with Apple. Pure: the time is passed in.
///
/// Lazy: asked for each request of a signed-in user, and nobody else is ever checked. It only says that a check is due; the
/// right to make it is claimed in the store (`SessionStore.claimCheck`), which has the last word.
public struct CheckSchedule: Sendable {
  /// What a request of this user is to do.
  public enum Decision: Sendable, Equatable {
    /// Go on.
    case fresh
    /// Go on, and have a check made beside the request.
    case dueBesideTheRequest
    /// Past interval and grace without a good answer: wait, `longestWait` at most, for one check. If it is good
    /// go on, otherwise, or if none may be made now, sign in again (`CheckSchedule.mayGoOn` tells, given the
    /// account as the store has it then).
    case overdueMustWait
  }

  /// How long an overdue request waits for the check.
  public static let longestWait = Duration.seconds(10)
  /// Below this interval there is no jitter.
  public static let shortestJitteredInterval = Duration.seconds(3_600)

  private let interval: TimeInterval
  private let grace: TimeInterval

  /// By the settings' interval and grace.
  public init(_ settings: RevalidationSettings) {
    interval = settings.interval.timeInterval
    grace = settings.grace.timeInterval
  }

  /// What a request is to do at `now`.
  ///
  /// - Parameter jitter: 0 to 1, where in the account's window the check falls. The same for one account on every replica,
  ///   or they would not agree; so the default is made of the subject.
  public func decision(account: Account, now: Date, jitter: Double? = nil) -> Decision {
    let age = now.timeIntervalSince(account.lastVerified)
    if age >= deadline(account, jitter) { return .overdueMustWait }
    guard age >= due(account, jitter), mayAsk(account, now) else { return .fresh }
    return .dueBesideTheRequest
  }

  /// Whether sessions of the account still stand without another good answer: the question after an overdue request
  /// waited.
  public func mayGoOn(account: Account, now: Date, jitter: Double? = nil) -> Bool {
    now.timeIntervalSince(account.lastVerified) < deadline(account, jitter)
  }

  /// Nobody asked within the interval, as far as is known here.
  private func mayAsk(_ account: Account, _ now: Date) -> Bool {
    guard let asked = account.lastAsked else { return true }
    return now.timeIntervalSince(asked) >= interval
  }

  /// After a verification, in seconds. Jitter spreads accounts that were verified together over a twenty-fourth of the
  /// interval, and only ever delays.
  private func due(_ account: Account, _ jitter: Double?) -> TimeInterval {
    guard interval >= Self.shortestJitteredInterval.timeInterval else { return interval }
    let fraction = min(max(jitter ?? Self.jitter(of: account.subject), 0), 1)
    return interval + fraction * interval / 24
  }

  /// Never before the check was due at all, however short the grace.
  private func deadline(_ account: Account, _ jitter: Double?) -> TimeInterval {
    max(due(account, jitter), interval + grace)
  }

  /// 0 up to 1, evenly spread over subjects: FNV-1a (32 bits, folded from 64) of the text.
  static func jitter(of subject: Subject) -> Double {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in subject.text.utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
    return Double(UInt32(truncatingIfNeeded: hash ^ hash >> 32)) / Double(UInt64(1) << 32)
  }
}
