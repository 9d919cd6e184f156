internal import FoundationEssentials
internal import Sessions

/// Notices that the system's clock is or may be far ahead: it has jumped beside a clock that does not jump, or a
/// gateway starts long after the latest use of any session. For a day it is not believed then that sessions have
/// expired, since removing them cannot be undone: the clock may be wrong, and be set right again.
///
/// A start some hours after that use is nothing special, but may also be that of a machine whose clock is some hours
/// ahead, because it keeps local time for instance, and is set right soon: for as long again, only what had expired so
/// many hours ago is removed. Nothing is kept longer than that, however often and for however short a time the gateway
/// runs.
struct ClockJumps {
  private var last: (wall: Date, steady: ContinuousClock.Instant)?
  private var distrustedUntil: ContinuousClock.Instant?
  /// The time by which the clock may be ahead since a start some hours after the latest use, and the end of that.
  private var lead: (seconds: TimeInterval, end: ContinuousClock.Instant)?

  /// The largest difference that is not a jump: a session that is removed as idle has been so for an hour
  /// (`RemovalRule`).
  private static let tolerance: TimeInterval = 3_600
  /// The longest time without use of any session before a start that is nothing special.
  private static let quietTime: TimeInterval = 86_400
  private static let distrust = Duration.seconds(86_400)

  /// Compares both clocks with the last time.
  /// - Returns: the length of a jump ahead, in seconds; nil without one.
  mutating func compare(wall: Date, steady: ContinuousClock.Instant) -> Int? {
    defer { last = (wall, steady) }
    guard let last else { return nil }
    let jump = wall.timeIntervalSince(last.wall) - (steady - last.steady).timeInterval
    if jump < -Self.tolerance {
      distrustedUntil = nil
      lead = nil
    }
    guard jump > Self.tolerance else { return nil }
    distrustedUntil = steady + Self.distrust
    return Self.seconds(jump)
  }

  /// Compares the clock at a start with the latest use of any session. As soon as the store is open: from the first
  /// write of last uses on, sessions are stored as used now. (A sign-in is not possible by a wrong clock: Apple's
  /// identity token has then expired.)
  /// - Returns: the time since then if it is long, in seconds.
  mutating func compareStart(wall: Date, steady: ContinuousClock.Instant, latestUse: Date?) -> Int? {
    guard let latestUse else { return nil }
    let quiet = wall.timeIntervalSince(latestUse)
    // A clock that is ahead by less removes no session that is in use: see `tolerance`.
    guard quiet > Self.tolerance else { return nil }
    guard quiet > Self.quietTime else {
      lead = (quiet, steady + .seconds(quiet))
      return nil
    }
    distrustedUntil = steady + Self.distrust
    return Self.seconds(quiet)
  }

  /// The time by which rows may be removed as expired: that of the clock, or as much earlier as it may be ahead. Nil
  /// while it is not trusted.
  func removalTime(wall: Date, steady: ContinuousClock.Instant, latestUse: Date?) -> Date? {
    guard isTrusted(at: steady) else { return nil }
    let ahead = if let lead, steady < lead.end { lead.seconds } else { 0.0 }
    return wall.addingTimeInterval(-max(ahead, Self.quiet(wall: wall, latestUse: latestUse)))
  }

  /// The time for which by the clock no session was used, if that is hours: it is ahead by as much if others are using
  /// theirs. Otherwise 0.
  private static func quiet(wall: Date, latestUse: Date?) -> TimeInterval {
    guard let latestUse else { return 0 }
    let quiet = wall.timeIntervalSince(latestUse)
    // Of longer than a day nothing can be told: there may be no users. A start has waited for a day, and logged it.
    return (tolerance...quietTime).contains(quiet) ? quiet : 0
  }

  /// Believes for a day that the clock may be wrong, as another process has found.
  mutating func distrust(from steady: ContinuousClock.Instant) { distrustedUntil = steady + Self.distrust }

  /// Whether what has expired by the system's clock may be removed.
  func isTrusted(at steady: ContinuousClock.Instant) -> Bool { distrustedUntil.map { steady >= $0 } ?? true }

  private static func seconds(_ interval: TimeInterval) -> Int { Int(clamping: Int64(min(interval, 1e15))) }
}
