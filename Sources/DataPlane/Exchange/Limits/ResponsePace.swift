internal import NIOCore

/// The rate at which a client takes the bytes that wait for it. Time in which nothing waits, because the application
/// has nothing to say, does not count.
///
/// It is judged piece by piece: what was taken fast at first, into the memory of both systems, is no credit for later.
/// The rate is judged only when something is taken: a client may pause, for example to ask where to save a file.
struct ResponsePace {
  /// When bytes began to wait, or the last whole piece had been taken.
  private var began: NIODeadline
  /// Bytes taken until then.
  private var atBeginning: Int
  /// Bytes taken until the last look.
  private var taken: Int
  /// When something had last been taken.
  private var progress: NIODeadline

  private static let piece = 32 * 1024
  /// The interval between two looks.
  static let interval = TimeAmount.seconds(2)

  /// - Parameters:
  ///   - sent: bytes sent so far, those included that wait.
  ///   - waiting: of those, how many the client has not taken.
  init(sent: Int, waiting: Int, at now: NIODeadline) {
    began = now
    progress = now
    taken = sent - waiting
    atBeginning = taken
  }

  /// Whether the client is too slow by now, or has taken nothing for too long. To be asked every ``interval``.
  /// - Parameters:
  ///   - rate: bytes per second; 0 asks for none.
  ///   - grace: until the rate is asked for.
  ///   - patience: longest time without any progress.
  mutating func isTooSlow(
    sent: Int, waiting: Int, at now: NIODeadline, rate: Int, grace: TimeAmount, patience: TimeAmount
  ) -> Bool {
    let count = sent - waiting
    guard count > taken else { return now - progress >= patience }
    taken = count
    progress = now
    if taken - atBeginning >= Self.piece {
      began = now
      atBeginning = taken
      return false
    }
    let time = (now - began) - grace
    guard rate > 0, time > .zero else { return false }
    // Not even a whole piece: the product cannot pass what a client took by more than a day of the highest rate.
    let (needed, overflow) = (time.nanoseconds / 1_000_000).multipliedReportingOverflow(by: Int64(rate))
    return overflow || Int64(taken - atBeginning) < needed / 1_000
  }
}
