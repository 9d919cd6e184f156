internal import Synchronization

/// Does one piece of work after another on a thread of its own: what blocks there blocks no event loop, no thread of
/// Swift's task pool, and no other worker.
///
/// The thread is there while there is work.
package final class SerialWorker: Sendable {
  private struct State {
    var works: [@Sendable () -> Void] = []
    /// Whether a thread does them: the worker's own, or that of a caller where the system had none left.
    var isWorking = false
  }

  private let name: String
  private let stackSize: Int?
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: the thread's, at most 15 bytes.
  ///   - stackSize: in bytes. Default: nil, as much as `ulimit -s`.
  package init(named name: String, stackSize: Int? = nil) {
    self.name = name
    self.stackSize = stackSize
  }

  /// Has `work` done after the work that was added before.
  /// - Throws: `ThreadError` if the system has no thread left; then `work` is not done.
  package func add(_ work: @escaping @Sendable () -> Void) throws(ThreadError) {
    // The thread is started within the lock: nothing is added for one that cannot be made.
    let shortage = state.withLock { state -> ThreadError? in
      if !state.isWorking {
        if let shortage = start() { return shortage }
        state.isWorking = true
      }
      state.works.append(work)
      return nil
    }
    if let shortage { throw shortage }
  }

  /// Has `work` done after the work that was added before. If the system has no thread left, it is done before this
  /// returns: not to be called on an event loop.
  package func perform(_ work: @escaping @Sendable () -> Void) {
    let hasThread = state.withLock { state -> Bool in
      state.works.append(work)
      guard !state.isWorking else { return true }
      state.isWorking = true
      return start() == nil
    }
    if !hasThread { workOff() }
  }

  /// The result of `body`, which is run as ``perform(_:)`` does.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      perform { continuation.resume(returning: body()) }
    }
  }

  /// - Returns: the reason for which there is no thread; nil if there is one.
  private func start() -> ThreadError? {
    do throws(ThreadError) {
      try DedicatedThread.start(named: name, stackSize: stackSize) { [self] in workOff() }
      return nil
    } catch {
      return error
    }
  }

  private func workOff() { while let work = next() { work() } }

  /// The next work; nil if there is none, and then the thread ends.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard !state.works.isEmpty else {
        state.isWorking = false
        return nil
      }
      return state.works.removeFirst()
    }
  }
}
