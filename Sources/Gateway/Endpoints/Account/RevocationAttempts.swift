internal import Sessions
internal import Synchronization

/// Limits how often each user can have Apple asked to revoke tokens: while Apple does not revoke them, every click asks
/// again, and a script would use up what Apple accepts from the whole application.
final class RevocationAttempts: Sendable {
  private struct Window {
    let begin: ContinuousClock.Instant
    var count = 0
  }

  /// The attempts of a user within an interval, beginning with the first.
  static let most = 5
  static let interval = Duration.seconds(60)
  /// Beyond it all are forgotten.
  static let mostUsers = 1_024

  private let windows = Mutex<[Subject: Window]>([:])

  /// Counts an attempt.
  /// - Returns: false if it is one too many, and Apple is not to be asked.
  func begin(_ subject: Subject, at now: ContinuousClock.Instant = .now) -> Bool {
    windows.withLock { windows in
      if windows[subject] == nil, windows.count >= Self.mostUsers {
        windows = windows.filter { !isOver($0.value, at: now) }
        if windows.count >= Self.mostUsers { windows = [:] }
      }
      var window = windows[subject] ?? Window(begin: now)
      if isOver(window, at: now) { window = Window(begin: now) }
      guard window.count < Self.most else { return false }
      window.count += 1
      windows[subject] = window
      return true
    }
  }

  /// Forgets the attempts of a user whose tokens were revoked.
  func succeeded(_ subject: Subject) { windows.withLock { $0[subject] = nil } }

  private func isOver(_ window: Window, at now: ContinuousClock.Instant) -> Bool {
    window.begin.duration(to: now) >= Self.interval
  }
}
