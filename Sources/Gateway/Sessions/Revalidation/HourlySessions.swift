internal import FoundationEssentials
internal import Sessions

/// The sessions about which something was recorded within the hour, so that it is not recorded again.
struct HourlySessions {
  private var recorded: [PublicSessionID: Date] = [:]

  private static let interval: TimeInterval = 3_600
  /// Beyond it all are forgotten: at worst some are recorded twice.
  static let maximumCount = 4_096

  /// Inserts a session.
  /// - Returns: whether it was not there, or was inserted more than an hour ago.
  mutating func insert(_ session: PublicSessionID, at now: Date) -> Bool {
    // A time in the future is from a clock that was ahead.
    if let last = recorded[session], abs(now.timeIntervalSince(last)) < Self.interval { return false }
    if recorded.count >= Self.maximumCount {
      recorded = recorded.filter { abs(now.timeIntervalSince($0.value)) < Self.interval }
      if recorded.count >= Self.maximumCount { recorded = [:] }
    }
    recorded[session] = now
    return true
  }
}
