internal import Synchronization

/// Counts the connections of one listener over all its event loops, and says when it is enough.
final class ConnectionAdmission: Sendable {
  /// Most connections at a time.
  let limit: Int
  private let count = Atomic<Int>(0)

  /// - Parameter wanted: the limit of the configuration. The descriptors of the process may allow less: half of them,
  ///   because a request needs a second one, for the application.
  init(wanted: Int, descriptors: Int) { limit = max(1, min(wanted, descriptors / 2)) }

  /// One more, unless it is enough. Each success wants a ``leave()``.
  func enter() -> Bool {
    let now = count.add(1, ordering: .relaxed).newValue
    if now <= limit { return true }
    leave()
    return false
  }

  func leave() { count.subtract(1, ordering: .relaxed) }
}
