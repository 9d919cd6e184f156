internal import Synchronization

/// Counts the memory and the connections that clients use, and those that were ended because memory was used up.
package final class MemoryInUse: Sendable {
  /// The instance of this process.
  package static let process = MemoryInUse()

  /// Bytes held for incomplete requests (``IncompleteRequestBudget``).
  let heads = PeakCounter()
  /// Bytes of content that waits, beyond the allowances of its connections.
  let content = PeakCounter()
  /// Connections of every kind.
  let connections = PeakCounter()
  private let refusals = Atomic<Int>(0)
  private let unsent = Atomic<Int>(0)
  private let unread = Atomic<Int>(0)

  /// Counts an incomplete request or handshake that is ended for the memory it holds.
  func countUnfinishedRefusal() { refusals.add(1, ordering: .relaxed) }

  /// Counts a connection that is closed for the content it holds.
  func countClosure(for kind: ContentBudget.Kind) {
    switch kind {
    case .unsentResponses: unsent.add(1, ordering: .relaxed)
    case .unreadBodies: unread.add(1, ordering: .relaxed)
    }
  }

  /// Bytes held for incomplete requests and handshakes.
  package var headBytes: Int { heads.value }

  /// The number of incomplete requests and handshakes that were ended because they were the oldest when memory for
  /// these was used up.
  package var unfinishedRefusals: Int { refusals.load(ordering: .relaxed) }

  /// The number of connections that were closed because they held the most unsent responses when memory for these was
  /// used up.
  package var unsentClosures: Int { unsent.load(ordering: .relaxed) }

  /// The number of connections that were closed because they held the most unread request bodies when memory for these
  /// was used up.
  package var unreadClosures: Int { unread.load(ordering: .relaxed) }
}
