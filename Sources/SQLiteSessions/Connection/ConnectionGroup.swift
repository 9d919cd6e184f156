import Synchronization
import Threads

/// Connections of one kind, and the jobs that wait for one. A job that does not end in time is given up: its caller is
/// told, and so are those that wait, if no connection is left for them. What comes then fails at once, until one of the
/// connections has ended its job.
///
/// A job that was given up may still be carried out, because its call cannot be ended; one that had not begun is not.
final class ConnectionGroup: Sendable {
  private let connections: [DatabaseLane]
  private let timer: StallTimer
  private let shared: Mutex<Shared>

  private struct Job: Sendable {
    /// Does it, and returns what tells the caller of the result.
    let run: @Sendable (DatabaseLane) -> @Sendable () -> Void
    /// Tells the caller, unless it has a result already.
    let fail: @Sendable (any Error) -> Void
  }

  private struct Shared {
    var schedule: ReaderSchedule<Job>
    var stalls: StallWatch<Job>
    /// The call of `waitUntilIdle`.
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// A caller that waits for a result, and is given one, whichever comes first.
  private final class Caller<Value: Sendable>: Sendable {
    typealias Answer = @Sendable (Result<Value, any Error>) -> Void

    private let answer: Mutex<Answer?>

    init(_ answer: @escaping Answer) { self.answer = Mutex(answer) }

    func tell(_ result: Result<Value, any Error>) {
      let answer = answer.withLock { $0.take() }
      answer?(result)
    }
  }

  /// The connections do not answer.
  struct NoAnswerError: Error {}

  /// - Parameters:
  ///   - limit: the time after which a job is given up; nil waits without end.
  ///   - timer: has the jobs given up; several groups may share it.
  init(_ connections: [DatabaseLane], limit: Duration?, timer: StallTimer) {
    self.connections = connections
    self.timer = timer
    shared = Mutex(
      Shared(
        schedule: ReaderSchedule(readers: connections.count),
        stalls: StallWatch(connections: connections.count, limit: limit)))
    timer.add { [weak self] due in self?.giveUp(dueAt: due) }
  }

  /// Calls `body` with a connection that is free, or when one is.
  /// - Throws: the error of `body`; `NoAnswerError` if it does not end in time; `DatabasePool.ClosedError`.
  func run<Value: Sendable>(_ body: @escaping @Sendable (DatabaseLane) throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      start(body) { continuation.resume(with: $0) }
    }
  }

  /// Has `body` called with a connection that is free, or when one is.
  /// - Parameter answer: is called once, on any thread, with the result or with the error as of ``run(_:)``.
  func start<Value: Sendable>(
    _ body: @escaping @Sendable (DatabaseLane) throws -> Value,
    _ answer: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    let caller = Caller(answer)
    submit(
      Job(
        run: { connection in
          let result = Result { try body(connection) }
          return { caller.tell(result) }
        },
        fail: { caller.tell(.failure($0)) }))
  }

  /// Refuses what comes from now on. What waits is still done.
  /// - Returns: false if it was closed before.
  @discardableResult
  func close() -> Bool {
    shared.withLock { shared in
      defer { shared.schedule.close() }
      return !shared.schedule.isClosed
    }
  }

  /// Waits until everything is done. To be called once, after `close`.
  func waitUntilIdle() async {
    await withCheckedContinuation { continuation in
      let isIdle = shared.withLock { shared in
        if !shared.schedule.isIdle { shared.waiting = continuation }
        return shared.schedule.isIdle
      }
      if isIdle { continuation.resume() }
    }
  }

  private func submit(_ job: Job) {
    let placement: ReaderSchedule<Job>.Placement? = shared.withLock { shared in
      if shared.stalls.isStalled, !shared.schedule.isClosed { return nil }
      let placement = shared.schedule.place(job)
      if case .start(let connection) = placement { shared.stalls.begin(job, on: connection, at: .now) }
      return placement
    }
    switch placement {
    case .start(let connection)?:
      watch()
      begin(job, on: connection)
    case .queued?: break
    case .refused?: job.fail(DatabasePool.ClosedError())
    case nil: job.fail(NoAnswerError())
    }
  }

  /// Has a job done. Blocks nobody: event loops begin some, too.
  private func begin(_ job: Job, on connection: Int) {
    do throws(ThreadError) {
      try connections[connection].add { [self] in serve(job, on: connection) }
    } catch {
      // The system has no thread left, but the store must not stand still.
      Task { serve(job, on: connection) }
    }
  }

  /// Does one job, and then those that wait.
  private func serve(_ first: Job, on connection: Int) {
    var job: Job? = first
    while let current = job {
      let tell = current.run(connections[connection])
      // First, so that what the caller asks for next gets this connection, whose cache is warm, and opens no other.
      job = next(for: connection)
      if job != nil { watch() }
      tell()
    }
  }

  private func next(for connection: Int) -> Job? {
    let (next, waiting) = shared.withLock { shared -> (Job?, CheckedContinuation<Void, Never>?) in
      shared.stalls.end(on: connection)
      if let next = shared.schedule.next(for: connection) {
        shared.stalls.begin(next, on: connection, at: .now)
        return (next, nil)
      }
      return (nil, shared.schedule.isIdle ? shared.waiting.take() : nil)
    }
    waiting?.resume()
    return next
  }

  /// Has the jobs that are under way given up in time.
  private func watch() {
    if let deadline = shared.withLock({ $0.stalls.nextDeadline }) { timer.set(to: deadline) }
  }

  /// Gives up the jobs that have taken too long.
  /// - Parameter due: when this was to be done.
  /// - Returns: when the next one will have.
  private func giveUp(dueAt due: StallTimer.Instant) -> StallTimer.Instant? {
    let (overdue, deadline) = shared.withLock { shared -> ([Job], StallTimer.Instant?) in
      let running = shared.stalls.giveUp(at: .now, dueAt: due)
      let waiting = shared.stalls.isStalled ? shared.schedule.removeWaiting() : []
      return (running + waiting, shared.stalls.nextDeadline)
    }
    for job in overdue { job.fail(NoAnswerError()) }
    return deadline
  }
}
