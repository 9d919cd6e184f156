internal import NIOCore
internal import Synchronization

/// Limits the warnings about requests or store operations that fail, for the whole process: while an application is
/// down, or the store is locked, each fails for the same reason, up to thousands of times a second.
final class FailureWarnings: Sendable {
  private struct Window {
    let begin: NIODeadline
    var written = 0
    /// The warnings that were left out since the last one that was written.
    var suppressed = 0
  }

  /// By the reasons.
  private let windows = Mutex<[String: Window]>([:])

  /// The number of warnings for one reason in a minute.
  static let limit = 10
  /// The largest number of reasons that are told apart: a reason may contain text of the application.
  static let mostReasons = 64
  private static let interval = TimeAmount.minutes(1)
  /// The key of all other reasons.
  private static let others = ""

  /// Asks whether a warning may be written now; if so, it counts as written.
  /// - Returns: the number of warnings for this reason that were left out since the last one; nil if it may not.
  func admit(_ reason: String, at now: NIODeadline = .now()) -> Int? {
    windows.withLock { windows in
      var key = reason
      if windows[key] == nil, windows.count >= Self.mostReasons {
        windows = windows.filter { now - $0.value.begin < Self.interval }
        if windows.count >= Self.mostReasons { key = Self.others }
      }
      var window = windows[key] ?? Window(begin: now)
      if now - window.begin >= Self.interval { window = Window(begin: now, suppressed: window.suppressed) }
      let isAdmitted = window.written < Self.limit
      let suppressed = window.suppressed
      window.written += isAdmitted ? 1 : 0
      window.suppressed = isAdmitted ? 0 : suppressed + 1
      windows[key] = window
      return isAdmitted ? suppressed : nil
    }
  }
}
