/// The input of a channel: whether a read is asked for, and whether the system may have something to read. The system
/// reports changes, not states (edge-triggered), so that the channel has to remember them.
struct InputState {
  private enum Source {
    /// There may be something to read.
    case ready
    /// Nothing until the system reports something.
    case drained
    /// The input has ended, or was closed: nothing is read any longer.
    case ended
  }

  private enum Turn {
    /// A read that becomes due is left to the loop.
    case idle
    /// The channel looks for due reads itself before it returns to the loop.
    case within
    /// The loop will read.
    case scheduled
  }

  private var source: Source
  private var turn = Turn.idle
  /// Whether a read is asked for.
  private(set) var isWanted = false
  /// Whether the system has reported the end: there is something to read up to it, and no other report comes.
  private var isEndReported = false

  /// - Parameter isReady: whether there may be something to read before the system reports anything.
  init(isReady: Bool) { source = isReady ? .ready : .drained }

  var isReady: Bool { if case .ready = source { true } else { false } }
  var hasEnded: Bool { if case .ended = source { true } else { false } }
  var isDue: Bool { isWanted && isReady }

  mutating func ask() { isWanted = true }

  /// The system has something, or the end.
  mutating func reported(isEnd: Bool) {
    if isEnd { isEndReported = true }
    if !hasEnded { source = .ready }
  }

  /// A read has brought something.
  /// - Parameter filled: whether as much as there was room for: there may be more.
  mutating func received(filled: Bool) {
    isWanted = false
    if !filled, !isEndReported { source = .drained }
  }

  /// A read has brought nothing.
  mutating func drained() { source = .drained }

  mutating func end() {
    source = .ended
    isWanted = false
  }

  // MARK: Turns

  /// - Returns: whether the loop is to read in its next turn.
  mutating func schedule() -> Bool {
    guard isDue, case .idle = turn else { return false }
    turn = .scheduled
    return true
  }

  mutating func beginReading() { turn = .within }

  mutating func endReading() { turn = .idle }
}
