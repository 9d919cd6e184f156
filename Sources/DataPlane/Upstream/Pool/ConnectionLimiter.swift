internal import NIOCore
internal import Synchronization

/// Limits the connections to one upstream address over all event loops, and queues the requests beyond the limit.
///
/// Each event loop has a pool of its own. A request without a connection waits in the queue of all pools. When a
/// connection ends, the request that has waited longest may open one, on whichever loop. An idle connection serves the
/// next request of its own pool, unless one of another pool has waited noticeably longer: then it is closed, so that
/// the other may open one. The idle connections of other pools are closed as soon as a request waits.
final class ConnectionLimiter: Sendable {
  /// Maximum number of connections; 0 is no limit, and then nothing here costs anything.
  let limit: Int
  private let queueLimit: Int
  private let state = Mutex(State())
  /// Requests that wait: read whenever a connection comes back.
  private let waiting = Atomic<Int>(0)

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

  private struct State {
    var open = 0
    var pools: [PoolID: Notify] = [:]
    var lastPool: PoolID = 0
    /// Waiting requests by pool, in order of arrival.
    var queue: [(pool: PoolID, since: NIODeadline)] = []
    /// Pools that were asked to close idle connections and have not done so yet.
    var asked: Set<PoolID> = []
  }

  /// Lead that a request of another pool needs: a new connection costs more than a short wait.
  private static let minimumLead = TimeAmount.milliseconds(100)

  init(limit: Int, queueLimit: Int) {
    self.limit = limit
    self.queueLimit = queueLimit
  }

  /// Requests that wait at this moment.
  var waitingCount: Int { waiting.load(ordering: .relaxed) }

  /// Whether a request waits.
  @inline(__always)
  var isWaitedFor: Bool { limit > 0 && waiting.load(ordering: .relaxed) > 0 }

  /// Registers a pool.
  func register(_ notify: @escaping Notify) -> PoolID {
    state.withLock { state in
      state.lastPool += 1
      state.pools[state.lastPool] = notify
      return state.lastPool
    }
  }

  /// Forgets a pool none of whose requests waits.
  func unregister(_ pool: PoolID) {
    state.withLock { state in
      state.pools[pool] = nil
      state.asked.remove(pool)
    }
  }

  /// Acquires the right to open a connection.
  func acquire(for pool: PoolID, now: NIODeadline) -> Acquisition {
    guard limit > 0 else { return .granted }
    let (acquisition, asked) = state.withLock { state -> (Acquisition, [Notify]) in
      if state.open < limit, state.queue.isEmpty {
        state.open += 1
        return (.granted, [])
      }
      guard state.queue.count < queueLimit else { return (.queueFull, []) }
      state.queue.append((pool, now))
      count(state)
      let others = state.pools.filter { $0.key != pool && !state.asked.contains($0.key) }
      state.asked.formUnion(others.keys)
      return (.queued, Array(others.values))
    }
    for notify in asked { notify(.idleWanted) }
    return acquisition
  }

  /// A pool has been notified of ``Notification/idleWanted``, and closes its idle connections now: the next request
  /// that waits notifies it again.
  func acknowledgeIdleWanted(by pool: PoolID) { state.withLock { _ = $0.asked.remove(pool) } }

  /// Removes a request from the queue that has not been granted a connection.
  func withdraw(from pool: PoolID) {
    state.withLock { state in
      // It need not be the same one: the pool itself knows in which order they came.
      if let place = state.queue.lastIndex(where: { $0.pool == pool }) { state.queue.remove(at: place) }
      count(state)
    }
  }

  /// A connection has ended, or is not to be made after all.
  func release() {
    guard limit > 0 else { return }
    let next = state.withLock { state -> Notify? in
      while !state.queue.isEmpty {
        let first = state.queue.removeFirst()
        count(state)
        // The right passes on to that pool.
        if let notify = state.pools[first.pool] { return notify }
      }
      state.open -= 1
      return nil
    }
    next?(.granted)
  }

  /// A connection of a pool has become idle.
  func claimant(of pool: PoolID) -> Claimant {
    state.withLock { state in
      guard let first = state.queue.first else { return .none }
      guard let place = state.queue.firstIndex(where: { $0.pool == pool }),
        state.queue[place].since - first.since < Self.minimumLead
      else { return .otherPool }
      state.queue.remove(at: place)
      count(state)
      return .ownPool
    }
  }

  private func count(_ state: borrowing State) { waiting.store(state.queue.count, ordering: .relaxed) }
}
