internal import Synchronization

/// Does one piece of work after another on a thread of its own: what blocks there blocks no event loop, no thread of
/// Swift's task pool, and no other worker.
///
/// The thread is there while there is work, and for a while after it if that is wanted.
package final class SerialWorker: Sendable {
  private enum Phase {
    /// There is no thread, and no work.
    case absent
    /// A thread does the work: the worker's own, or that of a caller where the system had none left.
    case working
    /// The thread waits for more work.
    case waiting
  }

  private struct State {
    var works: [@Sendable () -> Void] = []
    var phase = Phase.absent
  }

  /// The result of a search for a thread.
  private enum Placement {
    /// One looks for work, or begins to.
    case found
    /// It has to be woken.
    case asleep
    /// The system has none left.
    case missing(ThreadError)
  }

  private let name: String
  private let lingering: Duration
  private let stackSize: Int?
  private let state = Mutex(State())
  private let wakeUp = WakeUp()

  /// - Parameters:
  ///   - name: the thread's, at most 15 bytes.
  ///   - lingering: the time that the thread waits for more work before it ends. Making one costs more than waking it.
  ///     Default: zero, it ends at once.
  ///   - stackSize: in bytes. Default: nil, as much as `ulimit -s`.
  package init(named name: String, lingering: Duration = .zero, stackSize: Int? = nil) {
    self.name = name
    self.lingering = lingering
    self.stackSize = stackSize
  }

  /// Has `work` done after the work that was added before.
  /// - Throws: `ThreadError` if the system has no thread left; then `work` is not done.
  package func add(_ work: @escaping @Sendable () -> Void) throws(ThreadError) {
    let placement = state.withLock { state -> Placement in
      let placement = findThread(&state)
      if case .missing = placement { return placement }
      state.works.append(work)
      return placement
    }
    switch placement {
    case .found: break
    case .asleep: wakeUp.ring()
    case .missing(let error): throw error
    }
  }

  /// Has `work` done after the work that was added before. If the system has no thread left, it is done before this
  /// returns: not to be called on an event loop.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    let placement = state.withLock { state -> Placement in
      let placement = findThread(&state)
      state.phase = .working
      state.works.append(work)
      return placement
    }
    switch placement {
    case .found: break
    case .asleep: wakeUp.ring()
    case .missing: workOff(then: .absent)
    }
  }

  /// The result of `body`, which is run as ``perform(_:)`` does.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      perform { continuation.resume(returning: body()) }
    }
  }

  /// Makes a thread unless there is one: within the lock, so that nothing is added for one that cannot be made.
  private func findThread(_ state: inout State) -> Placement {
    switch state.phase {
    case .working: return .found
    case .waiting:
      state.phase = .working
      return .asleep
    case .absent:
      do throws(ThreadError) {
        try DedicatedThread.start(named: name, stackSize: stackSize) { [self] in live() }
      } catch {
        return .missing(error)
      }
      state.phase = .working
      return .found
    }
  }

  // MARK: The thread

  private func live() {
    guard lingering > .zero else { return workOff(then: .absent) }
    repeat { workOff(then: .waiting) } while wakeUp.wait(atMost: lingering) || !end()
  }

  /// Does the work that there is.
  /// - Parameter next: the phase that follows.
  private func workOff(then next: Phase) { while let work = takeWork(orBegin: next) { work() } }

  private func takeWork(orBegin next: Phase) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.works.isEmpty else {
        state.phase = next
        return nil
      }
      return state.works.removeFirst()
    }
  }

  /// - Returns: whether the thread ends; false if work was added at the last moment.
  private func end() -> Bool {
    state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .absent
      return true
    }
  }
}
