internal import Synchronization

/// A counter that only the thread of one event loop adds to, and that any thread may read.
///
/// With a single writer a load and a store lose nothing. An atomic addition would wait each time for all stores before
/// it, and a request counts a dozen things.
struct LoopCounter: ~Copyable, Sendable {
  private let value = Atomic<UInt64>(0)

  /// Adds, modulo 2^64. Called on the thread of the loop only.
  @inline(__always)
  func add(_ count: UInt64 = 1) { value.store(value.load(ordering: .relaxed) &+ count, ordering: .relaxed) }

  /// The sum of what was added.
  var total: UInt64 { value.load(ordering: .relaxed) }
}
