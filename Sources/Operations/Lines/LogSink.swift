#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Asynchronously writes whole lines to a file descriptor, from any thread, without blocking the caller.
///
/// A stalled reader of a pipe must not stall event loops: lines are buffered in memory, written by a thread of their
/// own, and dropped and counted when more than `capacity` bytes are buffered. Lines appear in the order of the calls.
/// Once lines are written again, one reports the gap, if the sink was told how.
///
/// The thread is made for the first line, and stays. If the system has no thread left, callers write their lines
/// themselves, which may block them.
package final class LogSink: Sendable {
  /// The largest number of buffered bytes.
  package let capacity: Int
  private let descriptor: Int32
  /// Outlives this until its thread has ended.
  let writer: LogWriter
  /// Whether systemd's journal reads the lines.
  let isJournal: Bool

  /// Enough for write(2), and for the line that reports a gap.
  private static let stackSize = 256 * 1024

  /// - Parameters:
  ///   - descriptor: the destination, owned by the caller, who keeps it open as long as this lives, and until what was
  ///     written is flushed.
  ///   - capacity: the largest number of buffered bytes. Default: 1,048,576 (1 MiB).
  package convenience init(descriptor: Int32, capacity: Int = 1_048_576) {
    self.init(descriptor: descriptor, capacity: capacity, stackSize: Self.stackSize)
  }

  /// - Parameter stackSize: that of the thread, in bytes.
  init(descriptor: Int32, capacity: Int, stackSize: Int) {
    self.descriptor = descriptor
    self.capacity = capacity
    isJournal = JournalStream.isTarget(descriptor)
    writer = LogWriter(descriptor: descriptor, capacity: capacity, stackSize: stackSize)
  }

  deinit { writer.release() }

  /// Standard output.
  package static let standard = LogSink(descriptor: 1)

  /// Whether the lines are read by a person: the descriptor is a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The number of bytes that were dropped because the buffer was full, or because writing failed.
  package var droppedBytes: UInt64 { writer.droppedBytes }

  /// Reports gaps with these lines from now on.
  /// - Parameter line: returns the whole line about a gap; empty for none.
  func reportGaps(_ line: @escaping @Sendable (LogGap) -> [UInt8]) { writer.reportGaps(line) }

  /// Takes one or more whole lines. Returns at once.
  /// - Parameter atOnce: false for frequent lines that may be batched for a tenth of a second: waking the thread for
  ///   each costs more than the line.
  package func write(_ lines: borrowing LogBuffer, atOnce: Bool = true) {
    lines.withBytes { write($0, atOnce: atOnce) }
  }

  func write(_ lines: Span<UInt8>, atOnce: Bool = true) { writer.write(lines, atOnce: atOnce) }

  /// Waits until all lines so far are written, but not longer than `limit` for a stalled reader. For the end of the
  /// process; never to be called on an event loop.
  /// - Returns: whether all were written.
  @discardableResult
  package func flush(atMost limit: Duration = .seconds(2)) -> Bool { writer.flush(atMost: limit) }
}
