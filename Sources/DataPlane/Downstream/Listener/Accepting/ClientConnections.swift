internal import Synchronization
internal import WebFormats

/// Counts the open connections of each client over all event loops, where there is a limit. Touched when a connection
/// begins and ends only. Its memory is bounded by the number of connections.
final class ClientConnections: Sendable {
  /// Most connections of one client; 0 for no limit.
  private let limit: Atomic<Int>
  private let counts = Mutex<[ClientNetwork: Int]>([:])

  init(limit: Int) { self.limit = Atomic(max(0, limit)) }

  /// Another limit from now on, for connections that begin. Those that began without a limit were not counted.
  func apply(limit: Int) { self.limit.store(max(0, limit), ordering: .relaxed) }

  enum Outcome: Equatable {
    /// The connection is not counted.
    case uncounted
    /// The connection is counted until ``leave(_:)``.
    case counted(ClientNetwork)
    case refused
  }

  /// One more connection of a peer. Trusted proxies and peers of a Unix socket have no limit.
  func enter(_ peer: ClientPeer) -> Outcome {
    let limit = limit.load(ordering: .relaxed)
    guard limit > 0, !peer.isTrusted, let address = IPAddress(peer.address) else { return .uncounted }
    let key = ClientNetwork(address)
    return counts.withLock { counts in
      let count = counts[key] ?? 0
      guard count < limit else { return .refused }
      counts[key] = count + 1
      return .counted(key)
    }
  }

  func leave(_ key: ClientNetwork) {
    counts.withLock { counts in
      guard let count = counts[key] else { return }
      counts[key] = count > 1 ? count - 1 : nil
    }
  }

  /// Clients with a counted connection.
  var clientCount: Int { counts.withLock(\.count) }
}
