#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Writes to file descriptors with write(2). A descriptor may be non-blocking although we did not make it so: the flag
/// belongs to the terminal or pipe, and so to every process that has it open.
package enum DescriptorOutput {
  /// Writes all bytes, and blocks the thread until they are written. Never to be called on an event loop.
  /// - Parameter stallLimit: the longest time in which a non-blocking descriptor may take nothing. Default: nil, no
  ///   limit, as a blocking descriptor has none.
  /// - Throws: the error of write(2); `EAGAIN` after the limit.
  package static func writeAll(
    _ bytes: [UInt8], to descriptor: Int32, stallLimit: Duration? = nil
  ) throws(WriteError) {
    var rest = bytes[...]
    // The clock that stands still while the machine sleeps, and with it the reader.
    var deadline: SuspendingClock.Instant?
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      let number = count < 0 ? errno : EIO
      if count > 0 {
        rest = rest.dropFirst(count)
        deadline = nil
      } else if number == EAGAIN {
        if deadline == nil, let stallLimit { deadline = SuspendingClock.now + stallLimit }
        guard wait(for: descriptor, by: deadline) else { throw WriteError(number: number, unwritten: rest.count) }
      } else if number != EINTR {
        throw WriteError(number: number, unwritten: rest.count)
      }
    }
  }

  /// Waits until a descriptor takes bytes or fails, or a signal arrives.
  /// - Returns: false if the deadline has passed.
  private static func wait(for descriptor: Int32, by deadline: SuspendingClock.Instant?) -> Bool {
    var milliseconds: Int32 = -1
    if let deadline {
      let rest = SuspendingClock.now.duration(to: deadline)
      guard rest > .zero else { return false }
      // Rounded up, because a wait of zero would occupy the processor.
      milliseconds = Int32(clamping: Int64(rest / .milliseconds(1)) + 1)
    }
    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&wanted, 1, milliseconds)
    return true
  }
}

/// A write to a file descriptor that failed, possibly after some of the bytes.
package struct WriteError: Error, Equatable {
  /// `errno`.
  package let number: Int32
  /// The number of bytes, at the end, that were not written.
  package let unwritten: Int
}
