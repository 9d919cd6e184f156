/// Progress of a long operation, part by part: on a terminal a line that changes, elsewhere a line now and then; and
/// a line for each part that is done.
struct ProgressReport {
  private let line = StatusLine()
  private var latest: (part: String, count: String)?
  private var shown = ContinuousClock.now

  /// The interval of progress lines in logs.
  private static let pause = Duration.seconds(10)
  /// The interval of updates on a terminal.
  private static let glance = Duration.milliseconds(100)

  /// Reports the progress of a part.
  mutating func note(_ part: String, _ done: Int, of total: Int) {
    if let latest, latest.part != part { finishPart() }
    let count = "\(grouped(done)) of \(grouped(max(done, total)))"
    let isFirst = latest == nil
    latest = (part, count)
    let wait = StatusLine.isTerminal ? Self.glance : Self.pause
    guard isFirst && StatusLine.isTerminal || ContinuousClock.now - shown >= wait else { return }
    shown = .now
    if StatusLine.isTerminal {
      line.show("\(part): \(count)")
    } else {
      print("\(part): \(count) …")
    }
  }

  /// Ends the current part, and prints its final count.
  mutating func finishPart() {
    guard let (part, count) = latest else { return }
    latest = nil
    line.clear()
    print("\(part): \(count)")
  }
}
