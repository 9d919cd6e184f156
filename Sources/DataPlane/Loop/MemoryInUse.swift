internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Memory that bursts of connections and the reading of a configuration have needed, and that goes back to the system
/// when they are over: the C library keeps what was freed, otherwise, for as long as the process lives.
package final class MemoryInUse: Sendable {
  /// The instance of this process.
  package static let process = MemoryInUse()

  /// `malloc_trim` of the GNU C library; others give back by themselves.
  private static let trim = dlsym(nil, "malloc_trim").map {
    unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
  }

  private let heads = Atomic<Int>(0)
  private let headsPeak = Atomic<Int>(0)
  private let content = Atomic<Int>(0)
  private let contentPeak = Atomic<Int>(0)
  private let refusals = Atomic<Int>(0)
  private let unsent = Atomic<Int>(0)
  private let unread = Atomic<Int>(0)
  private let connections = Atomic<Int>(0)
  private let connectionsPeak = Atomic<Int>(0)
  /// Whether a configuration was read since memory was last given back: one is read at every start.
  private let configurationWasRead = Atomic<Bool>(true)

  /// A burst that held so much more than is held now is worth the work.
  private static let worthwhileBytes = 2 << 20
  private static let worthwhileConnections = 200

  func changeHeads(by difference: Int) { Self.change(heads, headsPeak, by: difference) }

  func changeContent(by difference: Int) { Self.change(content, contentPeak, by: difference) }

  /// Counts an incomplete request or handshake that is ended for the memory it holds.
  func countUnfinishedRefusal() { refusals.add(1, ordering: .relaxed) }

  /// Counts a connection that is closed for the content it holds.
  func countClosure(for kind: ContentBudget.Kind) {
    switch kind {
    case .unsentResponses: unsent.add(1, ordering: .relaxed)
    case .unreadBodies: unread.add(1, ordering: .relaxed)
    }
  }

  func changeConnections(by difference: Int) { Self.change(connections, connectionsPeak, by: difference) }

  private static func change(_ value: borrowing Atomic<Int>, _ peak: borrowing Atomic<Int>, by difference: Int) {
    let now = value.add(difference, ordering: .relaxed).newValue
    if now > peak.load(ordering: .relaxed) { peak.store(now, ordering: .relaxed) }
  }

  /// Bytes held for what is not a request yet.
  package var headBytes: Int { heads.load(ordering: .relaxed) }

  /// The number of incomplete requests and handshakes that were ended because they were the oldest when memory for
  /// these was used up.
  package var unfinishedRefusals: Int { refusals.load(ordering: .relaxed) }

  /// The number of connections that were closed because they held the most unsent responses when memory for these was
  /// used up.
  package var unsentClosures: Int { unsent.load(ordering: .relaxed) }

  /// The number of connections that were closed because they held the most unread request bodies when memory for these
  /// was used up.
  package var unreadClosures: Int { unread.load(ordering: .relaxed) }

  /// Notes that a configuration or its lists were read again, which takes several times the memory of the result.
  package func noteReload() { configurationWasRead.store(true, ordering: .relaxed) }

  /// Gives memory back where a burst is over since the last time, or a configuration was read. Takes some milliseconds:
  /// not for an event loop.
  /// - Returns: whether there was reason to.
  package func giveBackAfterBurst() -> Bool {
    let (heads, connections) = (heads.load(ordering: .relaxed), connections.load(ordering: .relaxed))
    let content = content.load(ordering: .relaxed)
    guard
      configurationWasRead.exchange(false, ordering: .relaxed)
        || headsPeak.load(ordering: .relaxed) - heads > Self.worthwhileBytes
        || contentPeak.load(ordering: .relaxed) - content > Self.worthwhileBytes
        || connectionsPeak.load(ordering: .relaxed) - connections > Self.worthwhileConnections
    else { return false }
    headsPeak.store(heads, ordering: .relaxed)
    contentPeak.store(content, ordering: .relaxed)
    connectionsPeak.store(connections, ordering: .relaxed)
    _ = Self.trim?(0)
    return true
  }
}
