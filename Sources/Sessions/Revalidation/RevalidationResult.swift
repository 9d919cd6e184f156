/// The meaning of Apple's answer to a refresh.
package enum RevalidationResult: Sendable, Equatable, CaseIterable {
  /// 200: in good standing.
  case good
  /// 400 `invalid_grant`: revoked, or the password changed.
  case revoked
  /// Another error code, such as `invalid_client`: our key, team or client identifier is wrong. Or no client secret
  /// could be made.
  case misconfigured
  /// 429, 5xx, a time-out, or an answer that cannot be understood: an error at Apple.
  case appleTrouble
  /// The request cannot have reached Apple: connection refused, name not found. Only this may be retried.
  case notSent
}

/// The action that a result requires.
package enum RevalidationAction: Sendable, Equatable {
  /// Record the good answer.
  case recordGood
  /// End the sessions that depend on this token.
  case endSessions
  /// Sessions stay valid for the grace period; the account is revalidated again after the interval.
  case keep
  /// Release the lease; a retry is possible after a pause (`ReachabilityBackoff`).
  case releaseLease
}

/// An alarm for the operator.
package enum RevalidationAlarm: Sendable, Equatable {
  /// Apple refuses our key, team or client identifier.
  case credentialsRefused
  /// Revocations are not applied.
  case revocationsHeld(RevalidationCircuitBreaker.Hold)
  /// Apple's identity tokens were issued in the future by our clock.
  case clockBehind

  /// The log message; a constant.
  package var message: String {
    switch self {
    case .credentialsRefused: "Apple rejects our credentials, revalidation is unavailable"
    case .revocationsHeld(.noSuccess): "no revalidation succeeded within an hour, revocations are not applied"
    case .revocationsHeld(.revoked): "one user after the other is revoked at Apple, revocations are not applied"
    case .clockBehind: "the system's clock is behind Apple's, nobody can sign in"
    }
  }

  /// The number of revalidations, if the alarm depends on it.
  package var checks: Int? {
    switch self {
    case .credentialsRefused, .clockBehind: nil
    case .revocationsHeld(.noSuccess(let checks)), .revocationsHeld(.revoked(inARow: let checks)): checks
    }
  }

  /// The remedy.
  package var remedy: String {
    switch self {
    case .credentialsRefused, .revocationsHeld(.noSuccess):
      "run `cordon doctor` and compare apple.client_id, apple.team_id, apple.key_id and the key file with the "
        + "developer account, and reload if the key file was replaced; sessions go on for revalidation.grace"
    case .revocationsHeld(.revoked):
      "ask some of these users (audit event check) whether they stopped using the application; if they did not, look "
        + "whether its team or primary App ID has changed, and at Apple's System Status page; sessions go on for "
        + "revalidation.grace, and the next success, or a week, has revocations applied again"
    case .clockBehind:
      "compare the system's clock with another one and set it: timedatectl set-ntp true; `cordon doctor` has the "
        + "difference"
    }
  }
}
