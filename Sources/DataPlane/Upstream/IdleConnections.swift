internal import NIOCore

/// The connections of one pool that carry nothing at present. The newest is used first: those of no use grow old.
///
/// The limit is for those of no use. A burst of streams brings back more connections than it at once, and wants them
/// again a moment later: closing them in between would cost a connect for each of the burst's requests.
final class IdleConnections: TimedHandler {
  private let wheel: TimerWheel
  private let limit: Int
  private var connections: [UpstreamConnection] = []
  /// Fewest that lay here since the surplus was looked at: so many were of no use since then.
  private var unused = 0
  private var isWatched = false

  /// How long a connection beyond the limit has to be of no use.
  private static let surplusWait = TimeAmount.seconds(1)

  /// - Parameter limit: how many are kept although they are of no use; 0 keeps none at all.
  init(limit: Int, wheel: TimerWheel) {
    self.limit = limit
    self.wheel = wheel
  }

  /// The newest.
  @inline(__always)
  func take() -> UpstreamConnection? {
    while let connection = connections.popLast() {
      unused = min(unused, connections.count)
      // One whose end is on its way may still lie here.
      if connection.isIdle { return connection }
    }
    return nil
  }

  /// Keeps one, or closes it where none is kept.
  @inline(__always)
  func keep(_ connection: UpstreamConnection, now: NIODeadline) {
    guard limit > 0 else { return connection.close() }
    connections.append(connection)
    connection.awaitUse(now: now)
    if connections.count > limit, !isWatched { watch(now) }
  }

  /// Forgets one.
  func remove(_ connection: UpstreamConnection) {
    guard let place = connections.lastIndex(where: { $0 === connection }) else { return }
    connections.remove(at: place)
    unused = min(unused, connections.count)
  }

  /// Closes all.
  func close() {
    wheel.remove(self)
    isWatched = false
    let all = connections
    connections = []
    for connection in all { connection.close() }
  }

  override func timedOut() {
    isWatched = false
    let surplus = connections.prefix(max(0, min(unused, connections.count - limit)))
    connections.removeFirst(surplus.count)
    if connections.count > limit { watch(.now()) }
    for connection in surplus { connection.close() }
  }

  private func watch(_ now: NIODeadline) {
    isWatched = true
    unused = connections.count
    wheel.arm(self, after: Self.surplusWait, now: now)
  }
}
