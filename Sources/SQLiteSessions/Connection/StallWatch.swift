/// The jobs that connections carry out, and which of them take too long: a value, without connections, threads or a
/// clock.
///
/// The call of a system whose volume hangs (a network mount whose server is gone, say) does not return, and cannot be
/// ended. So the caller of such a job gets an error after a limit, while the connection stays with the job.
struct StallWatch<Job> {
  /// A moment of the clock that does not run while the machine sleeps.
  typealias Instant = SuspendingClock.Instant

  private let limit: Duration?
  private var running: [Running?]

  private struct Running {
    let job: Job
    var began: Instant
    /// Whether its limit has begun again after a pause of the process: once, or a process that is always late would
    /// never give it up.
    var hasBegunAgain = false
    var isGivenUp = false
  }

  /// - Parameters:
  ///   - connections: how many there are; they are numbered from 0.
  ///   - limit: the time after which a job is given up; nil gives up none.
  init(connections: Int, limit: Duration?) {
    self.limit = limit
    running = Array(repeating: nil, count: connections)
  }

  /// Notes that a connection was given a job.
  mutating func begin(_ job: Job, on connection: Int, at now: Instant) {
    running[connection] = Running(job: job, began: now)
  }

  /// Notes that a connection has done its job, also one that was given up.
  mutating func end(on connection: Int) { running[connection] = nil }

  /// Whether every connection is still with a job that was given up: a new job would never begin.
  var isStalled: Bool { running.allSatisfy { $0?.isGivenUp == true } }

  /// The moment at which the next job is to be given up; nil if none is under way.
  var nextDeadline: Instant? {
    guard let limit else { return nil }
    return running.lazy.compactMap { $0 }.filter { !$0.isGivenUp }.map(\.began).min()?.advanced(by: limit)
  }

  /// The delay of a look beyond its time from which the process itself has stood still: a paused container, a debugger,
  /// a machine without time for it.
  private static var pause: Duration { .seconds(1) }

  /// Gives up the jobs that have taken too long. If the look comes late, the process has stood still, and the jobs with
  /// it: then the limit of each begins again, once.
  /// - Parameter due: when the look was to be made; nil if it is not late.
  /// - Returns: those that were not given up before.
  mutating func giveUp(at now: Instant, dueAt due: Instant? = nil) -> [Job] {
    guard let limit else { return [] }
    let isLate = due.map { $0.duration(to: now) >= Self.pause } ?? false
    var overdue: [Job] = []
    for connection in running.indices {
      guard let current = running[connection], !current.isGivenUp else { continue }
      if isLate, !current.hasBegunAgain {
        running[connection]?.began = now
        running[connection]?.hasBegunAgain = true
      } else if current.began.duration(to: now) >= limit {
        running[connection]?.isGivenUp = true
        overdue.append(current.job)
      }
    }
    return overdue
  }
}
