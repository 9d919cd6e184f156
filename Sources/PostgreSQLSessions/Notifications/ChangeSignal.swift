import Sessions
import Synchronization

/// The change signal: wakes those that wait for changes of the store.
final class ChangeSignal: Sendable {
  private let state = Mutex(State())

  private struct State {
    var phase = Phase.awaited([:])
    var lastTicket = 0
  }

  private enum Phase {
    /// The signal was posted while nobody waited.
    case posted
    /// Those that wait for it, by their tickets.
    case awaited([Int: AsyncStream<Never>.Continuation])
  }

  /// Posts the signal.
  func post() {
    let waiting = state.withLock { state -> [AsyncStream<Never>.Continuation] in
      guard case .awaited(let waiting) = state.phase, !waiting.isEmpty else {
        state.phase = .posted
        return []
      }
      state.phase = .awaited([:])
      return Array(waiting.values)
    }
    for continuation in waiting { continuation.finish() }
  }

  /// Waits until the signal is posted, or was posted since the last wait, but not longer than `limit`.
  func wait(atMost limit: Duration) async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let ticket = state.withLock { state -> Int? in
      guard case .awaited(var waiting) = state.phase else {
        state.phase = .awaited([:])
        return nil
      }
      state.lastTicket += 1
      waiting[state.lastTicket] = continuation
      state.phase = .awaited(waiting)
      return state.lastTicket
    }
    guard let ticket else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in stream {} }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
    state.withLock { state in
      guard case .awaited(var waiting) = state.phase else { return }
      waiting[ticket] = nil
      state.phase = .awaited(waiting)
    }
  }
}
