internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Returns freed memory to the system when a burst of connections is over or a configuration was read. Otherwise the C
/// library would keep it for as long as the process lives.
package final class HeapTrimmer: Sendable {
  /// The instance of this process.
  package static let process = HeapTrimmer(.process)

  /// `malloc_trim` of the GNU C library; others return memory by themselves.
  private static let trim = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
  }

  /// A burst that held so much more than is held now is worth the work.
  private static let worthwhileBytes = 2 << 20
  private static let worthwhileConnections = 200

  private let memory: MemoryInUse
  /// Whether a configuration was read since memory was last returned: one is read at every start.
  private let configurationWasRead = Atomic<Bool>(true)

  /// - Parameter memory: tells of bursts.
  init(_ memory: MemoryInUse) { self.memory = memory }

  /// Notes that a configuration or its lists were read again, which takes several times the memory of the result.
  package func noteReload() { configurationWasRead.store(true, ordering: .relaxed) }

  /// Returns memory where a burst is over since the last time, or a configuration was read. Takes some milliseconds:
  /// not for an event loop.
  /// - Returns: whether there was reason to.
  package func trimAfterBurst() -> Bool {
    guard
      configurationWasRead.exchange(false, ordering: .relaxed)
        || memory.heads.decline > Self.worthwhileBytes
        || memory.content.decline > Self.worthwhileBytes
        || memory.connections.decline > Self.worthwhileConnections
    else { return false }
    memory.heads.restartPeak()
    memory.content.restartPeak()
    memory.connections.restartPeak()
    _ = Self.trim?(0)
    return true
  }
}
