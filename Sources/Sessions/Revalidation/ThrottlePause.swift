package import FoundationEssentials

/// The pause of revalidations that can be put off, while Apple has asked for one: 429 with `Retry-After`. Each account
/// that is asked about meanwhile would lose its attempt of the day.
///
/// One for the process. It records nothing in the store, so that it begins no account's grace period. After it, none
/// begins for as long as it lasted: with one after another, no account would be asked about while Apple throttles, or
/// while somebody provokes 429 by forged codes.
package struct ThrottlePause: Sendable {
  /// The longest pause.
  package static let longest = Duration.seconds(3_600)

  private var begin: Date?
  private var end: Date?

  /// The state before the first 429.
  package init() {}

  /// Notes that Apple has asked for a pause. A shorter one does not end a longer one. Those that continue one another
  /// last for ``longest`` together.
  package mutating func note(_ pause: Duration, at now: Date) {
    if let begin, let end, end <= now, now < end.addingTimeInterval(end.timeIntervalSince(begin)) { return }
    let isContinued = contains(now)
    let first = isContinued ? begin ?? now : now
    let next = min(now.advanced(by: min(max(pause, .zero), Self.longest)), first.advanced(by: Self.longest))
    if isContinued, let end, end > next { return }
    (begin, end) = (first, next)
  }

  /// Whether a moment is in the pause. An end that is further ahead than it can be was kept while the clock was ahead.
  package func contains(_ now: Date) -> Bool {
    guard let end else { return false }
    return now < end && end <= now.advanced(by: Self.longest)
  }
}
