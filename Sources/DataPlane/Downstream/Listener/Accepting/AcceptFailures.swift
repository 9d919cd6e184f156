internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Failures to accept a connection for another reason than a lack of descriptors or memory, on all event loops
/// together: a security module that forbids it, for example. The clients wait in the backlog, which nothing else shows.
package final class AcceptFailures: Sendable {
  /// Those of this process.
  package static let process = AcceptFailures()

  private let total = Atomic<Int>(0)
  private let last = Atomic<CInt>(0)

  init() {}

  /// - Parameter number: of errno(3).
  func failed(_ number: CInt) {
    last.store(number, ordering: .relaxed)
    total.add(1, ordering: .relaxed)
  }

  /// The number of failed attempts. Each listening socket makes up to ten a second.
  package var count: Int { total.load(ordering: .relaxed) }

  /// The text of the last error.
  package var reason: String { String(cString: strerror(last.load(ordering: .relaxed))) }
}
