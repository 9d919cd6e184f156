internal import AppleIdentity
internal import Sessions

extension RevalidationResult {
  /// The result of an answer from Apple.
  init(_ answer: RefreshOutcome) {
    self =
      switch answer {
      case .goodStanding: .good
      case .revoked: .revoked
      case .misconfigured, .noSecret: .misconfigured
      case .appleTrouble: .appleTrouble
      case .notSent: .notSent
      }
  }

  /// The name in metrics and in the audit.
  var label: String {
    switch self {
    case .good: "good"
    case .revoked: "revoked"
    case .misconfigured: "misconfigured"
    case .appleTrouble: "unavailable"
    case .notSent: "not_sent"
    }
  }
}
