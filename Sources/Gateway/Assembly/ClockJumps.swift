internal import FoundationEssentials
internal import Sessions

/// Notices that the system's clock has jumped ahead, beside a clock that does not jump. For a day it is not believed
/// that sessions have expired, since removing them cannot be undone: the clock may be wrong, and be set right again.
struct ClockJumps {
  private var last: (wall: Date, steady: ContinuousClock.Instant)?
  private var distrustedUntil: ContinuousClock.Instant?

  /// The largest difference that is not a jump: what is removed has expired an hour ago (`RemovalRule`).
  private static let tolerance: TimeInterval = 3_600
  private static let distrust = Duration.seconds(86_400)

  /// The state of the clock.
  enum Verdict: Equatable {
    case trusted
    /// It has just jumped.
    case jumped(seconds: Int)
    /// It has jumped within the last day.
    case distrusted
  }

  /// Compares both clocks with the last time.
  mutating func verdict(wall: Date, steady: ContinuousClock.Instant) -> Verdict {
    defer { last = (wall, steady) }
    if let last {
      let jump = wall.timeIntervalSince(last.wall) - (steady - last.steady).timeInterval
      if jump > Self.tolerance {
        distrustedUntil = steady + Self.distrust
        return .jumped(seconds: Int(clamping: Int64(min(jump, 1e15))))
      }
      if jump < -Self.tolerance { distrustedUntil = nil }
    }
    guard let distrustedUntil, steady < distrustedUntil else { return .trusted }
    return .distrusted
  }
}
