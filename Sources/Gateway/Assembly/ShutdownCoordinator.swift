internal import DataPlane
internal import Synchronization

/// The graceful shutdown of the process: a delay and a drain, both of which a forced close cuts short.
final class ShutdownCoordinator: Sendable {
  private let state = Mutex(State())

  private struct State {
    var isForced = false
    /// The wait that a forced close ends.
    var wait: Task<Void, Never>?
  }

  /// Whether the shutdown is forced.
  var isForced: Bool { state.withLock { $0.isForced } }

  /// Waits for a time, or until the close is forced.
  func pause(_ duration: Duration) async {
    guard duration > .zero else { return }
    await wait { _ = try? await Task.sleep(for: duration) }
  }

  /// Waits for something, or until the close is forced, which cancels it.
  func wait(for something: @escaping @Sendable () async -> Void) async {
    let wait = state.withLock { state -> Task<Void, Never>? in
      guard !state.isForced else { return nil }
      let wait = Task { await something() }
      state.wait = wait
      return wait
    }
    await wait?.value
  }

  /// Ends every wait, skips the drain, and aborts the open connections of `listener`.
  func forceClose(_ listener: Listener) {
    state.withLock { state in
      state.isForced = true
      state.wait?.cancel()
    }
    listener.abortConnections()
  }
}
