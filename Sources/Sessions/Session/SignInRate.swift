/// A rate of events for each client address, as in `60/m`.
package struct SignInRate: Sendable, Equatable {
  /// Events for each period: at least 1. So many can happen at once.
  package var count: Int
  package var period: Period

  /// `s`, `m` or `h`.
  package enum Period: String, Sendable, CaseIterable {
    case second = "s"
    case minute = "m"
    case hour = "h"

    package var nanoseconds: UInt64 {
      switch self {
      case .second: 1_000_000_000
      case .minute: 60_000_000_000
      case .hour: 3_600_000_000_000
      }
    }
  }

  package init(count: Int, period: Period) {
    self.count = count
    self.period = period
  }
}
