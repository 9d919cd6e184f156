package import FoundationEssentials

/// Circuit breaker over recent revalidations of all accounts: revocations are not applied if many revalidations were
/// made and none succeeded, or if many in a row found a user revoked, so that a configuration error or an outage at
/// Apple never signs everybody out. One success closes it.
///
/// Counts by the minute over the last hour, and revocations by the hour over the last week, in memory of constant size;
/// `notSent` is not counted, and `misconfigured` only for its own client: it says nothing of the others.
package struct RevalidationCircuitBreaker: Sendable {
  /// The decision on one result.
  package struct Decision: Sendable, Equatable {
    /// The action for the account.
    package let action: RevalidationAction
    /// The alarm to raise now; each at most once an hour.
    package let alarm: RevalidationAlarm?
  }

  /// The reason why revocations are held.
  package enum Hold: Sendable, Equatable {
    /// None of so many revalidations within the hour succeeded.
    case noSuccess(checks: Int)
    /// So many revalidations found a user revoked within a week, with no success between.
    case revoked(inARow: Int)
  }

  /// The number of revalidations within `windowMinutes` that, without a success, open the breaker.
  package static let manyChecks = 20
  /// The number of revalidations in a row that may find a user revoked, within `revokedWindowHours` and with no success
  /// between. More are unlikely by chance: about one user in a thousand withdraws consent on a day. So few that a site
  /// with a handful of accounts keeps most of them, too, and so does one whose gateway is restarted meanwhile, which
  /// counts from there.
  package static let mostRevokedInARow = 2
  /// The length of the window, in minutes.
  package static let windowMinutes = 60
  /// The time for which a revocation counts as one of several in a row, in hours: a week. On a site with few users days
  /// pass between two revalidations, so that an hour would show none; revocations that are weeks apart are no sign of
  /// an error at Apple.
  package static let revokedWindowHours = 7 * 24

  /// One minute's counts.
  private struct Minute: Sendable {
    var number: Int
    /// Without those below.
    var checks = 0
    var successes = 0
    /// Those that found a client's credentials refused.
    var misconfigured: [String: Int] = [:]
  }

  /// The revocations of one hour.
  private struct Hour: Sendable {
    let number: Int
    var revoked = 0
  }

  private var minutes: [Minute] = []
  /// Those since the last success.
  private var revocations: [Hour] = []
  private var credentialsAlarmed: Date?
  private var holdAlarmed: Date?

  /// A breaker without any results.
  package init() {}

  /// Counts a result and decides what follows from it.
  /// - Parameter clientID: the client of the token.
  package mutating func evaluate(_ result: RevalidationResult, of clientID: String, at now: Date) -> Decision {
    if result == .notSent { return Decision(action: .releaseLease, alarm: nil) }
    count(result, of: clientID, at: now)
    if result == .good {
      revocations = []
      return Decision(action: .recordGood, alarm: nil)
    }
    if result == .revoked { countRevocation(at: now) }
    let hold = hold(of: clientID, at: now)
    let action: RevalidationAction = result == .revoked && hold == nil ? .endSessions : .keep
    return Decision(action: action, alarm: alarm(result, hold, at: now))
  }

  /// The reason why revocations are held now; nil if they are applied.
  /// - Parameter clientID: the client whose revocations are meant; nil for any.
  package func hold(of clientID: String? = nil, at now: Date) -> Hold? {
    if let checks = allFailing(of: clientID, at: now) { return .noSuccess(checks: checks) }
    let revoked = revokedInARow(at: now)
    return revoked > Self.mostRevokedInARow ? .revoked(inARow: revoked) : nil
  }

  /// The revocations of the last week since the last success.
  private func revokedInARow(at now: Date) -> Int {
    let earliest = Self.hour(of: now) - Self.revokedWindowHours
    return revocations.reduce(0) { $1.number > earliest ? $0 + $1.revoked : $0 }
  }

  private mutating func countRevocation(at now: Date) {
    let number = Self.hour(of: now)
    // As in `count`.
    revocations.removeAll { $0.number <= number - Self.revokedWindowHours || $0.number > number }
    if revocations.last?.number != number { revocations.append(Hour(number: number)) }
    revocations[revocations.count - 1].revoked += 1
  }

  /// The number of revalidations within the last hour if there were many and none succeeded, else nil.
  private func allFailing(of clientID: String?, at now: Date) -> Int? {
    let earliest = Self.minute(of: now) - Self.windowMinutes
    let recent = minutes.filter { $0.number > earliest }
    guard recent.allSatisfy({ $0.successes == 0 }) else { return nil }
    var misconfigured: [String: Int] = [:]
    for minute in recent { misconfigured.merge(minute.misconfigured, uniquingKeysWith: +) }
    let own = if let clientID { misconfigured[clientID] ?? 0 } else { misconfigured.values.max() ?? 0 }
    let checks = recent.reduce(own) { $0 + $1.checks }
    return checks >= Self.manyChecks ? checks : nil
  }

  private mutating func count(_ result: RevalidationResult, of clientID: String, at now: Date) {
    let number = Self.minute(of: now)
    // A clock that was set back starts over: minutes from the future would never leave.
    minutes.removeAll { $0.number <= number - Self.windowMinutes || $0.number > number }
    if minutes.last?.number != number { minutes.append(Minute(number: number)) }
    if result == .misconfigured {
      minutes[minutes.count - 1].misconfigured[clientID, default: 0] += 1
    } else {
      minutes[minutes.count - 1].checks += 1
    }
    if result == .good { minutes[minutes.count - 1].successes += 1 }
  }

  /// Notes that Apple refused our credentials at a sign-in.
  /// - Returns: the alarm, unless it was raised within the hour.
  package mutating func credentialsRefused(at now: Date) -> RevalidationAlarm? {
    guard Self.mayAlarm(after: credentialsAlarmed, at: now) else { return nil }
    credentialsAlarmed = now
    return .credentialsRefused
  }

  private mutating func alarm(_ result: RevalidationResult, _ hold: Hold?, at now: Date) -> RevalidationAlarm? {
    if let hold, Self.mayAlarm(after: holdAlarmed, at: now) {
      holdAlarmed = now
      return .revocationsHeld(hold)
    }
    return result == .misconfigured ? credentialsRefused(at: now) : nil
  }

  private static func mayAlarm(after last: Date?, at now: Date) -> Bool {
    guard let last else { return true }
    return abs(now.timeIntervalSince(last)) >= TimeInterval(windowMinutes * 60)
  }

  private static func minute(of now: Date) -> Int {
    Int(now.millisecondsSince1970 / 60_000)
  }

  private static func hour(of now: Date) -> Int {
    Int(now.millisecondsSince1970 / 3_600_000)
  }
}
