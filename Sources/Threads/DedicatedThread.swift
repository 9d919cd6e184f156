internal import CLinux

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Dedicated threads for blocking calls and for loops, which must not run on an event loop or on a thread of Swift's
/// task pool, of which there is one for each processor.
package enum DedicatedThread {
  /// The number of bytes that a thread's name may have (pthread_setname_np(3)).
  private static let nameLimit = 15

  /// Runs `body` on a new detached thread.
  /// - Parameters:
  ///   - name: the thread's, for `ps -L`, `top -H` and debuggers. At most 15 bytes; the rest is cut off.
  ///   - stackSize: in bytes. Default: nil, as much as `ulimit -s`, of which only what is used takes memory.
  /// - Throws: `ThreadError` if the system has no thread left; then `body` is not run.
  package static func start(
    named name: String, stackSize: Int? = nil, _ body: @escaping @Sendable () -> Void
  ) throws(ThreadError) {
    let name = String(decoding: name.utf8.prefix(nameLimit), as: UTF8.self)
    _ = try create(stackSize: stackSize, isDetached: true) {
      pthread_setname_np(pthread_self(), name)
      body()
    }
  }

  /// Runs `body` on a new thread.
  /// - Returns: the thread, which has to be joined unless it is detached.
  static func create(
    stackSize: Int?, isDetached: Bool, _ body: @escaping @Sendable () -> Void
  ) throws(ThreadError) -> pthread_t {
    final class Start {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if isDetached { pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED)) }
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    let start = Unmanaged.passRetained(Start(body))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        if let argument { Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      throw ThreadError(errnoCode: code)
    }
    return thread
  }
}
