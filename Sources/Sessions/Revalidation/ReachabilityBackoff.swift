package import FoundationEssentials

/// Pauses checks while Apple cannot be reached at all, so that each request of each due user does not try again. One
/// for the process, since it is the way to Apple that is blocked and not one account; memory of constant size.
///
/// After a request that was not sent: a pause, doubled each time up to five minutes, of which a random half is left
/// out. After the pause one check may try; the others wait for what comes of it.
package struct ReachabilityBackoff: Sendable {
  /// The first pause.
  package static let firstPause = Duration.seconds(1)
  /// The longest pause.
  package static let longestPause = Duration.seconds(300)
  /// An attempt without a reported result is forgotten after this time.
  package static let longestTry = Duration.seconds(30)

  private enum State: Sendable {
    case open
    case pausing(failures: Int, until: Date)
    case trying(failures: Int, since: Date)
  }

  private var state = State.open

  /// No trouble yet.
  package init() {}

  /// Whether a check may be made now. If so during trouble, it is the one that tries: its outcome must be reported.
  package mutating func mayTry(at now: Date) -> Bool {
    switch state {
    case .open:
      return true
    case .pausing(let failures, let until):
      guard now >= until else { return false }
      state = .trying(failures: failures, since: now)
      return true
    case .trying(let failures, let since):
      guard now >= since.advanced(by: Self.longestTry) else { return false }
      state = .trying(failures: failures, since: now)
      return true
    }
  }

  /// A request reached Apple, whatever came of it.
  package mutating func noteSent() { state = .open }

  /// A request cannot have reached Apple.
  ///
  /// - Parameter random: 0 to 1, evenly spread.
  package mutating func noteNotSent(at now: Date, random: Double = .random(in: 0...1)) {
    let failures: Int
    switch state {
    case .open: failures = 0
    case .trying(let before, _): failures = before + 1
    // One of several attempts that were in flight when the first failed: the pause is kept.
    case .pausing: return
    }
    let doubled = Self.firstPause.timeInterval * Double(UInt64(1) << UInt64(min(failures, 32)))
    let longest = min(doubled, Self.longestPause.timeInterval)
    let pause = longest / 2 + longest / 2 * min(max(random, 0), 1)
    state = .pausing(failures: failures, until: now.addingTimeInterval(pause))
  }
}
