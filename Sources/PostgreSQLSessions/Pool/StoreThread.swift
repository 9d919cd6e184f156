import Glibc
import Sessions
import Threads

/// Dedicated threads for connections to the server, whose calls block.
enum StoreThread {
  /// Runs `body` on a new detached thread.
  /// - Parameter name: the thread's, at most 15 bytes.
  /// - Throws: `StoreError` if the system has no thread left.
  static func start(named name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError) {
    do throws(ThreadError) {
      try DedicatedThread.start(named: name, body)
    } catch {
      throw StoreError(
        code: .unavailable, message: "no thread is left for a connection to the store; raise the limit of threads",
        cause: String(cString: strerror(error.errnoCode)))
    }
  }

  /// Blocks the thread.
  static func sleep(until moment: ContinuousClock.Instant) {
    while case let left = moment - .now, left > .zero {
      _ = poll(
        nil, 0,
        Int32(clamping: left.components.attoseconds / 1_000_000_000_000_000 + left.components.seconds * 1_000 + 1))
    }
  }
}
