import Glibc

/// Notices that files were written, moved or deleted, by any process of this machine: the kernel keeps a queue of
/// events (inotify(7)). Asking for them reaches no disk and wakes no other thread, so that an event loop may.
///
/// Without an event, nothing is proven about a file system that other machines write, too, nor about the folders of
/// the path.
final class FileWatch: Sendable {
  private let descriptor: CInt

  /// Events of a watched file have no name, so that each has the size of the structure.
  private static let capacity = 64 * MemoryLayout<inotify_event>.stride

  /// - Returns: nil if a file is not there, or the system has no watch left (fs.inotify.max_user_instances).
  init?(_ paths: [String]) {
    let flags = CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)
    let descriptor = inotify_init1(flags)
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    let events = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
    // The files are not opened: that would be no harm to SQLite's locks, but closing them would.
    for path in paths where inotify_add_watch(descriptor, path, events) < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Whether there were events since the last call. Does not block. Where there are more than one call takes, the next
  /// one has the rest.
  func hasEvents() -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.capacity, alignment: MemoryLayout<inotify_event>.alignment) {
      // Any failure other than an empty queue means that nothing is known.
      read(descriptor, $0.baseAddress, $0.count) > 0 || errno != EAGAIN
    }
  }
}
