/// A request that waits for a connection: in the queue of its event loop's pool, or for a connection that is being
/// established. It is answered once, or withdrawn. What comes afterwards is not passed to its client, which may have
/// another request by then, for another upstream.
final class UpstreamWaiter: TimedHandler {
  private let pool: UpstreamPool
  /// Released when it is answered or gives up. Not weak: what was referred to weakly once is slow to retain for ever.
  private var client: (any UpstreamResponseReceiver)?
  /// The connection that is being established for it.
  var connection: ObjectIdentifier?

  init(_ client: any UpstreamResponseReceiver, in pool: UpstreamPool) {
    self.client = client
    self.pool = pool
  }

  /// Whether the client still waits.
  var isWaiting: Bool { client != nil }

  /// Returns the client, to be answered now; nil if it no longer waits.
  func take() -> (any UpstreamResponseReceiver)? {
    defer { client = nil }
    return client
  }

  /// Gives up: the client has gone, or has been answered.
  func withdraw() {
    client = nil
    pool.withdraw(self)
  }

  /// It has waited in the queue for too long.
  override func timedOut() {
    let client = take()
    pool.withdraw(self)
    client?.upstreamFailed(.connectionLimit)
  }
}
