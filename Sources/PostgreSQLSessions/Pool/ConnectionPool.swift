import Dispatch
import Sessions
import Synchronization

/// A bounded number of connections, each with a thread of its own, opened when they are needed.
///
/// Work that has begun is always finished, whether or not its caller was cancelled meanwhile.
final class ConnectionPool: Sendable {
  let address: ServerAddress
  private let limits: TimeLimits
  private let shared: Mutex<Shared>

  private struct Shared {
    var state: PoolState<Job>
    var turnover: ConnectionTurnover
    var wakeUps: [PoolState<Job>.Worker: DispatchSemaphore] = [:]
    /// The tasks that wait for the last worker to end.
    var closing: [CheckedContinuation<Void, Never>] = []
    /// Called with the first error for which an old connection is kept.
    var reportKept: (@Sendable (StoreError) -> Void)?
    /// Whether that was called, and no connection has been opened since.
    var isKeptReported = false
  }

  /// The connection of a worker.
  private struct OpenConnection {
    let connection: Connection
    var tenure: ConnectionTurnover.Tenure
  }

  /// One piece of work, and the callbacks of its caller.
  private struct Job: Sendable {
    /// Makes one attempt. Called again on another connection, or after a pause, if the result says so.
    let attempt: @Sendable (Connection, _ before: EarlierAttempts) -> Attempt
    let refuse: @Sendable (StoreError) -> Void
    /// The time after which its caller no longer waits.
    let expires: ContinuousClock.Instant
  }

  /// The earlier attempts of the same job.
  private struct EarlierAttempts {
    var collisions = 0
    var hasReconnected = false
  }

  private enum Attempt {
    case done
    /// It failed, and the connection can no longer be used.
    case failed(DatabaseError, StoreError)
    /// It conflicted with another transaction.
    case retry
    /// The connection was lost, and nothing has happened.
    case reconnect
  }

  /// The largest number of jobs that wait for a connection.
  private static let queueLimit = 4_096
  /// The number of attempts of a transaction that conflicts with others.
  private static let mostAttempts = 12

  /// - Parameter size: the largest number of connections.
  init(_ address: ServerAddress, size: Int, limits: TimeLimits) {
    self.address = address
    self.limits = limits
    shared = Mutex(
      Shared(
        state: PoolState(limit: size, queueLimit: Self.queueLimit),
        turnover: ConnectionTurnover(lifetime: limits.connectionLifetime)))
  }

  /// Runs `body` on the connection of a worker.
  ///
  /// - Parameter isRetryable: whether it is idempotent. Then it is also retried, once by each worker that takes it, if
  ///   it is unknown whether it was carried out before the connection broke.
  func run<Value: Sendable>(
    isRetryable: Bool, _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws(StoreError) -> Value {
    let address = address
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      submit(
        Job(
          attempt: { connection, before in
            do {
              let value = try body(connection)
              continuation.resume(returning: .success(value))
              return .done
            } catch {
              let failure = error as? DatabaseError
              if failure?.isCollision == true, before.collisions + 1 < Self.mostAttempts { return .retry }
              if failure?.isWorthReconnecting(isRetryable: isRetryable) == true, !before.hasReconnected {
                return .reconnect
              }
              let storeError = StoreError(error, at: address)
              continuation.resume(returning: .failure(storeError))
              return failure.map { $0.endsConnection ? .failed($0, storeError) : .done } ?? .done
            }
          },
          refuse: { continuation.resume(returning: .failure($0)) },
          expires: .now + limits.connect + limits.statement))
    }
    return try result.get()
  }

  /// Has every connection replaced before its next job, because another server answers than before. A job that is
  /// under way is finished on its connection.
  func retireConnections() { shared.withLock { $0.turnover.beginNext(at: .now) } }

  /// See ``PoolState/shortage``.
  var shortage: StoreError? { shared.withLock { $0.state.shortage } }

  /// Has `report` called when an old connection is kept because no other one can be opened: once, until one is renewed.
  func onKeptConnection(_ report: @escaping @Sendable (StoreError) -> Void) {
    shared.withLock { $0.reportKept = report }
  }

  /// Finishes the work that has begun, and closes every connection.
  func close() async {
    await withCheckedContinuation { continuation in
      let isOver = shared.withLock { shared in
        for worker in shared.state.close() { shared.wakeUps[worker]?.signal() }
        if shared.state.workers > 0 { shared.closing.append(continuation) }
        return shared.state.workers == 0
      }
      if isOver { continuation.resume() }
    }
  }

  private func submit(_ job: Job) {
    let placement = shared.withLock { shared in
      let placement = shared.state.place(job, at: .now)
      switch placement {
      case .wake(let worker): shared.wakeUps[worker]?.signal()
      case .start(let worker): shared.wakeUps[worker] = DispatchSemaphore(value: 0)
      case .queued, .refused: break
      }
      return placement
    }
    switch placement {
    case .wake, .queued: break
    case .refused(let error): job.refuse(error ?? .closed(address))
    case .start(let worker):
      do throws(StoreError) {
        try StoreThread.start(named: "cordon-postgres") { [self] in work(as: worker) }
      } catch {
        shared.withLock { shared in
          shared.state.abandon(worker)
          shared.wakeUps[worker] = nil
        }
        job.refuse(error)
      }
    }
  }

  // MARK: On a worker's thread

