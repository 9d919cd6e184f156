package import FoundationEssentials

/// The schedule of revalidations: when an account's refresh token is due to be checked with Apple. A pure function of
/// the time that is passed in.
///
/// Times that are a day or more ahead are ignored: they were written by a wrong clock.
///
/// Lazy: evaluated for each request of a signed-in user, so that accounts without requests are not revalidated. It only
/// says that a revalidation is due; whether it may be made is decided by the lease in the store
/// (`RevalidationLeaseStore.acquireLease`).
package struct RevalidationSchedule: Sendable {
  /// The action for a request of this user.
  package enum Decision: Sendable, Equatable {
    /// Continue.
    case fresh
    /// Continue, and revalidate in the background.
    case background
    /// No attempt was made to check the account for interval and grace, or the grace since the first failed attempt is
    /// over: wait, `longestWait` at most, for one check. Afterwards `mayGoOn` decides, given the account as the store
    /// has it then.
    case blocking
  }

  /// The time that an overdue request waits for the revalidation.
  package static let longestWait = Duration.seconds(10)
  /// Below this interval there is no jitter.
  package static let shortestJitteredInterval = Duration.seconds(3_600)

  private let interval: TimeInterval
  private let grace: TimeInterval

  /// By the settings' interval and grace.
  package init(_ settings: RevalidationSettings) {
    interval = settings.interval.timeInterval
    grace = settings.grace.timeInterval
  }

  /// The action for a request at `now`.
  ///
  /// - Parameter jitter: the position in the account's window, 0 to 1. It must be the same on every replica, so the
  ///   default is derived from the subject.
  package func decision(account: Account, now: Date, jitter: Double? = nil) -> Decision {
    let age = now.timeIntervalSince(account.lastVerified.credible(at: now) ?? .distantPast)
    guard age >= due(account, jitter) else { return .fresh }
    guard mayGoOn(account: account, now: now) else { return .blocking }
    guard mayAsk(account: account, now: now) else {
      return age >= interval + grace && isFirstAttemptUnderWay(account, now) ? .blocking : .fresh
    }
    // A user who was away, without known failures: one who has withdrawn consent at Apple must not get another request
    // through.
    let isLate = age >= interval + grace && account.failingSince(at: now) == nil
    return isLate ? .blocking : .background
  }

  /// Whether sessions of the account are still valid without another successful check: grace counts from the first
  /// failed attempt to check the account since the last good answer. Without an attempt, time alone ends no session.
  ///
  /// A grace that is at least the interval ends with an attempt that fails after it, not between two attempts: the
  /// error may be over since the last one, and Apple must not be asked again within the interval.
  package func mayGoOn(account: Account, now: Date) -> Bool {
    guard let failing = account.failingSince(at: now) else { return true }
    if now.timeIntervalSince(failing) < grace { return true }
    guard grace >= interval, let asked = account.lastAsked?.credible(at: now) else { return false }
    return asked.timeIntervalSince(failing) < grace && !mayAsk(account: account, now: now)
  }

  /// Whether no revalidation was made within the interval, as far as is known here.
  package func mayAsk(account: Account, now: Date) -> Bool {
    guard let asked = account.lastAsked?.credible(at: now) else { return true }
    return now.timeIntervalSince(asked) >= interval
  }

  /// Whether the first attempt to check the account since Apple last confirmed it may still be waiting for Apple's
  /// answer, perhaps in another process.
  private func isFirstAttemptUnderWay(_ account: Account, _ now: Date) -> Bool {
    guard let asked = account.lastAsked, account.failingSince(at: now) == asked else { return false }
    return account.isLeaseYoung(at: now)
  }

  /// After a verification, in seconds. Jitter spreads accounts that were verified together over a twenty-fourth of the
  /// interval, and only ever delays.
  private func due(_ account: Account, _ jitter: Double?) -> TimeInterval {
    guard interval >= Self.shortestJitteredInterval.timeInterval else { return interval }
    let fraction = min(max(jitter ?? Self.jitter(of: account.subject), 0), 1)
    return interval + fraction * interval / 24
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

extension Account {
  /// The longest time that a revalidation waits for Apple's answer.
  package static let longestAnswer = Duration.seconds(12)

  /// Whether a lease was acquired so recently that its holder may still be waiting for Apple's answer, and no answer
  /// has been recorded since.
  package func isLeaseYoung(at now: Date) -> Bool {
    switch lastAnswer {
    // With a good answer the account would not be failing: an older version, whose leases keep the answer before, has
    // acquired this one.
    case nil, .good: break
    case .noGoodAnswer, .revoked: return false
    }
    guard let asked = lastAsked?.credible(at: now), failingSince(at: now) != nil else { return false }
    // Clocks may differ a little.
    return (-1..<Self.longestAnswer.timeInterval).contains(now.timeIntervalSince(asked))
  }

  /// The time when Apple was first asked, or was to be asked, since the last good answer; nil if it was not. A lease
  /// counts from the moment it is acquired; only a good answer or a sign-in resets it.
  package func failingSince(at now: Date) -> Date? {
    let verified = lastVerified.credible(at: now) ?? .distantPast
    if let since = checkFailingSince?.credible(at: now), since >= verified { return since }
    // From before `checkFailingSince` was stored.
    if let asked = lastAsked?.credible(at: now), asked > verified { return asked }
    return nil
  }
}
