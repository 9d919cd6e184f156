internal import Synchronization

/// Counts the connections of one listener over all its event loops, and says when it is enough.
final class ConnectionAdmission: Sendable {
  /// Most connections at a time.
  private let limit: Atomic<Int>
  private let count = Atomic<Int>(0)

  /// - Parameter wanted: the limit of the configuration. ``DescriptorBudget`` may allow less.
  init(wanted: Int) { limit = Atomic(max(1, wanted)) }

  /// Another limit from now on; connections beyond it stay.
  func apply(wanted: Int) { limit.store(max(1, wanted), ordering: .relaxed) }

  /// One more, unless it is enough. Each success wants a ``release()``.
  func enter() -> Bool {
    let now = count.add(1, ordering: .relaxed).newValue
    if now <= limit.load(ordering: .relaxed) { return true }
    release()
    return false
  }

  func release() { count.subtract(1, ordering: .relaxed) }
}
