/// What a row of checks says of one address. Until they say otherwise it is well.
struct HealthCheckResult: Sendable {
  private(set) var isWell = true
  private let healthyAfter: Int
  private let unhealthyAfter: Int
  /// Checks in a row that speak against the verdict.
  private var against = 0

  init(_ settings: UpstreamCheckSettings) {
    healthyAfter = max(1, settings.healthyAfter)
    unhealthyAfter = max(1, settings.unhealthyAfter)
  }

  /// - Parameter isGood: how the check went.
  mutating func record(_ isGood: Bool) {
    against = isGood == isWell ? 0 : against + 1
    guard against >= (isWell ? unhealthyAfter : healthyAfter) else { return }
    isWell.toggle()
    against = 0
  }
}
