internal import CLinux
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The threads that the process can still make: control groups and the limit of its user bound them, and other
/// processes count, too. So they are tried.
package enum ThreadRoom {
  /// Keeps threads waiting while it is held.
  private final class Gate: Sendable {
    private let lock = Mutex(())

    func hold(during body: () -> Void) { lock.withLock { _ in body() } }

    func pass() { lock.withLock { _ in } }
  }

  /// Makes threads, up to a number, and ends them.
  /// - Returns: the number that could be made.
  package static func measure(upTo count: Int) -> Int { measure(upTo: count, stackSize: nil) }

  /// - Parameter stackSize: of each thread, in bytes; nil for the usual one.
  static func measure(upTo count: Int, stackSize: Int?) -> Int {
    let gate = Gate()
    var threads: [pthread_t] = []
    gate.hold {
      while threads.count < count {
        guard let thread = try? DedicatedThread.create(stackSize: stackSize, isDetached: false, { gate.pass() }) else {
          break
        }
        threads.append(thread)
      }
    }
    for thread in threads { pthread_join(thread, nil) }
    return threads.count
  }
}
