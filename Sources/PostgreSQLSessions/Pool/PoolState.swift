import Sessions

/// The state of a pool of connections: a value, without threads, connections or a clock of its own.
///
/// A **worker** is a thread with a connection. Work goes to a worker that has nothing to do, else to a new one as long
/// as there are fewer than the limit, else it is queued. While no connection can be established, one attempt is made
/// after each pause, if there is work. If the last attempt failed immediately (the server is being restarted, say),
/// work waits for an attempt that is due soon; otherwise it is refused with the reason.
struct PoolState<Job> {
  /// A worker's number; never used again.
  typealias Worker = Int

  private struct WorkerSlot {
    /// Work that was assigned to it while it was waiting.
    var assignment: Assignment?
    /// The moment at which it was last known to have a connection; nil without one. One that waits is not checked.
    var connectedAt: ContinuousClock.Instant?

    var isConnected: Bool { connectedAt != nil }
  }

  /// A job, and the earliest time at which a connection may be opened for it.
  struct Assignment {
    let job: Job
    var connectAfter: ContinuousClock.Instant?
  }

  private let limit: Int
  private let queueLimit: Int
  private var slots: [Worker: WorkerSlot] = [:]
  /// Workers that wait for work, the most recently active last.
  private var waiting: [Worker] = []
  private var queue: [Job] = []
  private var queueStart = 0
  private var nextWorker = 0
  private var outage: Outage?
  /// The time before which no further connections are opened, because the server refused one.
  private var growAfter: ContinuousClock.Instant?
  private(set) var isClosed = false

  /// A period during which no connection can be established.
  private struct Outage {
    let error: StoreError
    let began: ContinuousClock.Instant
    /// Whether the last attempt failed so fast that work waits for the next.
    let failsImmediately: Bool
    var next: Attempt

    enum Attempt {
      case due(at: ContinuousClock.Instant)
      /// Nil until a worker has taken the job that the attempt is for.
      case underWay(by: Worker?)
    }

    /// The attempt under way has ended without telling whether the server answers: its job was too old, or its
    /// connection was lost again. The next job makes another one.
    mutating func giveUpAttempt() { next = .due(at: began) }
  }

  private static var shortestPause: Duration { .milliseconds(100) }
  private static var longestPause: Duration { .seconds(2) }
  /// The longest duration of a failure that counts as immediate.
  private static var immediateFailure: Duration { .milliseconds(500) }
  /// The time for which an idle connection counts as open: servers and firewalls end idle ones.
  private static var idleTrust: Duration { .seconds(60) }
  /// The longest time that work waits for the next attempt.
  private static var longestWaitForAttempt: Duration { .milliseconds(250) }

  /// - Parameters:
  ///   - limit: the largest number of workers.
  ///   - queueLimit: the largest number of jobs that wait.
  init(limit: Int, queueLimit: Int) {
    self.limit = max(limit, 1)
    self.queueLimit = queueLimit
  }

  var workers: Int { slots.count }
  var connected: Int { slots.values.count { $0.isConnected } }

  /// The error of the last attempt if the server had no connection left, and no worker has one.
  var shortage: StoreError? {
    guard let error = outage?.error, error.code == .busy, connected == 0 else { return nil }
    return error
  }

  // MARK: New work

  /// The placement of a job.
  enum Placement {
    /// Wake this worker.
    case wake(Worker)
    /// Start a thread for this worker; the job is in its slot.
    case start(Worker)
    case queued
    case refused(StoreError?)
  }

  mutating func place(_ job: Job, at now: ContinuousClock.Instant) -> Placement {
    if isClosed { return .refused(nil) }
    var connectAfter: ContinuousClock.Instant?
    if let current = outage {
      switch current.next {
      case .underWay: return current.failsImmediately ? enqueue(job) : .refused(current.error)
      case .due(let moment):
        guard now >= moment || current.failsImmediately && moment - now <= Self.longestWaitForAttempt else {
          return .refused(current.error)
        }
        outage?.next = .underWay(by: nil)
        connectAfter = moment
      }
    }
    let assignment = Assignment(job: job, connectAfter: connectAfter)
    if let worker = popWaiting() {
      slots[worker]?.assignment = assignment
      return .wake(worker)
    }
    if slots.count < limit, growAfter.map({ now >= $0 }) ?? true {
      growAfter = nil
      let worker = nextWorker
      nextWorker += 1
      slots[worker] = WorkerSlot(assignment: assignment)
      return .start(worker)
    }
    return enqueue(job)
  }

