/// Decides when a shortage is logged: at its begin, once a minute while it lasts, with the failures since the last
/// line, and at its end. Several in a row, with less than a minute between them, count as one.
package struct ShortageLog: Sendable {
  /// A line of the log.
  package enum Line: Sendable, Equatable {
    /// The shortage has begun, or lasts.
    /// - Parameter failures: since the last line.
    case lasts(failures: Int)
    /// Nothing has failed for a minute.
    /// - Parameters:
    ///   - failures: since the begin.
    ///   - duration: from the begin to the last failure.
    case ended(failures: Int, duration: Duration)
  }

  private struct Shortage {
    let began: ContinuousClock.Instant
    var latest: ContinuousClock.Instant
    var logged: ContinuousClock.Instant
    /// Failures since the begin.
    var failures: Int
    /// Failures since the last line.
    var unlogged = 0
  }

  /// The number of failures at the last look.
  private var count: Int
  private var shortage: Shortage?

  private static let interval = Duration.seconds(60)

  /// - Parameter count: of failures until now, which are not logged.
  package init(after count: Int) { self.count = count }

  /// The line that is due, if one is.
  /// - Parameters:
  ///   - count: of failures since the start of the process.
  ///   - isBlocked: whether the shortage lasts at this moment, also if nothing is attempted.
  package mutating func line(for count: Int, isBlocked: Bool = false, at now: ContinuousClock.Instant) -> Line? {
    let more = max(0, count - self.count)
    self.count = count
    let isShort = more > 0 || isBlocked
    guard var shortage = self.shortage else {
      guard isShort else { return nil }
      self.shortage = Shortage(began: now, latest: now, logged: now, failures: more)
      return .lasts(failures: more)
    }
    shortage.failures += more
    shortage.unlogged += more
    if isShort { shortage.latest = now }
    guard now - shortage.latest < Self.interval else {
      self.shortage = nil
      return .ended(failures: shortage.failures, duration: shortage.latest - shortage.began)
    }
    var line: Line?
    if isShort, now - shortage.logged >= Self.interval {
      line = .lasts(failures: shortage.unlogged)
      shortage.logged = now
      shortage.unlogged = 0
    }
    self.shortage = shortage
    return line
  }
}
