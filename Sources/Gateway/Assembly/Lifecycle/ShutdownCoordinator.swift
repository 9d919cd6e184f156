internal import DataPlane
internal import Synchronization

/// The graceful shutdown of the process: a delay, a drain and what is written at the end, all of which a forced close
/// cuts short.
final class ShutdownCoordinator: Sendable {
  private let state = Mutex(State.graceful(wait: nil))
  /// The time for work once the close is forced, and in any case for work that has ended already: what takes a store
  /// that answers a few milliseconds is not given up.
  private let moment: Duration

  init(moment: Duration = .milliseconds(250)) { self.moment = moment }

  private enum State {
    /// - wait: the wait that a forced close ends.
    case graceful(wait: Task<Void, Never>?)
    case forced

    var isForced: Bool { if case .forced = self { true } else { false } }
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
      state = .graceful(wait: wait)
      return wait
    }
    await wait?.value
  }

  /// Waits for work that cannot be cancelled, until a deadline, and for only a moment once the close is forced.
  /// Afterwards the work goes on.
  /// - Returns: whether it has ended.
  @discardableResult
  func finish(_ work: Task<Void, Never>, by deadline: ContinuousClock.Instant) async -> Bool {
    let deadline = max(deadline, ContinuousClock.now + moment)
    let hasEnded = Atomic<Bool>(false)
    await wait {
      if await work.waitForEnd(by: deadline) { hasEnded.store(true, ordering: .releasing) }
    }
    if hasEnded.load(ordering: .acquiring) { return true }
    guard isForced else { return false }
    return await work.waitForEnd(by: min(deadline, ContinuousClock.now + moment))
  }

  /// Ends every wait, and skips the drain.
  func force() {
    state.withLock { state in
      if case .graceful(let wait) = state { wait?.cancel() }
      state = .forced
    }
  }

  /// Forces the shutdown, and aborts the open connections of `listener`.
  func forceClose(_ listener: Listener) {
    force()
    listener.abortConnections()
  }
}
