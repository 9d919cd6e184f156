internal import NIOCore

/// Limits the connections of one upstream to one address over all event loops, and queues the requests beyond the
/// limit. A reload that changes the upstream leaves it the same one, so that the connections of before count.
///
/// Each event loop has a pool of its own. A request without a connection waits in the queue of all pools. When a
/// connection ends, the request that has waited longest may open one, on whichever loop. An idle connection serves the
/// next request of its own pool, unless one of another pool has waited noticeably longer: then it is closed, so that
/// the other may open one. The idle connections of other pools are closed as soon as a request waits.
final class ConnectionLimiter: Sendable {
  /// The connections of all upstreams with this address.
  let address: AddressConnections
  /// Its number there.
  let share: AddressConnections.ShareID

  /// Notifies the pool of one event loop; may be called from any thread.
  typealias Notify = @Sendable (Notification) -> Void

  /// The number of a registered pool.
  typealias PoolID = Int

  /// A notification of a pool.
  enum Notification: Sendable {
    /// Open a connection for the request that has waited longest there.
    case granted
    /// Close idle connections: a request waits in another pool.
    case idleWanted
  }

  /// The result of an attempt to acquire a connection.
  enum Acquisition {
    /// The request may open one, and has to ``release()`` it when it has ended.
    case granted
    /// It waits until its pool is notified.
    case queued
    case queueFull
  }

  /// The pool whose request is to have a connection that has become idle.
  enum Claimant {
    case none
    /// The pool of the connection.
    case ownPool
    case otherPool
  }

  /// - Parameters:
  ///   - limit: the maximum number of connections; 0 is no limit.
  ///   - queueLimit: the maximum number of requests that wait.
  ///   - address: Default: one that no other upstream has.
  init(limit: Int, queueLimit: Int, at address: AddressConnections = AddressConnections()) {
    self.address = address
    share = address.addShare(limit: limit, queueLimit: queueLimit)
  }

  deinit { address.removeShare(share) }

  /// Requests that wait at this moment, those of upstreams of before a reload included.
  var waitingCount: Int { address.waitingCount(of: share) }

  /// Whether a request waits for a connection to the address, by any upstream.
  @inline(__always)
  var isWaitedFor: Bool { address.waitingCount > 0 }

  /// Registers a pool.
  func register(_ notify: @escaping Notify) -> PoolID { address.register(notify, of: share) }

  /// Forgets a pool none of whose requests waits.
  func unregister(_ pool: PoolID) { address.unregister(pool) }

  /// Acquires the right to open a connection.
  func acquire(for pool: PoolID, now: NIODeadline) -> Acquisition { address.acquire(share, for: pool, now: now) }

  /// A pool has been notified of ``Notification/idleWanted``, and closes its idle connections now: the next request
  /// that waits notifies it again.
  /// - Returns: how many it closes at most: one for each request that waits at the address, and as many as are open
  ///   beyond the limit.
  func acknowledgeIdleWanted(by pool: PoolID) -> Int { address.acknowledgeIdleWanted(by: pool) }

  /// Removes a request from the queue that has not been granted a connection.
  func withdraw(from pool: PoolID) { address.withdraw(share, from: pool) }

  /// A connection has ended, or is not to be made after all.
  func release() { address.release(share) }

  /// A connection of a pool has become idle.
  func claimant(of pool: PoolID) -> Claimant { address.claimant(share, of: pool) }
}