  private func work(as worker: Int) {
    var connection: OpenConnection?
    while true {
      let isConnected = connection != nil
      let (next, wakeUp) = shared.withLock {
        ($0.state.next(for: worker, isConnected: isConnected, at: .now), $0.wakeUps[worker])
      }
      switch next {
      case .job(let assignment): guard serve(assignment, as: worker, &connection) else { return }
      case .wait: wakeUp?.wait()
      case .end:
        // Before `close` returns: libpq must not run while the process ends and OpenSSL cleans up.
        connection = nil
        return removeWorker(worker)
      }
    }
  }

  /// - Returns: false if this worker has ended.
  private func serve(
    _ assignment: PoolState<Job>.Assignment, as worker: Int, _ connection: inout OpenConnection?
  ) -> Bool {
    let job = assignment.job
    if job.expires < .now {
      job.refuse(
        StoreError(
          code: .busy, message: "\(address) did not get round to it in time; look at its load and at its locks"))
      return true
    }
    var before = EarlierAttempts()
    while true {
      review(&connection, of: worker)
      if connection == nil {
        if let moment = assignment.connectAfter { StoreThread.sleep(until: moment) }
        let began = ContinuousClock.now
        do {
          connection = try connect()
        } catch {
          return refuse(for: worker, job, StoreError(error, at: address), after: .now - began)
        }
      }
      guard let open = connection else { return true }
      switch job.attempt(open.connection, before) {
      case .done: return true
      case .retry:
        before.collisions += 1
        open.connection.pause(milliseconds: .random(in: 1...Int32(1 << min(before.collisions, 5))))
      case .reconnect:
        before.hasReconnected = true
        noteFailure(of: open.tenure)
        connection = nil
      case .failed(let failure, let error):
        noteFailure(of: open.tenure)
        connection = nil
        // statement_timeout did not fire: assume that the server hangs, and fail the queued work.
        if case .timedOut = failure {
          let waiting = shared.withLock { $0.state.noteOutage(error, after: limits.statement + .seconds(1), at: .now) }
          for job in waiting { job.refuse(error) }
        }
        return true
      }
    }
  }

  private func connect() throws -> OpenConnection {
    let tenure = shared.withLock { $0.turnover.tenure(at: .now, jitter: TimeLimits.jitter()) }
    let connection = try Connection(address, limits: limits)
    shared.withLock { $0.isKeptReported = false }
    return OpenConnection(connection: connection, tenure: tenure)
  }

  /// Closes a connection that has ended, or that may lead to a server that was left, and renews one that is old.
  private func review(_ connection: inout OpenConnection?, of worker: Int) {
    guard let tenure = connection?.tenure else { return }
    guard connection?.connection.isAlive == true else {
      // A sign of another server, although a firewall or `idle_session_timeout` may have closed the connection: a
      // failover ends idle connections in the same way, and may show nowhere else. Others that lead to the server that
      // was left would go on to answer, and to acknowledge what is lost then. Where it was no failover, each other
      // connection is opened again before its next job, at most once in `ConnectionTurnover.shortestGeneration`.
      noteFailure(of: tenure)
      connection = nil
      return
    }
    switch shared.withLock({ $0.turnover.action(for: tenure, at: .now) }) {
    case .keep: break
    case .close: connection = nil
    case .renew:
      do {
        connection = try connect()
      } catch {
        let failure = StoreError(error, at: address)
        if givesUp(worker, after: failure) {
          connection = nil
        } else {
          connection?.tenure = keep(tenure, because: failure)
        }
      }
    }
  }

  /// Whether a worker closes its old connection before it opens another one: the server accepts no more connections
  /// than there are, and others do the work if somebody else takes the place. Else connections would never be renewed
  /// under a limit that has no room for one more.
  private func givesUp(_ worker: Int, after error: StoreError) -> Bool {
    error.code == .busy && shared.withLock { $0.state.giveUpConnection(of: worker, at: .now) }
  }

  /// Keeps an old connection because no other one can be opened.
  private func keep(_ tenure: ConnectionTurnover.Tenure, because error: StoreError) -> ConnectionTurnover.Tenure {
    let (postponed, report) = shared.withLock { shared in
      let report = shared.isKeptReported ? nil : shared.reportKept
      shared.isKeptReported = true
      return (shared.turnover.postponed(tenure, at: .now), report)
    }
    report?(error)
    return postponed
  }

  /// Notes that an established connection was lost, or leads to a server that cannot be written.
  private func noteFailure(of tenure: ConnectionTurnover.Tenure) {
    shared.withLock { $0.turnover.noteFailure(of: tenure, at: .now) }
  }

  /// Handles a failure to connect.
  /// - Returns: false if the worker ends because of it.
  private func refuse(for worker: Int, _ job: Job, _ error: StoreError, after duration: Duration) -> Bool {
    let action = shared.withLock { shared in
      let action = shared.state.noteFailure(of: worker, with: job, error, after: duration, at: .now)
      if case .handOver(let other?) = action { shared.wakeUps[other]?.signal() }
      return action
    }
    switch action {
    case .handOver:
      removeWorker(worker)
      return false
    case .refuse(let jobs):
      for job in jobs { job.refuse(error) }
      return true
    }
  }

  private func removeWorker(_ worker: Int) {
    let waiting = shared.withLock { shared in
      shared.wakeUps[worker] = nil
      guard shared.state.isClosed, shared.state.workers == 0 else { return [CheckedContinuation<Void, Never>]() }
      defer { shared.closing = [] }
      return shared.closing
    }
    for continuation in waiting { continuation.resume() }
  }
}
