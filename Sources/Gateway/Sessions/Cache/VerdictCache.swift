internal import AccessPolicy

/// Cached verdicts of a few rules on one user, under one configuration.
struct VerdictCache {
  private static let size = 8

  /// The rule whose verdict each slot holds; -1 for none.
  private var rules = SIMD8<Int32>(repeating: -1)
  private var verdicts = InlineArray<8, RuleVerdict>(repeating: .allowed)
  /// `SessionConfiguration.generation` of all verdicts.
  private var generation = 0

  /// The verdict of a rule under a configuration; nil if it is not cached.
  func find(_ rule: Int, generation: Int) -> RuleVerdict? {
    let place = rule & (Self.size - 1)
    return generation == self.generation && Int(rules[place]) == rule ? verdicts[place] : nil
  }

  /// Caches a verdict, and removes those of other configurations.
  mutating func remember(_ verdict: RuleVerdict, of rule: Int, generation: Int) {
    if generation != self.generation {
      self.generation = generation
      rules = SIMD8(repeating: -1)
    }
    let place = rule & (Self.size - 1)
    rules[place] = Int32(truncatingIfNeeded: rule)
    verdicts[place] = verdict
  }
}
