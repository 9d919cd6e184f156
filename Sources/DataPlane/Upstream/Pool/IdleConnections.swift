internal import NIOCore

/// The idle connections of one pool. The newest is used first, so that surplus ones age.
///
/// The limit applies to surplus connections only: a burst of streams returns more connections than the limit at once,
/// and needs them again a moment later; closing them meanwhile would cost a connect for each of its requests.
final class IdleConnections: TimedHandler {
  private let wheel: TimerWheel
  private let limit: Int
  private var connections: [UpstreamConnection] = []
  /// Fewest idle connections since the last check for a surplus: so many were not needed since then.
  private var unused = 0
  private var isWatched = false

  /// Time for which a connection beyond the limit is not needed before it is closed.
  private static let surplusWait = TimeAmount.seconds(1)

  /// - Parameter limit: how many surplus connections are kept; 0 keeps none at all.
  init(limit: Int, wheel: TimerWheel) {
    self.limit = limit
    self.wheel = wheel
  }

  /// The newest.
  @inline(__always)
  func take() -> UpstreamConnection? {
    while let connection = connections.popLast() {
      unused = min(unused, connections.count)
      // One that is being closed may still be here.
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
    if connections.count > limit { watch(wheel.now) }
    for connection in surplus { connection.close() }
  }

  private func watch(_ now: NIODeadline) {
    isWatched = true
    unused = connections.count
    wheel.arm(self, after: Self.surplusWait, now: now)
  }
}
