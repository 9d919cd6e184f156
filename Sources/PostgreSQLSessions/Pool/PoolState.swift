import Sessions

/// Who does what in a pool of connections: a value, without threads, connections or a clock of its own.
///
/// A **worker** is a thread with a connection. Work goes to a worker that has nothing to do, else to a new one as long as
/// there are fewer than the limit, else it waits in line. While no connection at all can be had, work is refused at once
/// with the reason, but for one attempt after each pause.
struct PoolState<Job> {
  /// A worker's number; never used again.
  typealias Worker = Int

  private struct Desk {
    /// Work that was handed to it while it was waiting.
    var handed: Job?
    var isConnected = false
  }

  private let limit: Int
  private let queueLimit: Int
  private var desks: [Worker: Desk] = [:]
  /// Workers that wait for work, the one that had some last at the end.
  private var waiting: [Worker] = []
  private var queue: [Job] = []
  private var queueStart = 0
  private var nextWorker = 0
  private var trouble: Trouble?
  /// Until when no further connections are opened, because the server would not give one.
  private var growAfter: ContinuousClock.Instant?
  private(set) var isClosed = false

  /// No connection can be had.
  private struct Trouble {
    let error: StoreError
    let pause: Duration
    /// When to try again; nil while somebody does.
    var tryAgain: ContinuousClock.Instant?
  }

  private static var shortestPause: Duration { .milliseconds(100) }
  private static var longestPause: Duration { .seconds(2) }

  /// - Parameters:
  ///   - limit: most workers.
  ///   - queueLimit: most jobs that wait.
  init(limit: Int, queueLimit: Int) {
    self.limit = max(limit, 1)
    self.queueLimit = queueLimit
  }

  var workers: Int { desks.count }
  var connected: Int { desks.values.count { $0.isConnected } }

  // MARK: New work

  /// Where a job goes.
  enum Placement {
    /// Wake this worker.
    case wake(Worker)
    /// Start a thread for this worker; the job is on its desk.
    case start(Worker)
    case queued
    case refused(StoreError?)
  }

  mutating func place(_ job: Job, at now: ContinuousClock.Instant) -> Placement {
    if isClosed { return .refused(nil) }
    if let current = trouble {
      guard let tryAgain = current.tryAgain, now >= tryAgain else { return .refused(current.error) }
      trouble?.tryAgain = nil
    }
    if let worker = waiting.popLast() {
      desks[worker]?.handed = job
      return .wake(worker)
    }
    if desks.count < limit, growAfter.map({ now >= $0 }) ?? true {
      growAfter = nil
      let worker = nextWorker
      nextWorker += 1
      desks[worker] = Desk(handed: job)
      return .start(worker)
    }
    guard queue.count - queueStart < queueLimit else {
      return .refused(
        StoreError(
          code: .busy,
          message:
            "more is asked of the store than it answers; look at its load, and raise store.connections if it has "
            + "room"))
    }
    queue.append(job)
    return .queued
  }

  // MARK: Workers

  /// What a worker that is done does next.
  enum Next {
    case job(Job)
    case wait
    case end
  }

  /// - Parameter isConnected: whether it has a connection: then there is one to be had.
  mutating func next(for worker: Worker, isConnected: Bool) -> Next {
    desks[worker]?.isConnected = isConnected
    if isConnected { trouble = nil }
    if let job = desks[worker]?.handed {
      desks[worker]?.handed = nil
      return .job(job)
    }
    if let job = dequeue() { return .job(job) }
    if isClosed {
      desks[worker] = nil
      return .end
    }
    if !waiting.contains(worker) { waiting.append(worker) }
    return .wait
  }

  /// What follows when a worker got no connection.
  enum Consequence {
    /// Others have connections: one of them does the job, and this worker ends.
    case handOver(wake: Worker?)
    /// These jobs are refused, and the worker waits.
    case refuse([Job])
  }

  mutating func noteFailure(
    of worker: Worker, with job: Job, _ error: StoreError, at now: ContinuousClock.Instant
  ) -> Consequence {
    desks[worker]?.isConnected = false
    // The server is there, but gives no more connections than it has given.
    guard error.code == .busy, connected > 0 else { return .refuse([job] + noteTrouble(error, at: now)) }
    growAfter = now + Self.longestPause
    desks[worker] = nil
    if let other = waiting.popLast() {
      desks[other]?.handed = job
      return .handOver(wake: other)
    }
    queue.insert(job, at: queueStart)
    return .handOver(wake: nil)
  }

  /// No connection can be had just now.
  /// - Returns: the jobs that wait, to be refused.
  mutating func noteTrouble(_ error: StoreError, at now: ContinuousClock.Instant) -> [Job] {
    let pause = trouble.map { min($0.pause * 2, Self.longestPause) } ?? Self.shortestPause
    trouble = Trouble(error: error, pause: pause, tryAgain: now + pause)
    var refused: [Job] = []
    while let waiting = dequeue() { refused.append(waiting) }
    return refused
  }

  /// No thread could be started for it.
  mutating func abandon(_ worker: Worker) { desks[worker] = nil }

  // MARK: The end

  /// Refuses new work. Workers that wait are to be woken; they end.
  mutating func close() -> [Worker] {
    isClosed = true
    defer { waiting = [] }
    return waiting
  }

  private mutating func dequeue() -> Job? {
    guard queueStart < queue.count else { return nil }
    let job = queue[queueStart]
    queueStart += 1
    if queueStart > 512 || queueStart == queue.count {
      queue.removeFirst(queueStart)
      queueStart = 0
    }
    return job
  }
}
