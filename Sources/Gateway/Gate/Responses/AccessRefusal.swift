internal import AccessPolicy
internal import Pages
internal import Sessions

/// Helpers for refusing a signed-in user who may ask for access.
enum AccessRefusal {
  /// Asks the store for the user's request for access; nil if the store does not answer.
  typealias RequestQuery = @Sendable (Subject) async -> AccessRequestState?

  /// The time for which an event loop caches the request of a session's user, in milliseconds. Asking, admitting and
  /// rejecting end it on every loop of this process.
  static let requestStateLifetime: Int64 = 60_000
  /// The same after the store did not answer.
  static let outageRetryInterval: Int64 = 1_000

  /// Whether membership in a group could change a denial: each rule that denies does so by its lists, which name a
  /// group; neither by a deny list nor by a condition.
  /// - Parameters:
  ///   - table: the rules that the indexes point into.
  ///   - decide: decides by one of the rules.
  static func couldBeLifted(
    _ rules: RuleIndexes, of table: [AccessRules], decide: (_ rule: Int) -> AccessDecision
  ) -> Bool {
    (0..<rules.count).allSatisfy { position in
      guard case .denied(let reason) = decide(rules[position]) else { return true }
      let rule = table[rules[position]]
      switch reason {
      case .notListed, .emailNotVerified, .emailMissing: return rule.namesGroups
      case .emailHidden: return rule.namesGroups && !rule.refusesPrivateEmail
      case .denyListed, .claimNotMet, .emailShown: return false
      }
    }
  }
}
