import Sessions
import Synchronization

/// The change signal: wakes those that wait for changes of the store.
final class ChangeSignal: Sendable {
  private let state = Mutex(State())

  private struct State {
    /// Whether the signal was posted while nobody waited.
    var isPending = false
    var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
    var next = 0
  }

  /// Posts the signal.
  func post() {
    let waiting = state.withLock { state in
      state.isPending = state.waiting.isEmpty
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.finish() }
  }

  /// Waits until the signal is posted, or was posted since the last wait, but not longer than `limit`.
  func wait(atMost limit: Duration) async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let ticket: Int? = state.withLock { state in
      if state.isPending {
        state.isPending = false
        return nil
      }
      state.next += 1
      state.waiting[state.next] = continuation
      return state.next
    }
    guard let ticket else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in stream {} }
      group.addTask { try? await Task.sleep(for: limit) }
      await group.next()
      group.cancelAll()
    }
    _ = state.withLock { $0.waiting.removeValue(forKey: ticket) }
  }
}
