/// The pace of one batch of last-seen updates. A small batch is written at once. A large one, as after a burst of
/// requests of many sessions, is written in portions over at most half of the interval between two batches: while the
/// store writes, requests have less of the processors. A value without a clock.
struct LastSeenPace {
  struct Limits: Sendable {
    /// The largest batch that is written at once.
    var atOnce = 4_000
    /// Updates of each portion of a larger batch: as many as the stores write in one transaction.
    var portion = 500
    /// The longest time from one portion to the next, so that a batch does not take half of the interval in any case.
    var longestSpacing = Duration.milliseconds(250)
  }

  /// The number of updates of a portion.
  let portion: Int
  /// The time from the beginning of one portion to that of the next.
  let spacing: Duration
  /// The time at which the next portion is due, since the beginning of the batch.
  private(set) var due = Duration.zero

  /// - Parameters:
  ///   - updates: the size of the batch.
  ///   - interval: the interval between two batches.
  init(updates: Int, interval: Duration, limits: Limits = Limits()) {
    guard updates > limits.atOnce else {
      portion = updates
      spacing = .zero
      return
    }
    portion = limits.portion
    let portions = (updates - 1) / limits.portion + 1
    spacing = min(limits.longestSpacing, interval / (2 * portions))
  }

  /// Takes the next portion if it is due. After a late one the next is not due earlier than after any other: portions
  /// that a slow write has delayed do not come all together.
  /// - Parameter elapsed: the time since the beginning of the batch.
  /// - Returns: the number of updates to write now; 0 if no portion is due.
  mutating func take(at elapsed: Duration) -> Int {
    guard elapsed >= due else { return 0 }
    due = elapsed + spacing
    return portion
  }
}
