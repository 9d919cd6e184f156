internal import Dispatch
internal import Synchronization
internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Lines that a ``LogSink`` has dropped.
struct LogGap: Sendable, Equatable {
  /// The time of the first of them.
  var since: Timestamp
  var bytes: UInt64
  var lines: UInt64

  mutating func merge(_ other: LogGap) {
    since = min(since, other.since)
    bytes &+= other.bytes
    lines &+= other.lines
  }
}

/// Asynchronously writes whole lines to a file descriptor, from any thread, without blocking the caller.
///
/// A stalled reader of a pipe must not stall event loops: lines are buffered in memory, written by a dispatch queue,
/// and dropped and counted when more than `capacity` bytes are buffered. Lines appear in the order of the calls. Once
/// lines are written again, one reports the gap, if the sink was told how.
package final class LogSink: Sendable {
  /// The largest number of buffered bytes.
  package let capacity: Int

  private struct Pending {
    var bytes: [UInt8] = []
    /// An empty buffer for the next lines while the others are written.
    var spare: [UInt8] = []
    /// Whether a write of the pending lines is scheduled, and whether it is delayed.
    var isDue = false
    var isDueSoon = false
    var droppedBytes: UInt64 = 0
    /// The lines dropped since the last report of a gap.
    var gap: LogGap?
    /// Whether a line was cut off by a write that failed: the next one begins on a line of its own.
    var isCut = false

    mutating func drop(bytes: Int, lines: Int) {
      droppedBytes &+= UInt64(bytes)
      let dropped = LogGap(since: .now(), bytes: UInt64(bytes), lines: UInt64(lines))
      note(dropped)
    }

    mutating func note(_ dropped: LogGap) {
      if gap == nil { gap = dropped } else { gap?.merge(dropped) }
    }
  }

  private let descriptor: Int32
  private let queue = DispatchQueue(label: "cordon.log")
  private let pending = Mutex(Pending())
  /// Returns the line that reports a gap; empty for none.
  private let gapLine = Mutex<(@Sendable (LogGap) -> [UInt8])?>(nil)

  /// - Parameters:
  ///   - descriptor: The destination, owned by the caller, who keeps it open as long as this lives.
  ///   - capacity: The largest number of buffered bytes. Default: 1,048,576 (1 MiB).
  package init(descriptor: Int32, capacity: Int = 1_048_576) {
    self.descriptor = descriptor
    self.capacity = capacity
    isJournal = JournalStream.isTarget(descriptor)
  }

  /// Standard output.
  package static let standard = LogSink(descriptor: 1)

  /// Whether the lines are read by a person: the descriptor is a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Whether systemd's journal reads the lines.
  let isJournal: Bool

  /// The number of bytes that were dropped because the buffer was full, or because writing failed.
  package var droppedBytes: UInt64 { pending.withLock { $0.droppedBytes } }

  /// Reports gaps with these lines from now on.
  /// - Parameter line: returns the whole line about a gap; empty for none.
  func reportGaps(_ line: @escaping @Sendable (LogGap) -> [UInt8]) { gapLine.withLock { $0 = line } }

  /// The time of the next write.
  private enum Drain { case scheduled, soon, now }

  /// The number of bytes that are written immediately; fewer are batched for a tenth of a second.
  private static let batch = 64 * 1024
  private static let pause = DispatchTimeInterval.milliseconds(100)

  /// Takes one or more whole lines. Returns at once.
  /// - Parameter atOnce: false for frequent lines that may be batched: waking the writer for each costs more than
  ///   the line.
  package func write(_ lines: borrowing LogBuffer, atOnce: Bool = true) {
    lines.withBytes { write($0, atOnce: atOnce) }
  }

  func write(_ lines: Span<UInt8>, atOnce: Bool = true) {
    let drain = pending.withLock { pending -> Drain in
      guard pending.bytes.count + lines.count <= capacity else {
        pending.drop(bytes: lines.count, lines: Self.lineCount(lines))
        return .scheduled
      }
      pending.bytes.append(lines)
      if pending.isDue { return .scheduled }
      if atOnce || pending.bytes.count >= Self.batch {
        pending.isDue = true
        return .now
      }
      if pending.isDueSoon { return .scheduled }
      pending.isDueSoon = true
      return .soon
    }
    switch drain {
    case .scheduled: break
    // One timer for all lines until then, even if some are written before, because a timer wakes two threads.
    case .soon: queue.asyncAfter(deadline: .now() + Self.pause) { self.drain(\.isDueSoon) }
    case .now: queue.async { self.drain(\.isDue) }
    }
  }

  /// Waits until all lines so far are written, but not longer than `limit` for a stalled reader. For the end of the
  /// process; never to be called on an event loop.
  /// - Returns: whether all were written.
  @discardableResult
  package func flush(atMost limit: Duration = .seconds(2)) -> Bool {
    let written = DispatchSemaphore(value: 0)
    queue.async {
      self.drain(\.isDue)
      written.signal()
    }
    let nanoseconds = limit.components.seconds * 1_000_000_000 + limit.components.attoseconds / 1_000_000_000
    return written.wait(timeout: .now() + .nanoseconds(Int(clamping: nanoseconds))) == .success
  }

  /// Writes the buffered lines.
  /// - Parameter flag: that of the scheduled call; cleared, so that the next line schedules another.
  private func drain(_ flag: WritableKeyPath<Pending, Bool>) {
    var batch: [UInt8] = []
    let (isCut, gap) = pending.withLock { pending in
      pending[keyPath: flag] = false
      swap(&batch, &pending.bytes)
      swap(&pending.bytes, &pending.spare)
      let gap = pending.gap
      pending.gap = nil
      return (pending.isCut, gap)
    }
    // The lines that found the buffer full would follow those that were in it.
    let describe = gapLine.withLock { $0 }
    let report = gap.flatMap { describe?($0) } ?? []
    let taken = batch.count
    batch.append(contentsOf: report)
    if isCut, !batch.isEmpty { batch.insert(UInt8(ascii: "\n"), at: 0) }
    let lost = writeAll(batch)
    let lastWritten = batch.dropLast(lost).last
    // A report that is lost is made again.
    let lostBytes = min(max(0, lost - report.count), taken)
    let lostLines = lostBytes == 0 ? 0 : Self.lineCount(Array(batch.dropLast(report.count).suffix(lostBytes)).span)
    if batch.capacity <= 2 * Self.batch { batch.removeAll(keepingCapacity: true) } else { batch = [] }
    pending.withLock { pending in
      if lost > 0, let gap { pending.note(gap) }
      if lostBytes > 0 { pending.drop(bytes: lostBytes, lines: lostLines) }
      if let lastWritten { pending.isCut = lastWritten != UInt8(ascii: "\n") }
      swap(&pending.spare, &batch)
    }
  }

  private static func lineCount(_ lines: Span<UInt8>) -> Int {
    var count = 0
    for index in lines.indices where lines[index] == UInt8(ascii: "\n") { count += 1 }
    return count
  }

  /// Waits for a stalled reader however long: only the queue waits, and the buffer is limited.
  /// - Returns: The number of bytes that could not be written.
  private func writeAll(_ bytes: [UInt8]) -> Int {
    do throws(WriteError) {
      try DescriptorOutput.writeAll(bytes, to: descriptor)
      return 0
    } catch {
      return error.unwritten
    }
  }
}
