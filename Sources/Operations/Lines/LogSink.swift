internal import Dispatch
internal import Synchronization
internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A file descriptor that whole lines go to, from any thread, without ever blocking the caller.
///
/// A pipe whose reader has stalled must not stall event loops: lines are collected in memory, written by a queue of
/// its own, and dropped and counted when more than `capacity` bytes wait. Lines appear in the order of the calls.
package final class LogSink: Sendable {
  /// Most bytes that wait at a time.
  package let capacity: Int

  private struct Pending {
    var bytes: [UInt8] = []
    /// Empty: memory for the next lines while these are written.
    var spare: [UInt8] = []
    /// Whether a write of the pending lines is scheduled, and whether it is delayed.
    var isDue = false
    var isDueSoon = false
    var droppedBytes: UInt64 = 0
  }

  private let descriptor: Int32
  private let queue = DispatchQueue(label: "cordon.log")
  private let pending = Mutex(Pending())

  /// - Parameters:
  ///   - descriptor: Where the lines go; it stays the caller's, who keeps it open as long as this lives.
  ///   - capacity: Most bytes that wait at a time. Default: 1,048,576 (1 MiB).
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

  /// Bytes that were dropped because too many waited, or because writing failed.
  package var droppedBytes: UInt64 { pending.withLock { $0.droppedBytes } }

  /// When what waits is written.
  private enum Drain { case asArranged, soon, now }

  /// So many bytes are worth a write of their own; fewer wait for the others of their tenth of a second.
  private static let batch = 64 * 1024
  private static let pause = DispatchTimeInterval.milliseconds(100)

  /// Takes one or more whole lines. Returns at once.
  /// - Parameter atOnce: false for lines that come by the thousand and may wait for each other: waking the writer for
  ///   each costs more than the line.
  package func write(_ lines: borrowing LogBuffer, atOnce: Bool = true) {
    lines.withBytes { write($0, atOnce: atOnce) }
  }

  func write(_ lines: Span<UInt8>, atOnce: Bool = true) {
    let drain = pending.withLock { pending -> Drain in
      guard pending.bytes.count + lines.count <= capacity else {
        pending.droppedBytes &+= UInt64(lines.count)
        return .asArranged
      }
      pending.bytes.append(lines)
      if pending.isDue { return .asArranged }
      if atOnce || pending.bytes.count >= Self.batch {
        pending.isDue = true
        return .now
      }
      if pending.isDueSoon { return .asArranged }
      pending.isDueSoon = true
      return .soon
    }
    switch drain {
    case .asArranged: break
    // Once for whatever comes until then, also when some of it is written before: a timer wakes two threads.
    case .soon: queue.asyncAfter(deadline: .now() + Self.pause) { self.drain(\.isDueSoon) }
    case .now: queue.async { self.drain(\.isDue) }
    }
  }

  /// Waits until every line taken so far was written, but not for a reader that has stalled: a process has to end all
  /// the same. For the end of the process, never for an event loop.
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

  /// Writes what waits.
  /// - Parameter arrangement: whose call this is; the next line makes another.
  private func drain(_ arrangement: WritableKeyPath<Pending, Bool>) {
    var batch: [UInt8] = []
    pending.withLock { pending in
      pending[keyPath: arrangement] = false
      swap(&batch, &pending.bytes)
      swap(&pending.bytes, &pending.spare)
    }
    let lost = batch.withUnsafeBytes { writeAll($0) }
    if batch.capacity <= 2 * Self.batch { batch.removeAll(keepingCapacity: true) } else { batch = [] }
    pending.withLock { pending in
      pending.droppedBytes &+= UInt64(lost)
      swap(&pending.spare, &batch)
    }
  }

  /// - Returns: Bytes that could not be written.
  private func writeAll(_ bytes: UnsafeRawBufferPointer) -> Int {
    var rest = bytes[...]
    while !rest.isEmpty {
      let slice = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Glibc)
        let count = Glibc.write(descriptor, slice.baseAddress, slice.count)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, slice.baseAddress, slice.count)
      #endif
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, 1_000)
      } else if count < 0, errno != EINTR {
        return rest.count
      }
    }
    return 0
  }
}
