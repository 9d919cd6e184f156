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

  /// The system's report of the end: there is something to read up to it, and no other report comes.
  private struct EndReport {
    /// Whether the output has ended, too: after the end of the input the connection is over.
    var isHungUp = false
    /// Whether bytes are known to wait before the end.
    var holdsBytes = false
    /// Bytes that may still be read before the end although nobody asks for them.
    var bytesAhead = InputState.mostBytesAhead
  }

  /// Most bytes that are read before the reported end although nobody asks for them: a handler that waits for something
  /// else is to know of the end, and a peer often sends a few bytes before it leaves. More than that stays with the
  /// system until somebody wants it, or all that it holds would be in memory for each peer that has left.
  static let mostBytesAhead = 64 * 1024

  private var source: Source
  private var turn = Turn.idle
  /// Whether a read is asked for.
  private(set) var isWanted = false
  private var endReport: EndReport?

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
  var isEndReported: Bool { endReport != nil }
  var isHungUp: Bool { endReport?.isHungUp == true }
  /// Whether the reported end may be next, although no read is asked for that would meet it.
  var mayBeAtEnd: Bool { endReport?.holdsBytes == false && isReady && !isWanted }
  /// Whether to read towards the reported end: what is asked for, and a little that is not.
  var isDueTowardsEnd: Bool {
    guard let endReport else { return false }
    return isReady && (isWanted || endReport.bytesAhead > 0)
  }

  mutating func ask() { isWanted = true }

  /// The system has something.
  mutating func reported() { if !hasEnded, !isReady { source = .ready } }

  /// The system has something, with an urgent byte in it.
  mutating func reportedUrgent() { if !hasEnded { source = .readyBeyondUrgent } }

  /// The system has the end, and maybe something before it.
  /// - Parameter isHungUp: whether the output has ended, too.
  mutating func reportedEnd(isHungUp: Bool) {
    var report = endReport ?? EndReport()
    if isHungUp { report.isHungUp = true }
    endReport = report
    reported()
  }

  /// Bytes wait before the reported end, until a read is asked for.
  mutating func foundBytes() { endReport?.holdsBytes = true }

  /// A read before the reported end has brought bytes that nobody had asked for.
  mutating func readAhead(_ count: Int) { endReport?.bytesAhead -= count }

  /// A read has brought something.
  /// - Parameter filled: whether as much as there was room for: there may be more.
  mutating func received(filled: Bool) {
    isWanted = false
    if endReport != nil {
      endReport?.holdsBytes = false
    } else if !filled, case .ready = source {
      source = .drained
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
