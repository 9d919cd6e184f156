internal import Synchronization

/// Limits log lines of one kind to a number within an interval, for each reason by itself, on all threads together.
///
/// While an application is down, or the store is locked, each request fails for the same reason, up to thousands of
/// times a second: its line is written some times, and a line for another reason is not lost among them.
package final class LogLimit: Sendable {
  private struct Window {
    let begin: Duration
    var written = 0
    /// The lines that were left out since the last one that was written.
    var suppressed = 0
  }

  private let lines: Int
  private let interval: Duration
  private let clock: @Sendable () -> Duration
  /// The windows by reason.
  private let windows = Mutex<[String: Window]>([:])

  /// The largest number of reasons with a limit of their own: a reason may contain foreign text. The rest share one,
  /// and report the lines that were left out for a reason that had to make room.
  static let mostReasons = 64
  /// The key of the rest, and of lines without a reason.
  private static let others = ""

  /// - Parameters:
  ///   - lines: the number of lines for one reason within the interval. Default: 1.
  ///   - interval: begins with a line. Default: a minute.
  ///   - clock: any one clock. If it is set back or ahead by the interval or more, a new interval begins. Default: the
  ///     steady clock.
  package init(
    lines: Int = 1, each interval: Duration = .seconds(60),
    clock: @escaping @Sendable () -> Duration = { LogLimit.uptime() }
  ) {
    self.lines = lines
    self.interval = interval
    self.clock = clock
  }

  /// Asks whether a line may be written now; if so, it counts as written.
  /// - Parameter now: by the same clock each time; nil to read that of the limit.
  /// - Returns: the number of lines for this reason that were left out since the last one; nil if it may not.
  package func admit(_ reason: String = "", at now: Duration? = nil) -> Int? {
    let now = now ?? clock()
    return windows.withLock { windows in
      var key = reason
      if windows[key] == nil, windows.count >= Self.mostReasons, !makeRoom(in: &windows, at: now) { key = Self.others }
      var window = windows[key] ?? Window(begin: now)
      if isOver(window, at: now) { window = Window(begin: now, suppressed: window.suppressed) }
      let isAdmitted = window.written < lines
      let suppressed = window.suppressed
      window.written += isAdmitted ? 1 : 0
      window.suppressed = isAdmitted ? 0 : suppressed + 1
      windows[key] = window
      return isAdmitted ? suppressed : nil
    }
  }

  /// Whether a line may be written now; if so, it counts as written. See ``admit(_:at:)``.
  package func isDue(_ reason: String = "", at now: Duration? = nil) -> Bool {
    admit(reason, at: now) != nil
  }

  /// Starts over: the next line of each reason is written.
  package func reset() { windows.withLock { $0 = [:] } }

  /// Removes reasons whose interval is over: first those without lines to report. The others report what was left out
  /// for the rest.
  /// - Returns: whether there is room for another reason.
  private func makeRoom(in windows: inout [String: Window], at now: Duration) -> Bool {
    windows = windows.filter { $0.value.suppressed > 0 || !isOver($0.value, at: now) }
    if windows.count < Self.mostReasons { return true }
    let ended = windows.filter { !$0.key.isEmpty && isOver($0.value, at: now) }
    if ended.isEmpty { return false }
    for reason in ended.keys { windows[reason] = nil }
    windows[Self.others, default: Window(begin: now)].suppressed += ended.values.reduce(0) { $0 + $1.suppressed }
    return windows.count < Self.mostReasons
  }

  private func isOver(_ window: Window, at now: Duration) -> Bool {
    let age = now - window.begin
    return age >= interval || age <= .zero - interval
  }

  /// The time of the steady clock.
  package static func uptime() -> Duration { start.duration(to: .now) }
  private static let start = ContinuousClock.now
}
