import Glibc
import Sessions

/// Dedicated threads for blocking calls, which must not run on an event loop or on a thread of Swift's task pool.
enum DedicatedThread {
  /// Runs `body` on a new detached thread.
  /// - Throws: `StoreError` if the system has no thread left.
  static func start(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
    final class Start {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let start = Unmanaged.passRetained(Start(body))
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      throw StoreError(
        code: .unavailable, message: "no thread is left for a connection to the store; raise the limit of threads",
        cause: String(cString: strerror(code)))
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