  /// The worker that waits for work and was active most recently, of those with a connection if there are any.
  private mutating func popWaiting() -> Worker? {
    guard let place = waiting.lastIndex(where: { slots[$0]?.isConnected ?? false }) else { return waiting.popLast() }
    return waiting.remove(at: place)
  }

  private mutating func enqueue(_ job: Job) -> Placement {
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

  /// The next step of a worker that is done.
  enum Next {
    case job(Assignment)
    case wait
    case end
  }

  /// - Parameter isConnected: whether it has a connection: then the outage is over.
  mutating func next(for worker: Worker, isConnected: Bool, at now: ContinuousClock.Instant) -> Next {
    slots[worker]?.connectedAt = isConnected ? now : nil
    if isConnected { outage = nil }
    if case .underWay(by: worker) = outage?.next { outage?.giveUpAttempt() }
    if let assignment = slots[worker]?.assignment ?? dequeue().map({ Assignment(job: $0) }) {
      slots[worker]?.assignment = nil
      outage?.next = .underWay(by: worker)
      return .job(assignment)
    }
    if isClosed {
      slots[worker] = nil
      return .end
    }
    if !waiting.contains(worker) { waiting.append(worker) }
    return .wait
  }

  /// The next step of a worker that could not connect.
  enum ConnectFailureAction {
    /// Others have connections: one of them does the job, and this worker ends.
    case handOver(wake: Worker?)
    /// These jobs are refused, and the worker waits.
    case refuse([Job])
  }

  /// - Parameter duration: how long the attempt took.
  mutating func noteFailure(
    of worker: Worker, with job: Job, _ error: StoreError, after duration: Duration, at now: ContinuousClock.Instant
  ) -> ConnectFailureAction {
    slots[worker]?.connectedAt = nil
    // Others have connections: the server accepts no further ones, or no longer with this password. If it is down,
    // each of them will notice, which takes no time where an attempt fails immediately.
    guard connected > 0, error.code == .busy || duration < Self.immediateFailure else {
      return .refuse([job] + noteOutage(error, after: duration, at: now))
    }
    growAfter = now + Self.longestPause
    slots[worker] = nil
    if let other = popWaiting() {
      slots[other]?.assignment = Assignment(job: job)
      return .handOver(wake: other)
    }
    queue.insert(job, at: queueStart)
    return .handOver(wake: nil)
  }

  /// Has a worker close its connection before it opens another one, if another worker has a connection meanwhile.
  /// - Returns: false if none is known to have one: the connection must be kept.
  mutating func giveUpConnection(of worker: Worker, at now: ContinuousClock.Instant) -> Bool {
    let hasOther = slots.contains { other, slot in
      other != worker && slot.connectedAt.map { now - $0 < Self.idleTrust } ?? false
    }
    guard slots[worker]?.isConnected == true, hasOther else { return false }
    slots[worker]?.connectedAt = nil
    return true
  }

  /// Records that no connection can be established at present.
  /// - Parameter duration: how long it took to see that.
  /// - Returns: the jobs that wait, to be refused.
  mutating func noteOutage(
    _ error: StoreError, after duration: Duration, at now: ContinuousClock.Instant
  ) -> [Job] {
    let began = outage?.began ?? now
    // A tenth of its duration so far: a server that was restarted is used soon.
    let pause = min(max((now - began) / 10, Self.shortestPause), Self.longestPause)
    outage = Outage(
      error: error, began: began, failsImmediately: duration < Self.immediateFailure, next: .due(at: now + pause))
    var refused: [Job] = []
    while let waiting = dequeue() { refused.append(waiting) }
    return refused
  }

  /// Removes a worker whose thread could not be started.
  mutating func abandon(_ worker: Worker) {
    let abandoned = slots.removeValue(forKey: worker)
    if abandoned?.assignment?.connectAfter != nil { outage?.giveUpAttempt() }
  }

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
