internal import NIOCore
internal import Synchronization

/// Limits the connections to one upstream address over all event loops, and queues the requests beyond the limit.
///
/// A request without a connection waits at the desk of its loop. A connection that ends makes room for the request that
/// has waited longest, on whichever loop. A connection that becomes idle serves its own loop, unless a request on
/// another loop has waited noticeably longer; then it is closed to make room there. Idle connections of other loops are
/// closed as soon as a request waits.
final class UpstreamRoom: Sendable {
  /// Maximum number of connections; 0 is no limit, and then nothing here costs anything.
  let limit: Int
  private let queueLimit: Int
  private let state = Mutex(State())
  /// Requests that wait: read whenever a connection comes back.
  private let waiting = Atomic<Int>(0)

  /// Calls the pool of one event loop; may be called from any thread.
  typealias Desk = @Sendable (Call) -> Void

  /// A request to a pool.
  enum Call: Sendable {
    /// Make a connection for the request that has waited longest there.
    case grant
    /// Close idle connections: a request waits on another loop.
    case yieldIdle
  }

  /// The answer to a request that needs a connection.
  enum Answer {
    /// It may make one, and has to ``release()`` when that has ended.
    case taken
    /// It waits until its desk is called.
    case queued
    case full
  }

  /// The claimant of a connection that has become idle.
  enum Turn {
    case nobody
    /// The request at the same desk that has waited longest.
    case own
    /// A request at another desk.
    case another
  }

  private struct State {
    var open = 0
    var desks: [Int: Desk] = [:]
    var lastDesk = 0
    /// Waiting requests by desk, in order of arrival.
    var queue: [(desk: Int, since: NIODeadline)] = []
    /// Desks asked to close idle connections that have not done so yet.
    var asked: Set<Int> = []
  }

  /// Lead that a request on another loop needs: a new connection costs more than a short wait.
  private static let patience = TimeAmount.milliseconds(100)

  init(limit: Int, queueLimit: Int) {
    self.limit = limit
    self.queueLimit = queueLimit
  }

  /// Requests that wait at this moment.
  var waitingCount: Int { waiting.load(ordering: .relaxed) }

  /// Whether a request waits.
  @inline(__always)
  var isWaitedFor: Bool { limit > 0 && waiting.load(ordering: .relaxed) > 0 }

  /// Opens a desk; returns its number.
  func open(_ desk: @escaping Desk) -> Int {
    state.withLock { state in
      state.lastDesk += 1
      state.desks[state.lastDesk] = desk
      return state.lastDesk
    }
  }

  /// Closes a desk at which no request waits.
  func close(desk: Int) { state.withLock { _ = $0.desks.removeValue(forKey: desk) } }

  /// Asks for a connection.
  func ask(at desk: Int, now: NIODeadline) -> Answer {
    guard limit > 0 else { return .taken }
    let (answer, asked) = state.withLock { state -> (Answer, [Desk]) in
      if state.open < limit, state.queue.isEmpty {
        state.open += 1
        return (.taken, [])
      }
      guard state.queue.count < queueLimit else { return (.full, []) }
      state.queue.append((desk, now))
      count(state)
      let others = state.desks.filter { $0.key != desk && !state.asked.contains($0.key) }
      state.asked.formUnion(others.keys)
      return (.queued, Array(others.values))
    }
    for desk in asked { desk(.yieldIdle) }
    return answer
  }

  /// A desk has been asked for its idle connections, and looks for them now.
  func isLooking(_ desk: Int) { state.withLock { _ = $0.asked.remove(desk) } }

  /// Removes a request from the queue that has not been granted a connection.
  func withdraw(from desk: Int) {
    state.withLock { state in
      // It need not be the same one: the desk itself knows in which order they came.
      if let place = state.queue.lastIndex(where: { $0.desk == desk }) { state.queue.remove(at: place) }
      count(state)
    }
  }

  /// A connection has ended, or is not to be made after all.
  func release() {
    guard limit > 0 else { return }
    let next = state.withLock { state -> Desk? in
      while !state.queue.isEmpty {
        let first = state.queue.removeFirst()
        count(state)
        // The room stays taken: it is theirs.
        if let desk = state.desks[first.desk] { return desk }
      }
      state.open -= 1
      return nil
    }
    next?(.grant)
  }

  /// A connection has come back at a desk.
  func turn(at desk: Int) -> Turn {
    state.withLock { state in
      guard let first = state.queue.first else { return .nobody }
      guard let place = state.queue.firstIndex(where: { $0.desk == desk }),
        state.queue[place].since - first.since < Self.patience
      else { return .another }
      state.queue.remove(at: place)
      count(state)
      return .own
    }
  }

  private func count(_ state: borrowing State) { waiting.store(state.queue.count, ordering: .relaxed) }
}

/// A request that waits for a connection, in its event loop's pool.
final class UpstreamWaiter: TimedHandler {
  let pool: UpstreamPool
  private(set) weak var client: (any UpstreamResponseReceiver)?

  init(_ client: any UpstreamResponseReceiver, in pool: UpstreamPool) {
    self.client = client
    self.pool = pool
  }

  /// Leaves the queue: the client has gone, or has been answered.
  func withdraw() { pool.withdraw(self) }

  override func timedOut() {
    let client = client
    withdraw()
    client?.upstreamFailed(.noRoom)
  }
}
