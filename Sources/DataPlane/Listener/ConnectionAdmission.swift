internal import Synchronization

/// Counts the connections of one listener over all its event loops, and says when it is enough.
final class ConnectionAdmission: Sendable {
  /// Most connections at a time.
  private let limit: Atomic<Int>
  private let descriptors: Int
  private let count = Atomic<Int>(0)

  /// - Parameter wanted: the limit of the configuration. The descriptors of the process may allow less: half of them,
  ///   because a request needs a second one, for the application.
  init(wanted: Int, descriptors: Int) {
    self.descriptors = descriptors
    limit = Atomic(Self.limit(wanted: wanted, descriptors: descriptors))
  }

  /// Another limit from now on; connections beyond it stay.
  func adopt(wanted: Int) {
    limit.store(Self.limit(wanted: wanted, descriptors: descriptors), ordering: .relaxed)
  }

  private static func limit(wanted: Int, descriptors: Int) -> Int { max(1, min(wanted, descriptors / 2)) }

  /// One more, unless it is enough. Each success wants a ``leave()``.
  func enter() -> Bool {
    let now = count.add(1, ordering: .relaxed).newValue
    if now <= limit.load(ordering: .relaxed) { return true }
    leave()
    return false
  }

  func leave() { count.subtract(1, ordering: .relaxed) }
}
