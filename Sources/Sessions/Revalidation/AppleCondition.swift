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
    case notSent
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
    /// The last call could not be sent; with the time of the last attempt.
    case unreachable(lastTried: Date)
    /// Errors without an answer of use between them, at most `errorLimit`, and the last one's reason and time.
    case errors(count: Int, reason: String, last: Date)
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

  private var service = Service.unknown
  /// The clients whose credentials were refused, until they are accepted.
  private var refusals: [Refusal] = []
  /// Whether Apple's latest identity token was issued in the future by our clock.
  private var isClockBehind = false

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
    case .notSent: service = .unreachable(lastTried: now)
    }
  }

  /// Notes an identity token with Apple's signature: accepted, or refused because it was issued in the future. Nobody
  /// but Apple can make such a token, so that one is proof of a clock that is behind.
  package mutating func noteIdentityToken(isFromFuture: Bool) { isClockBehind = isFromFuture }

  /// Whether to call Apple now to see whether it can be reached again: it could not be, and nothing has tried for
  /// `probeInterval`. The probe counts as an attempt.
  package mutating func beginProbe(at now: Date) -> Bool {
    guard case .unreachable(let lastTried) = service, Self.isOver(Self.probeInterval, since: lastTried, at: now) else {
      return false
    }
    service = .unreachable(lastTried: now)
    return true
  }

  /// Notes that a probe has reached Apple. It says nothing about our credentials.
  package mutating func noteReachable() {
    if case .unreachable = service { service = .answers }
  }

  /// A time in the future is from a clock that was ahead.
  private static func isOver(_ time: Duration, since start: Date, at now: Date) -> Bool {
    abs(now.timeIntervalSince(start)) >= time.timeInterval
  }

  /// The current report.
  /// - Parameter hold: that of the circuit breaker.
  package func report(_ hold: RevalidationCircuitBreaker.Hold?, at now: Date) -> Report {
    // First: whether a refusal from before still holds cannot be known.
    if case .unreachable = service {
      return .failing(
        "Apple cannot be reached; look at the network and the name service from here, and run `cordon doctor`")
    }
    if let refusal = refusals.last {
      return .failing(
        "Apple refuses our credentials for \(refusal.clientID) (\(refusal.code)): sign-in and "
          + "revalidation are unavailable; \(refusal.remedy), and run `cordon doctor`")
    }
    if isClockBehind {
      return .failing(
        "the system's clock is behind Apple's by more than a minute: identity tokens are refused as issued in the "
          + "future, and nobody can sign in; compare the system's clock (timedatectl), and run `cordon doctor`")
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
        "\(count) revalidations in a row found a user revoked, so revocations are held until one succeeds; see the log")
    }
    switch service {
    case .unknown: return .unknown
    // Not long ago, it has been reported above.
    case .errors(Self.errorLimit, let reason, _):
      return .outdated("\(reason), an hour or more ago; Apple was not called since")
    case .answers, .unreachable, .errors: return .ok
    }
  }

  private mutating func forgetRefusal(of clientID: String) {
    refusals.removeAll { $0.clientID.utf8.elementsEqual(clientID.utf8) }
  }
}
