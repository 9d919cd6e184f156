/// A rate of events for each client address, as in `60/m`.
package struct SignInRate: Sendable, Equatable {
  /// Events for each period, which is also the burst: at least 1.
  package var count: Int
  /// The period.
  package var period: Period

  /// The unit of time: `s`, `m` or `h`.
  package enum Period: String, Sendable, CaseIterable {
    /// A second.
    case second = "s"
    /// A minute.
    case minute = "m"
    /// An hour.
    case hour = "h"

    /// Its length.
    package var nanoseconds: UInt64 {
      switch self {
      case .second: 1_000_000_000
      case .minute: 60_000_000_000
      case .hour: 3_600_000_000_000
      }
    }
  }

  /// So many events in each period.
  package init(count: Int, period: Period) {
    self.count = count
    self.period = period
  }
}
