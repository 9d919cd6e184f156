internal import FoundationEssentials

/// Limits log lines to one an hour for each key.
struct HourlyLimit {
  private var last: [String: Date] = [:]

  private static let interval: TimeInterval = 3_600

  /// Whether a line may be written now; if so, it counts as written.
  mutating func isDue(_ key: String, at now: Date) -> Bool {
    // A time in the future is from a clock that was ahead.
    last = last.filter { abs(now.timeIntervalSince($0.value)) < Self.interval }
    guard last[key] == nil else { return false }
    last[key] = now
    return true
  }

  /// Starts over, because the configuration has changed.
  mutating func reset() { last = [:] }
}
