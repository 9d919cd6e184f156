internal import AccessPolicy

/// The verdicts on one user of a few rules, under one configuration: what was worked out for a request holds for the
/// next.
struct VerdictCache {
  private static let size = 8

  /// The rule whose verdict each place holds; -1 for none.
  private var rules = SIMD8<Int32>(repeating: -1)
  private var verdicts = InlineArray<8, RuleVerdict>(repeating: .allowed)
  /// `SessionConfiguration.generation` of all verdicts.
  private var generation = 0

  /// The verdict of a rule under a configuration; nil if it is not remembered.
  func find(_ rule: Int, generation: Int) -> RuleVerdict? {
    let place = rule & (Self.size - 1)
    return generation == self.generation && Int(rules[place]) == rule ? verdicts[place] : nil
  }

  /// Remembers a verdict, and forgets those of other configurations.
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
