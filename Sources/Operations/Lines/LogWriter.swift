internal import Synchronization
internal import Threads

/// Writes the lines of a ``LogSink`` on a thread of its own, which is made for the first line and sleeps while no
/// line waits.
///
/// The thread stays, so that a limit of threads that is reached later does not keep the log from being written. If it
/// cannot be made, each line is written by its caller until it can: a line that blocks its caller is better than none.
final class LogWriter: Sendable {
  private let descriptor: Int32
  private let stackSize: Int
  private let backlog: Mutex<LogBacklog>
  private let wakeUp = WakeUp()
  /// Returns the line that reports a gap; empty for none.
  private let gapLine = Mutex<(@Sendable (LogGap) -> [UInt8])?>(nil)

  /// The time for which lines that may be batched wait for others.
  private static let pause = Duration.milliseconds(100)

  /// - Parameters:
  ///   - descriptor: the destination.
  ///   - capacity: the largest number of bytes that wait.
  ///   - stackSize: the thread's, in bytes.
  init(descriptor: Int32, capacity: Int, stackSize: Int) {
    self.descriptor = descriptor
    self.stackSize = stackSize
    backlog = Mutex(LogBacklog(capacity: capacity))
  }

  /// The number of bytes that were dropped because the buffer was full, or because writing failed.
  var droppedBytes: UInt64 { backlog.withLock { $0.droppedBytes } }

  /// Reports gaps with these lines from now on.
  func reportGaps(_ line: @escaping @Sendable (LogGap) -> [UInt8]) { gapLine.withLock { $0 = line } }

  /// Has whole lines written.
  func write(_ lines: Span<UInt8>, atOnce: Bool) { perform(backlog.withLock { $0.add(lines, atOnce: atOnce) }) }

  /// Waits until all lines so far are written, but not longer than `limit`.
  /// - Returns: whether all were written.
  func flush(atMost limit: Duration) -> Bool {
    let written = WakeUp()
    guard let call = backlog.withLock({ $0.flush(written) }) else { return true }
    perform(call)
    return written.wait(atMost: limit)
  }

  /// Ends the thread when it has written what waits. To be called last.
  func release() { perform(backlog.withLock { $0.release() }) }

  private func perform(_ call: LogBacklog.Call) {
    switch call {
    case .nothing: break
    case .wake: wakeUp.ring()
    case .start:
      do throws(ThreadError) {
        try DedicatedThread.start(named: "cordon-log", stackSize: stackSize) { [self] in work() }
      } catch {
        workAsCaller()
      }
    }
  }

  // MARK: The thread

  private func work() {
    var batch = LogBatch()
    var hasPaused = false
    while true {
      switch backlog.withLock({ $0.next(hasPaused: hasPaused, into: &batch) }) {
      case .write:
        write(&batch)
        hasPaused = false
      case .pause:
        wakeUp.wait(atMost: Self.pause)
        hasPaused = true
      case .sleep: wakeUp.wait()
      case .end: return
      }
    }
  }

  private func workAsCaller() {
    var batch = LogBatch()
    while backlog.withLock({ $0.nextForCaller(into: &batch) }) { write(&batch) }
  }

  /// Writes a batch, and empties it.
  private func write(_ batch: inout LogBatch) {
    let describe = gapLine.withLock { $0 }
    // The lines that found the buffer full would follow those that were in it.
    let report = batch.gap.flatMap { describe?($0) } ?? []
    let taken = batch.bytes.count
    batch.bytes.append(contentsOf: report)
    if batch.followsCut, !batch.bytes.isEmpty { batch.bytes.insert(UInt8(ascii: "\n"), at: 0) }
    let lost = writeAll(batch.bytes)
    let lastWritten = batch.bytes.dropLast(lost).last
    // A report that is lost is made again.
    let lostBytes = min(max(0, lost - report.count), taken)
    let lostLines =
      lostBytes == 0 ? 0 : LogBacklog.lineCount(Array(batch.bytes.dropLast(report.count).suffix(lostBytes)).span)
    let lostGap = lost > 0 ? batch.gap : nil
    backlog.withLock { backlog in
      if let lostGap { backlog.keep(lostGap) }
      if lostBytes > 0 { backlog.drop(bytes: lostBytes, lines: lostLines) }
      backlog.wrote(upTo: lastWritten)
    }
    for flush in batch.flushes { flush.ring() }
    batch.removeAll()
  }

  /// Waits for a stalled reader however long: only this thread waits, and the buffer is limited.
  /// - Returns: the number of bytes that could not be written.
  private func writeAll(_ bytes: [UInt8]) -> Int {
    do throws(WriteError) {
      try DescriptorOutput.writeAll(bytes, to: descriptor)
      return 0
    } catch {
      return error.unwritten
    }
  }
}
