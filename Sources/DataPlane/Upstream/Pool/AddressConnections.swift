internal import NIOCore
internal import Synchronization

/// The connections to one address by all upstreams that have it, and the requests that wait for one. An application may
/// have several upstreams, as for another timeout on some paths.
///
/// Each upstream has a share with a limit of its own. All shares together have at most as many connections as the
/// largest limit in the present configuration. A share without a limit is neither counted nor held up.
final class AddressConnections: Sendable {
  typealias Notify = ConnectionLimiter.Notify
  typealias PoolID = ConnectionLimiter.PoolID

  /// The number of a share.
  typealias ShareID = Int

  /// The limits of a share.
  struct ShareLimits {
    /// Maximum number of connections; 0 is no limit.
    let connections: Int
    /// Maximum number of requests that wait.
    let queue: Int
  }

  private let state = Mutex(State())
  /// Requests that wait: read whenever a connection comes back.
  private let waiting = Atomic<Int>(0)

  private struct Share {
    var limits: ShareLimits
    /// Whether an upstream of the present configuration has it.
    var isPresent = false
    var open = 0
    /// Waiting requests by pool, in order of arrival.
    var queue: [(pool: PoolID, since: NIODeadline)] = []
  }

  private struct State {
    var shares: [ShareID: Share] = [:]
    var lastShare: ShareID = 0
    var pools: [PoolID: (share: ShareID, notify: Notify)] = [:]
    var lastPool: PoolID = 0
    /// Pools that were asked to close idle connections and have not done so yet.
    var asked: Set<PoolID> = []

    // Totals of all shares: an address may have hundreds of them.
    /// Requests that wait.
    private(set) var waiting = 0
    /// Connections that are counted.
    private var open = 0
    /// Maximum number of connections of all shares together.
    private var limit = Int.max

    /// Takes the totals again, after shares or limits have changed.
    mutating func total() {
      waiting = shares.values.reduce(0) { $0 + $1.queue.count }
      open = shares.values.reduce(0) { $1.limits.connections > 0 ? $0 + $1.open : $0 }
      let limits = shares.values.lazy.filter { $0.isPresent && $0.limits.connections > 0 }.map(\.limits.connections)
      limit = limits.max() ?? .max
    }

    /// Counts connections of a share that have begun, or with a negative number those that have ended.
    mutating func count(_ connections: Int, of id: ShareID) {
      shares[id]?.open += connections
      if let limits = shares[id]?.limits, limits.connections > 0 { open += connections }
    }

    /// Adds a request to the end of a share's queue.
    mutating func enqueue(_ pool: PoolID, since: NIODeadline, in id: ShareID) {
      guard shares[id] != nil else { return }
      shares[id]?.queue.append((pool, since))
      waiting += 1
    }

    /// Removes a request from a share's queue.
    /// - Returns: its pool; nil without such a share.
    @discardableResult
    mutating func dequeue(at place: Int, from id: ShareID) -> PoolID? {
      guard let removed = shares[id]?.queue.remove(at: place) else { return nil }
      waiting -= 1
      return removed.pool
    }

    /// Connections beyond the limit of all shares together, because a reload has lowered it.
    var excess: Int { max(0, open - limit) }

    /// Whether a share may open a connection.
    /// - Parameter closing: a share one of whose connections is closed before. Default: nil: none.
    func hasRoom(_ id: ShareID, closing: ShareID? = nil) -> Bool {
      guard let share = shares[id], share.limits.connections > 0 else { return true }
      let isCounted = closing.flatMap { shares[$0] }.map { $0.limits.connections > 0 } ?? false
      return share.open - (closing == id ? 1 : 0) < share.limits.connections && open - (isCounted ? 1 : 0) < limit
    }

    /// Whether more connections are open than a share may have, because a reload has lowered a limit.
    func isOverLimit(_ id: ShareID) -> Bool {
      guard let share = shares[id], share.limits.connections > 0 else { return false }
      return share.open > share.limits.connections || open > limit
    }

    /// Of the shares that may open a connection, the one whose request has waited longest.
    /// - Parameter closing: as above.
    func next(closing: ShareID? = nil) -> (share: ShareID, since: NIODeadline)? {
      guard waiting > 0 else { return nil }
      var found: (share: ShareID, since: NIODeadline)?
      for (id, share) in shares {
        guard let since = share.queue.first?.since, hasRoom(id, closing: closing) else { continue }
        if let earlier = found, (earlier.since, earlier.share) < (since, id) { continue }
        found = (id, since)
      }
      return found
    }

    /// Has pools close idle connections that have not been asked yet.
    /// - Parameters:
    ///   - share: the one whose pools are asked. Default: nil: all.
    ///   - asking: the pool that needs the room. Default: nil: none.
    /// - Returns: the pools to be notified.
    mutating func askForIdle(of share: ShareID? = nil, for asking: PoolID? = nil) -> [Notify] {
      let others = pools.filter { other in
        other.key != asking && !asked.contains(other.key) && (share == nil || other.value.share == share)
      }
      asked.formUnion(others.keys)
      return others.values.map { $0.notify }
    }

