internal import AccessPolicy
internal import DataPlane
internal import Pages
internal import Sessions

/// A refusal of a signed-in user who may ask for access.
struct AccessRefusal: Sendable {
  let subject: Subject
  /// The page that the user would see otherwise.
  let failure: PageFailure

  /// Answers a refused request, with the way to ask for access. It reads the store.
  typealias Answer = @Sendable (ControlRequest, AccessRefusal) async -> ControlResponse

  /// Whether membership in a group could change a denial: that of a list, but not of a deny list or a condition.
  /// - Parameter rules: those that denied.
  static func isOfLists(_ denial: DenialReason, _ rules: RuleIndexes, of table: [AccessRules]) -> Bool {
    switch denial {
    case .notListed, .emailNotVerified, .emailMissing: true
    case .emailHidden: (0..<rules.count).allSatisfy { !table[rules[$0]].refusesPrivateEmail }
    case .denyListed, .claimNotMet, .emailShown: false
    }
  }
}
