internal import CLinux
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Works with files on a thread of its own, one piece of work after another: a file system that does not answer blocks
/// this thread, and no event loop or thread of Swift's task pool, of which there is one for each processor.
///
/// The thread is there while there is work.
final class FileThread: Sendable {
  private struct State {
    var works: [@Sendable () -> Void] = []
    var hasThread = false
  }

  private let state = Mutex(State())

  /// Runs `body` after the work that was requested before.
  func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      add { continuation.resume(returning: body()) }
    }
  }

  private func add(_ work: @escaping @Sendable () -> Void) {
    let hadThread = state.withLock { state in
      state.works.append(work)
      defer { state.hasThread = true }
      return state.hasThread
    }
    // Without a thread left, the files are read all the same.
    if !hadThread, !Self.start({ [self] in workOff() }) { workOff() }
  }

  private func workOff() { while let work = next() { work() } }

  /// The next work; nil if there is none, and then the thread ends.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.works.isEmpty else {
        state.hasThread = false
        return nil
      }
      return state.works.removeFirst()
    }
  }

  /// Runs `body` on a new detached thread.
  /// - Returns: whether the system had a thread left.
  private static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Start {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    let start = Unmanaged.passRetained(Start(body))
    var created = pthread_t()
    let code = pthread_create(
      &created, &attributes,
      { argument in
        guard let argument else { return nil }
        pthread_setname_np(pthread_self(), "cordon-files")
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, start.toOpaque())
    guard code == 0 else {
      start.release()
      return false
    }
    return true
  }
}
