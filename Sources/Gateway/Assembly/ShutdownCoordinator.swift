internal import DataPlane
internal import Synchronization

/// The end of a process: a pause and a drain, both of which a forced close cuts short.
final class ShutdownCoordinator: Sendable {
  private let state = Mutex(State())

  private struct State {
    var isHurried = false
    var pause: Task<Void, Never>?
  }

  /// Whether the end is to come at once.
  var isHurried: Bool { state.withLock { $0.isHurried } }

  /// Waits until the time is over or the close is forced.
  func pause(_ duration: Duration) async {
    guard duration > .zero else { return }
    let pause = state.withLock { state -> Task<Void, Never>? in
      guard !state.isHurried else { return nil }
      let pause = Task { _ = try? await Task.sleep(for: duration) }
      state.pause = pause
      return pause
    }
    await pause?.value
  }

  /// No pause any more, and no drain: what `listener` still does is cut off.
  func forceClose(_ listener: Listener) {
    state.withLock { state in
      state.isHurried = true
      state.pause?.cancel()
    }
    listener.cutOff()
  }
}
