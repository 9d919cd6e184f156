package import FoundationEssentials

/// Circuit breaker over recent revalidations of all accounts: if many were made and none succeeded, revocations are not
/// applied, so that a configuration error or an outage at Apple never signs everybody out.
///
/// Counts by the minute over the last hour, in memory of constant size; `notSent` is no check.
package struct RevalidationCircuitBreaker: Sendable {
  /// The result of one verdict.
  package struct Judgement: Sendable, Equatable {
    /// The consequence for the user.
    package let consequence: RevalidationAction
    /// To be raised now; the same alarm comes at most once an hour.
    package let alarm: RevalidationAlarm?
  }

  /// So many checks within `window` and no success: all is doubted.
  package static let manyChecks = 20
  /// The span that counts, in minutes.
  package static let windowMinutes = 60

  /// One minute's counts.
  private struct Minute: Sendable {
    var number: Int
    var checks = 0
    var successes = 0
  }

  private var minutes: [Minute] = []
  private var credentialsAlarmed: Date?
  private var noSuccessAlarmed: Date?

  /// Nothing was seen yet.
  package init() {}

  /// Counts a verdict and says what it comes to.
  package mutating func judge(_ verdict: RevalidationResult, at now: Date) -> Judgement {
    if verdict == .notSent { return Judgement(consequence: .releaseLease, alarm: nil) }
    count(verdict, at: now)
    if verdict == .good { return Judgement(consequence: .noteGood, alarm: nil) }
    let isDoubted = allFailing(at: now) != nil
    let consequence: RevalidationAction = verdict == .revoked && !isDoubted ? .endSessions : .keep
    return Judgement(consequence: consequence, alarm: alarm(verdict, at: now))
  }

  /// The number of revalidations within the last hour if there were many and none succeeded, else nil. For health and
  /// metrics.
  package func allFailing(at now: Date) -> Int? {
    let earliest = Self.minute(of: now) - Self.windowMinutes
    let recent = minutes.filter { $0.number > earliest }
    let checks = recent.reduce(0) { $0 + $1.checks }
    guard checks >= Self.manyChecks, recent.allSatisfy({ $0.successes == 0 }) else { return nil }
    return checks
  }

  private mutating func count(_ verdict: RevalidationResult, at now: Date) {
    let number = Self.minute(of: now)
    // A clock that was set back starts over: minutes from the future would never leave.
    minutes.removeAll { $0.number <= number - Self.windowMinutes || $0.number > number }
    if minutes.last?.number != number { minutes.append(Minute(number: number)) }
    minutes[minutes.count - 1].checks += 1
    if verdict == .good { minutes[minutes.count - 1].successes += 1 }
  }

  /// Apple refused our credentials at a sign-in.
  /// - Returns: the alarm, unless it was raised within the hour.
  package mutating func credentialsRefused(at now: Date) -> RevalidationAlarm? {
    guard Self.mayAlarm(after: credentialsAlarmed, at: now) else { return nil }
    credentialsAlarmed = now
    return .credentialsRefused
  }

  private mutating func alarm(_ verdict: RevalidationResult, at now: Date) -> RevalidationAlarm? {
    if let checks = allFailing(at: now), Self.mayAlarm(after: noSuccessAlarmed, at: now) {
      noSuccessAlarmed = now
      return .noCheckSucceeds(checks: checks)
    }
    return verdict == .ourMistake ? credentialsRefused(at: now) : nil
  }

  private static func mayAlarm(after last: Date?, at now: Date) -> Bool {
    guard let last else { return true }
    return abs(now.timeIntervalSince(last)) >= TimeInterval(windowMinutes * 60)
  }

  private static func minute(of now: Date) -> Int {
    Int(now.millisecondsSince1970 / 60_000)
  }
}
