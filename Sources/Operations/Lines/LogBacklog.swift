internal import Threads
internal import WebFormats

/// The lines of a ``LogSink`` that wait to be written, and the state of the thread that writes them: a value, without
/// thread or lock.
struct LogBacklog {
  /// The time at which the lines that wait are written.
  private enum Due: Comparable {
    /// None waits.
    case never
    /// After a pause, for more of them to come.
    case soon
    case now
  }

  /// The thread that writes.
  private enum Writer {
    /// No thread: no line came yet, or the system could not make one. Then no line waits either.
    case absent
    /// It looks for lines before it sleeps.
    case awake
    /// It sleeps for a while.
    case pausing
    /// It sleeps until it is woken, and has written everything.
    case asleep
  }

  /// The part of a caller who has added something.
  enum Call {
    case nothing
    /// The thread has to be woken.
    case wake
    /// A thread has to be started; if the system cannot make one, the caller writes the lines.
    case start
  }

  /// The next step of the thread.
  enum Step {
    /// Write the batch.
    case write
    /// Sleep for a while, or until woken.
    case pause
    /// Sleep until woken.
    case sleep
    /// End the thread.
    case end
  }

  /// The number of bytes that are written immediately, however frequent their lines.
  static let enough = 64 * 1024

  /// The largest number of bytes that wait.
  private let capacity: Int
  private var bytes: [UInt8] = []
  private var due = Due.never
  private var writer = Writer.absent
  /// Woken when everything before them is written.
  private var flushes: [WakeUp] = []
  /// The lines dropped since the last report of a gap.
  private var gap: LogGap?
  /// Whether a line was cut off by a write that failed: the next one begins on a line of its own.
  private var isCut = false
  private var isReleased = false
  /// The number of bytes that were dropped.
  private(set) var droppedBytes: UInt64 = 0

  init(capacity: Int) { self.capacity = capacity }

  // MARK: From any thread

  /// Adds whole lines, or drops them if there is no room.
  /// - Parameter atOnce: false if they may wait for more.
  mutating func add(_ lines: Span<UInt8>, atOnce: Bool) -> Call {
    guard bytes.count + lines.count <= capacity else {
      drop(bytes: lines.count, lines: Self.lineCount(lines))
      return .nothing
    }
    bytes.append(lines)
    return schedule(atOnce || bytes.count >= Self.enough ? .now : .soon)
  }

  /// Has everything so far written at once.
  /// - Parameter written: woken then.
  /// - Returns: nil if everything is written.
  mutating func flush(_ written: WakeUp) -> Call? {
    if due == .never, gap == nil, writer == .absent || writer == .asleep { return nil }
    flushes.append(written)
    return schedule(.now)
  }

  /// Has the thread end when it has written what waits. Nothing is added any longer.
  mutating func release() -> Call {
    isReleased = true
    return writer == .absent ? .nothing : schedule(.now)
  }

  private mutating func schedule(_ time: Due) -> Call {
    due = max(due, time)
    switch writer {
    case .absent:
      writer = .awake
      return .start
    case .awake: return .nothing
    case .pausing:
      guard due == .now else { return .nothing }
      writer = .awake
      return .wake
    case .asleep:
      writer = .awake
      return .wake
    }
  }

  // MARK: From the thread that writes

  /// - Parameters:
  ///   - hasPaused: whether the thread has paused since its last batch.
  ///   - batch: an empty one, which gets what is to be written.
  mutating func next(hasPaused: Bool, into batch: inout LogBatch) -> Step {
    switch due {
    case .never where isReleased: return .end
    case .never:
      writer = .asleep
      return .sleep
    case .soon where !hasPaused:
      writer = .pausing
      return .pause
    case .soon, .now:
      writer = .awake
      take(into: &batch)
      return .write
    }
  }

  /// The same for a caller who writes, because there is no thread.
  /// - Returns: whether there is a batch; otherwise the next line asks for a thread again.
  mutating func nextForCaller(into batch: inout LogBatch) -> Bool {
    guard due != .never else {
      writer = .absent
      return false
    }
    take(into: &batch)
    return true
  }

  private mutating func take(into batch: inout LogBatch) {
    due = .never
    swap(&batch.bytes, &bytes)
    swap(&batch.flushes, &flushes)
    batch.gap = gap
    batch.followsCut = isCut
    gap = nil
  }

  /// Notes the result of a write.
  /// - Parameter lastWritten: the last byte that was written; nil if none was.
  mutating func wrote(upTo lastWritten: UInt8?) {
    if let lastWritten { isCut = lastWritten != UInt8(ascii: "\n") }
  }

  /// Has a gap reported again, whose report was lost.
  mutating func keep(_ lost: LogGap) {
    if gap == nil { gap = lost } else { gap?.merge(lost) }
  }

  /// Counts lines that were dropped.
  mutating func drop(bytes: Int, lines: Int) {
    droppedBytes &+= UInt64(bytes)
    keep(LogGap(since: .now(), bytes: UInt64(bytes), lines: UInt64(lines)))
  }

  static func lineCount(_ lines: Span<UInt8>) -> Int {
    var count = 0
    for index in lines.indices where lines[index] == UInt8(ascii: "\n") { count += 1 }
    return count
  }
}

/// Lines that are written together.
struct LogBatch: Sendable {
  var bytes: [UInt8] = []
  /// Lines that were dropped, to be reported behind these.
  var gap: LogGap?
  /// Whether the line before was cut off.
  var followsCut = false
  /// Woken when these are written.
  var flushes: [WakeUp] = []

  /// Empties it. A large buffer is given back, a small one is kept for the next lines.
  mutating func removeAll() {
    if bytes.capacity <= 2 * LogBacklog.enough { bytes.removeAll(keepingCapacity: true) } else { bytes = [] }
    flushes = []
    gap = nil
    followsCut = false
  }
}
