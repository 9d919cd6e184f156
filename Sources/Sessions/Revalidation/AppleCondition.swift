package import FoundationEssentials

/// The state of Apple from recent revalidations and sign-ins, for health checks: whether it is reachable and accepts
/// our credentials, and whether we can accept its identity tokens.
package struct AppleCondition: Sendable {
  /// The result of one call regarding connection and credentials.
  package enum Contact: Sendable, Equatable {
    /// Apple accepted our credentials.
    case accepted
    /// Apple refused our credentials, or they could not be made.
    case refused(code: String, remedy: String)
    /// An error at Apple, or no answer, which says nothing about our credentials.
    case inconclusive(reason: String)
    /// The request cannot have reached Apple.
    case notSent(reason: String)
  }

  /// The report for health checks.
  package enum Report: Sendable, Equatable {
    /// Apple has not been asked yet.
    case unknown
    /// The last calls failed so long ago that nothing is known of now; with what they showed.
    case outdated(String)
    /// Apple answers, and accepts our credentials.
    case ok
    /// The problem and its remedy.
    case failing(String)
  }

  /// Apple's service as the last calls found it.
  private enum Service {
    case unknown, answers
    /// The last call could not be sent; with its reason and the time of the last attempt.
    case unreachable(reason: String, lastTried: Date)
    /// Errors without an answer of use between them, at most `errorLimit`, and the last one's reason and time.
    case errors(count: Int, reason: String, last: Date)
  }

  /// Apple's public keys, as the last sign-ins and revalidations found them.
  private enum Keys {
    /// Available, or not needed so far.
    case available
    /// Not available for so many tokens in a row, at most `errorLimit`, with the last one's reason and time.
    case missing(count: Int, reason: String, last: Date)
  }

  private struct Refusal {
    let clientID: String
    let code: String
    let remedy: String
  }

  /// The largest number of refused clients that are remembered.
  private static let refusalLimit = 16

  /// The number of errors in a row that are reported: a single one says little.
  private static let errorLimit = 3

  /// The pause after the last attempt to reach Apple before a probe tries again.
  package static let probeInterval = Duration.seconds(60)

  /// The time for which errors count without another call.
  package static let errorLifetime = Duration.seconds(3_600)

  /// The seconds by which our clock may be behind Apple's, so that its tokens are not issued in the future.
  private static let clockTolerance: TimeInterval = 60

  private var service = Service.unknown
  /// Beside `service`: while the keys are missing, the token endpoint may answer as usual, but nobody can sign in.
  private var keys = Keys.available
  /// The clients whose credentials were refused, until they are accepted.
  private var refusals: [Refusal] = []
  /// Since Apple's latest identity token was issued in the future by our clock: when the clocks were compared last.
  private var clockWasBehind: Date?

  /// The state before the first call.
  package init() {}

  /// Notes the result of a call in the name of a client.
  package mutating func note(_ contact: Contact, clientID: String, at now: Date) {
    switch contact {
    case .accepted:
      service = .answers
      forgetRefusal(of: clientID)
    case .refused(let code, let remedy):
      service = .answers
      forgetRefusal(of: clientID)
      if refusals.count == Self.refusalLimit { refusals.removeFirst() }
      refusals.append(Refusal(clientID: clientID, code: code, remedy: remedy))
    case .inconclusive(let reason):
      var count = 1
      if case .errors(let before, _, _) = service { count = min(before + 1, Self.errorLimit) }
      service = .errors(count: count, reason: reason, last: now)
    case .notSent(let reason): service = .unreachable(reason: reason, lastTried: now)
    }
  }

  /// Notes an identity token with Apple's signature, or a notification: accepted, or refused because it was issued in
  /// the future. Nobody but Apple can make such a token, so that one is proof of a clock that is behind.
  package mutating func noteIdentityToken(isFromFuture: Bool, at now: Date) {
    clockWasBehind = isFromFuture ? now : nil
    keys = .available
  }

  /// Notes that Apple's keys could not be fetched for an identity token.
  package mutating func noteMissingKeys(reason: String, at now: Date) {
    var count = 1
    if case .missing(let before, _, _) = keys { count = min(before + 1, Self.errorLimit) }
    keys = .missing(count: count, reason: reason, last: now)
  }

  /// Notes that a probe could not fetch Apple's keys: why they are missing now, or why Apple cannot be reached.
  /// - Parameter isUnsent: whether the probe cannot have reached Apple.
  package mutating func noteProbeFailed(reason: String, isUnsent: Bool, at now: Date) {
    if case .missing = keys { noteMissingKeys(reason: reason, at: now) }
    if isUnsent, case .unreachable = service { service = .unreachable(reason: reason, lastTried: now) }
  }

  /// Whether ``beginProbe(at:)`` would begin one.
  package func isProbeDue(at now: Date) -> Bool {
    var probed = self
    return probed.beginProbe(at: now)
  }

  /// Whether to fetch Apple's keys now, to see whether it can be reached again, or has keys again, or whether our clock
  /// was set: nothing has tried for `probeInterval`. The probe counts as an attempt.
  package mutating func beginProbe(at now: Date) -> Bool {
    var isDue = false
    if case .unreachable(let reason, let lastTried) = service,
      Self.isOver(Self.probeInterval, since: lastTried, at: now)
    {
      service = .unreachable(reason: reason, lastTried: now)
      isDue = true
    }
    if case .missing(let count, let reason, let last) = keys, Self.isOver(Self.probeInterval, since: last, at: now) {
      keys = .missing(count: count, reason: reason, last: now)
      isDue = true
    }
    if let compared = clockWasBehind, Self.isOver(Self.probeInterval, since: compared, at: now) {
      clockWasBehind = now
      isDue = true
    }
    return isDue
  }

  /// Notes that a probe has reached Apple, and got its keys. It says nothing about our credentials.
  /// - Parameter clockDifference: that of our clock to Apple's in seconds, negative if ours is behind; nil if unknown.
  package mutating func noteReachable(clockDifference: TimeInterval?) {
    if case .unreachable = service { service = .answers }
    keys = .available
    if let clockDifference, clockDifference > -Self.clockTolerance { clockWasBehind = nil }
  }

  /// A time in the future is from a clock that was ahead.
  private static func isOver(_ time: Duration, since start: Date, at now: Date) -> Bool {
    abs(now.timeIntervalSince(start)) >= time.timeInterval
  }

  /// The current report.
  /// - Parameter hold: that of the circuit breaker.
  package func report(_ hold: RevalidationCircuitBreaker.Hold?, at now: Date) -> Report {
    // First: whether a refusal from before still holds cannot be known.
    if case .unreachable(let reason, _) = service {
      return .failing(
        "Apple cannot be reached: \(reason); if that does not name the cause, look at the network and the name service "
          + "from here, and run `cordon doctor`")
    }
    if let refusal = refusals.last {
      return .failing(
        "Apple refuses our credentials for \(refusal.clientID) (\(refusal.code)): sign-in and "
          + "revalidation are unavailable; \(refusal.remedy), and run `cordon doctor`" + laterTrouble(at: now))
    }
    if clockWasBehind != nil {
      return .failing(
        "the system's clock is behind Apple's by more than a minute: identity tokens are refused as issued in the "
          + "future, and nobody can sign in; compare the system's clock (timedatectl), and run `cordon doctor`"
          + laterTrouble(at: now))
    }
    // A probe each minute keeps this up to date.
    if case .missing(Self.errorLimit, let reason, _) = keys {
      return .failing(
        "\(reason), as before: identity tokens cannot be verified, so that nobody can sign in, unless the token's key "
          + "is known from before; signed-in users are still served; look at Apple's System Status page and at what "
          + "answers for Apple here (apple.proxy), and run `cordon doctor`")
    }
    if case .errors(Self.errorLimit, let reason, let last) = service,
      !Self.isOver(Self.errorLifetime, since: last, at: now)
    {
      return .failing(
        "\(reason), as before: sign-in and revalidation are unavailable, signed-in users are still served; look at "
          + "Apple's System Status page, and run `cordon doctor`")
    }
    switch hold {
    case nil: break
    case .noSuccess(let checks):
      return .failing(
        "not one of \(checks) revalidations within the hour succeeded, so revocations are held; run `cordon doctor`")
    case .revoked(let count):
      return .failing(
        "\(count) revalidations in a row found a user revoked within a week, so revocations are held until one "
          + "succeeds or the week is over; see the log")
    }
    switch service {
    case .unknown: return .unknown
    // Not long ago, it has been reported above.
    case .errors(Self.errorLimit, let reason, _):
      return .outdated("\(reason), an hour or more ago; Apple was not called since")
    case .answers, .unreachable, .errors: return .ok
    }
  }

  /// Appended to a problem that only another answer of Apple's can end: the trouble that keeps that answer away.
  private func laterTrouble(at now: Date) -> String {
    if case .missing(_, let reason, _) = keys { return "; the latest trouble: \(reason)" }
    if case .errors(_, let reason, let last) = service, !Self.isOver(Self.errorLifetime, since: last, at: now) {
      return "; the latest trouble: \(reason)"
    }
    return ""
  }

  private mutating func forgetRefusal(of clientID: String) {
    refusals.removeAll { $0.clientID.utf8.elementsEqual(clientID.utf8) }
  }
}
