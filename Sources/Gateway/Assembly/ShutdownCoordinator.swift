internal import DataPlane
internal import Synchronization

/// The graceful shutdown of the process: a delay and a drain, both of which a forced close cuts short.
final class ShutdownCoordinator: Sendable {
  private let state = Mutex(State())

  private struct State {
    var isForced = false
    var pause: Task<Void, Never>?
  }

  /// Whether the shutdown is forced.
  var isForced: Bool { state.withLock { $0.isForced } }

  /// Waits for a time, or until the close is forced.
  func pause(_ duration: Duration) async {
    guard duration > .zero else { return }
    let pause = state.withLock { state -> Task<Void, Never>? in
      guard !state.isForced else { return nil }
      let pause = Task { _ = try? await Task.sleep(for: duration) }
      state.pause = pause
      return pause
    }
    await pause?.value
  }

  /// Skips the delay and the drain, and aborts the open connections of `listener`.
  func forceClose(_ listener: Listener) {
    state.withLock { state in
      state.isForced = true
      state.pause?.cancel()
    }
    listener.abortConnections()
  }
}
