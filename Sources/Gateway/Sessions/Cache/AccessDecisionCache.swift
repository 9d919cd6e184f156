internal import AccessPolicy

/// Cached decisions of a few rules on one user, under one configuration.
struct AccessDecisionCache {
  private static let size = 8

  /// The rule whose decision each slot holds; -1 for none.
  private var rules = SIMD8<Int32>(repeating: -1)
  private var decisions = InlineArray<8, AccessDecision>(repeating: .allowed)
  /// `SessionConfiguration.generation` of all decisions.
  private var generation = 0

  /// The decision of a rule under a configuration; nil if it is not cached.
  func find(_ rule: Int, generation: Int) -> AccessDecision? {
    let place = rule & (Self.size - 1)
    return generation == self.generation && Int(rules[place]) == rule ? decisions[place] : nil
  }

  /// Caches a decision, and removes those of other configurations.
  mutating func remember(_ decision: AccessDecision, of rule: Int, generation: Int) {
    if generation != self.generation {
      self.generation = generation
      rules = SIMD8(repeating: -1)
    }
    let place = rule & (Self.size - 1)
    rules[place] = Int32(truncatingIfNeeded: rule)
    decisions[place] = decision
  }
}
