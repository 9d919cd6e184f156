package import FoundationEssentials

/// Back-off while Apple cannot be reached at all, so that not every request of a due user retries. One for the process,
/// because the connection to Apple fails and not one account; memory of constant size. Another one for each client
/// whose credentials Apple refuses, which counts as not sent.
///
/// After a request that was not sent: a pause, doubled each time up to five minutes, of which a random half is left
/// out. After the pause one revalidation may try; the others wait for its outcome.
///
/// Requests that get no answer of use, as behind a firewall that drops packets, or from a service that answers 503,
/// begin the same pauses: with the third that began since Apple last gave such an answer, for one or two may be slow or
/// fail at Apple. A request that began before that answer was slow, too, and does not count. Each of them uses up the
/// lease of an account, with which another gateway, or this one an hour later, could have got an answer.
package struct ReachabilityBackoff: Sendable {
  /// The first pause.
  package static let firstPause = Duration.seconds(1)
  /// The longest pause.
  package static let longestPause = Duration.seconds(300)
  /// The time after which an attempt without a reported outcome is forgotten.
  package static let attemptTimeout = Duration.seconds(30)
  /// The number of requests without an answer of use that begin back-off.
  package static let inconclusiveLimit = 3

  private enum State: Sendable {
    case open
    case pausing(failures: Int, until: Date)
    case trying(failures: Int, since: Date)
  }

  private var state = State.open
  /// The requests without an answer of use that began since the last such answer, at most `inconclusiveLimit`.
  private var inconclusive = 0
  private var lastAnswer: Date?

  /// The state before the first failure.
  package init() {}

  /// Whether a revalidation may be made now. During back-off it is the one attempt, whose outcome must be reported.
  package mutating func mayTry(at now: Date) -> Bool {
    switch state {
    case .open:
      return true
    case .pausing(let failures, let until):
      guard !Self.isAhead(until, of: now, atMost: Self.longestPause) else { return false }
      state = .trying(failures: failures, since: now)
      return true
    case .trying(let failures, let since):
      guard !Self.isAhead(since.advanced(by: Self.attemptTimeout), of: now, atMost: Self.attemptTimeout) else {
        return false
      }
      state = .trying(failures: failures, since: now)
      return true
    }
  }

  /// Whether a moment is to come. One that is further ahead than it can be was kept while the clock was ahead.
  private static func isAhead(_ moment: Date, of now: Date, atMost longest: Duration) -> Bool {
    now < moment && moment <= now.advanced(by: longest)
  }

  /// Notes that an attempt was given up before anything was sent: another may be made at once.
  /// - Parameter since: the moment of `mayTry(at:)`. An attempt that has begun since goes on.
  package mutating func noteNotTried(since: Date) {
    guard case .trying(let failures, since) = state else { return }
    state = .pausing(failures: failures, until: .distantPast)
  }

  /// Notes that Apple was reached by a request that is no revalidation. While revalidations get no answer of use, one
  /// more has to show that they do again: it may be made at once.
  package mutating func noteSent() {
    switch state {
    case .pausing(let failures, _) where inconclusive == Self.inconclusiveLimit:
      state = .pausing(failures: failures, until: .distantPast)
    case .trying where inconclusive == Self.inconclusiveLimit: break
    case .open, .pausing, .trying: state = .open
    }
  }

  /// Notes an answer of use: Apple serves requests, whatever it said.
  package mutating func noteAnswered(at now: Date) {
    state = .open
    inconclusive = 0
    lastAnswer = now
  }

  /// Notes that a request got no answer in time, though it may have reached Apple, or one that says nothing of what was
  /// asked, such as 503.
  ///
  /// - Parameters:
  ///   - began: when the request began.
  ///   - random: 0 to 1, evenly spread.
  package mutating func noteInconclusive(since began: Date, at now: Date, random: Double = .random(in: 0...1)) {
    // An answer that is to come is from a clock that was ahead.
    if let lastAnswer, lastAnswer <= now, began < lastAnswer { return }
    inconclusive = min(inconclusive + 1, Self.inconclusiveLimit)
    switch state {
    case .open where inconclusive < Self.inconclusiveLimit: break
    // It says nothing of the attempt, which is still waiting.
    case .trying(_, let since) where began < since: break
    case .open, .pausing, .trying: noteNotSent(at: now, random: random)
    }
  }

  /// Notes that a request cannot have reached Apple.
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
