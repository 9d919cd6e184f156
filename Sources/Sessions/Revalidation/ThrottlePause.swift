package import FoundationEssentials

/// The pause of revalidations that can be put off, while Apple has asked for one: 429 with `Retry-After`. Each account
/// that is asked about meanwhile would lose its attempt of the day.
///
/// One for the process. It records nothing in the store, so that it begins no account's grace period.
package struct ThrottlePause: Sendable {
  /// The longest pause.
  package static let longest = Duration.seconds(3_600)

  private var end: Date?

  /// The state before the first 429.
  package init() {}

  /// Notes that Apple has asked for a pause. A shorter one does not end a longer one.
  package mutating func note(_ pause: Duration, at now: Date) {
    let next = now.advanced(by: min(max(pause, .zero), Self.longest))
    if let end, contains(now), end > next { return }
    end = next
  }

  /// Whether a moment is in the pause. An end that is further ahead than it can be was kept while the clock was ahead.
  package func contains(_ now: Date) -> Bool {
    guard let end else { return false }
    return now < end && end <= now.advanced(by: Self.longest)
  }
}