    /// Grants connections to the requests that have waited longest, as far as there is room.
    /// - Returns: the pools to be notified.
    mutating func grant() -> [Notify] {
      var granted: [Notify] = []
      while let (id, _) = next(), let first = dequeue(at: 0, from: id) {
        guard let pool = pools[first] else { continue }
        count(1, of: id)
        granted.append(pool.notify)
      }
      return granted
    }
  }

  // MARK: Shares

  /// Adds the share of an upstream.
  func addShare(limit: Int, queueLimit: Int) -> ShareID {
    state.withLock { state in
      state.lastShare += 1
      state.shares[state.lastShare] = Share(limits: ShareLimits(connections: limit, queue: queueLimit))
      return state.lastShare
    }
  }

  /// Removes a share that has neither connections nor requests.
  func removeShare(_ share: ShareID) {
    state.withLock { state in
      state.shares[share] = nil
      state.total()
    }
  }

  /// Applies the limits of the present configuration. A share that it does not have keeps its own limit, until its last
  /// connection has ended.
  func apply(_ limits: [ShareID: ShareLimits]) {
    let (granted, asked) = state.withLock { state -> ([Notify], [Notify]) in
      for id in state.shares.keys {
        state.shares[id]?.isPresent = limits[id] != nil
        if let next = limits[id] { state.shares[id]?.limits = next }
      }
      state.total()
      let granted = state.grant()
      publishWaiting(state)
      return (granted, state.waiting > 0 && state.excess > 0 ? state.askForIdle() : [])
    }
    for notify in granted { notify(.granted) }
    for notify in asked { notify(.idleWanted) }
  }

  // MARK: Requests

  /// Requests that wait at this moment.
  @inline(__always)
  var waitingCount: Int { waiting.load(ordering: .relaxed) }

  func waitingCount(of share: ShareID) -> Int { state.withLock { $0.shares[share]?.queue.count ?? 0 } }

  func register(_ notify: @escaping Notify, of share: ShareID) -> PoolID {
    state.withLock { state in
      state.lastPool += 1
      state.pools[state.lastPool] = (share, notify)
      return state.lastPool
    }
  }

  func unregister(_ pool: PoolID) {
    state.withLock { state in
      state.pools[pool] = nil
      state.asked.remove(pool)
    }
  }

  func acquire(_ id: ShareID, for pool: PoolID, now: NIODeadline) -> ConnectionLimiter.Acquisition {
    let (acquisition, asked) = state.withLock { state -> (ConnectionLimiter.Acquisition, [Notify]) in
      // No copy of the share: its queue would be copied as well when it changes.
      guard let limits = state.shares[id]?.limits, let open = state.shares[id]?.open,
        let waiting = state.shares[id]?.queue.count
      else { return (.granted, []) }
      if waiting == 0, state.hasRoom(id) {
        state.count(1, of: id)
        return (.granted, [])
      }
      guard waiting < limits.queue else { return (.queueFull, []) }
      state.enqueue(pool, since: now, in: id)
      publishWaiting(state)
      // At a limit of its own, no connection of another share makes room, unless a reload has left too many of them.
      let isOwnLimit = open >= limits.connections && state.excess == 0
      return (.queued, state.askForIdle(of: isOwnLimit ? id : nil, for: pool))
    }
    for notify in asked { notify(.idleWanted) }
    return acquisition
  }

  func acknowledgeIdleWanted(by pool: PoolID) -> Int {
    state.withLock { state in
      state.asked.remove(pool)
      return state.waiting == 0 ? 0 : state.waiting + state.excess
    }
  }

  func withdraw(_ id: ShareID, from pool: PoolID) {
    state.withLock { state in
      // It need not be the same one: the pool itself knows in which order they came.
      if let place = state.shares[id]?.queue.lastIndex(where: { $0.pool == pool }) {
        state.dequeue(at: place, from: id)
      }
      publishWaiting(state)
    }
  }

  func release(_ id: ShareID) {
    let granted = state.withLock { state in
      state.count(-1, of: id)
      let granted = state.grant()
      publishWaiting(state)
      return granted
    }
    for notify in granted { notify(.granted) }
  }

  /// Lead that a request of another pool needs: a new connection costs more than a short wait.
  private static let minimumLead = TimeAmount.milliseconds(100)

  func claimant(_ id: ShareID, of pool: PoolID) -> ConnectionLimiter.Claimant {
    state.withLock { state in
      if state.isOverLimit(id) { return .otherPool }
      guard let first = state.next(closing: id) else { return .none }
      guard let place = state.shares[id]?.queue.firstIndex(where: { $0.pool == pool }),
        let since = state.shares[id]?.queue[place].since, since - first.since < Self.minimumLead
      else { return .otherPool }
      state.dequeue(at: place, from: id)
      publishWaiting(state)
      return .ownPool
    }
  }

  private func publishWaiting(_ state: borrowing State) { waiting.store(state.waiting, ordering: .relaxed) }
}
