/// The health of one address by its health checks; healthy at first.
struct CheckedHealth: Sendable {
  private(set) var isHealthy = true
  private let healthyAfter: Int
  private let unhealthyAfter: Int
  /// Consecutive checks with the other result.
  private var against = 0

  init(_ settings: UpstreamCheckSettings) {
    healthyAfter = max(1, settings.healthyAfter)
    unhealthyAfter = max(1, settings.unhealthyAfter)
  }

  /// Counts the result of a check.
  mutating func record(isGood: Bool) {
    against = isGood == isHealthy ? 0 : against + 1
    guard against >= (isHealthy ? unhealthyAfter : healthyAfter) else { return }
    isHealthy.toggle()
    against = 0
  }
}
