/// The input of a channel: whether a read is asked for, and whether the system may have something to read. The system
/// reports changes, not states (edge-triggered), so that the channel has to remember them.
struct InputState {
  private enum Source {
    /// There may be something to read.
    case ready
    /// There may be something to read, also after a read that does not fill its buffer.
    case readyBeyondUrgent
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

  /// The system's report of the end.
  private enum EndReport {
    case none
    /// There is something to read up to the end, and no other report comes.
    /// - isHungUp: whether the output has ended, too: after the end of the input the connection is over.
    /// - holdsBytes: whether bytes are known to wait before the end.
    case reported(isHungUp: Bool, holdsBytes: Bool)
  }

  private var source: Source
  private var turn = Turn.idle
  /// Whether a read is asked for.
  private(set) var isWanted = false
  private var endReport = EndReport.none

  /// - Parameter isReady: whether there may be something to read before the system reports anything.
  init(isReady: Bool) { source = isReady ? .ready : .drained }

  var isReady: Bool {
    switch source {
    case .ready, .readyBeyondUrgent: true
    case .drained, .ended: false
    }
  }
  var hasEnded: Bool { if case .ended = source { true } else { false } }
  var isDue: Bool { isWanted && isReady }
  /// Whether the system has reported the end.
  var isEndReported: Bool { if case .reported = endReport { true } else { false } }
  var isHungUp: Bool { if case .reported(isHungUp: true, _) = endReport { true } else { false } }
  /// Whether the reported end may be next, although no read is asked for that would meet it.
  var mayBeAtEnd: Bool {
    if case .reported(_, holdsBytes: false) = endReport { isReady && !isWanted } else { false }
  }

  mutating func ask() { isWanted = true }

  /// The system has something.
  mutating func reported() { if !hasEnded, !isReady { source = .ready } }

  /// The system has something, with an urgent byte in it.
  mutating func reportedUrgent() { if !hasEnded { source = .readyBeyondUrgent } }

  /// The system has the end, and maybe something before it.
  /// - Parameter isHungUp: whether the output has ended, too.
  mutating func reportedEnd(isHungUp: Bool) {
    switch endReport {
    case .none: endReport = .reported(isHungUp: isHungUp, holdsBytes: false)
    case .reported(let before, let holdsBytes):
      endReport = .reported(isHungUp: before || isHungUp, holdsBytes: holdsBytes)
    }
    reported()
  }

  /// Bytes wait before the reported end, until a read is asked for.
  mutating func foundBytes() { endReport = .reported(isHungUp: isHungUp, holdsBytes: true) }

  /// A read has brought something.
  /// - Parameter filled: whether as much as there was room for: there may be more.
  mutating func received(filled: Bool) {
    isWanted = false
    switch endReport {
    case .none: if !filled, case .ready = source { source = .drained }
    case .reported(let isHungUp, _): endReport = .reported(isHungUp: isHungUp, holdsBytes: false)
    }
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
