/// The progress of the process, by timestamps that the caller supplies: whether each event loop answers what it is
/// asked, and whether the periodic tasks run.
///
/// A loop that sleeps because nothing happens is healthy, so a loop has to be asked: only a question that it has not
/// answered says that it hangs.
package struct Heartbeats: Sendable {
  /// A moment of the clock that stands still while the machine sleeps.
  package typealias Instant = SuspendingClock.Instant

  /// A part of the process that can stand still.
  package enum Part: Sendable, Hashable {
    /// An event loop, by its number.
    case eventLoop(Int)
    /// The periodic tasks, which need a thread of Swift's task pool.
    case periodicTasks
  }

  /// A part that stands still.
  package struct Stall: Sendable, Equatable {
    /// The part.
    package var part: Part
    /// The time of the question that is not answered, or of the last run.
    package var since: Instant

    /// Creates a stall.
    package init(part: Part, since: Instant) {
      self.part = part
      self.since = since
    }
  }

  /// The time of the question that each event loop has not answered; nil if there is none.
  private var asked: [Instant?]
  /// Nil before the periodic tasks begin, and after their end.
  private var lastRun: Instant?
  private var lastObservation: Instant?

  /// The longest time between two observations of a process that runs: there is one each second.
  private static let longestPause = Duration.seconds(5)

  /// Nothing stands still yet.
  package init(eventLoops: Int) { asked = Array(repeating: nil, count: eventLoops) }

  /// The loops to ask now, which are those that do not owe an answer.
  package mutating func ask(at now: Instant) -> [Int] {
    let loops = asked.indices.filter { asked[$0] == nil }
    for loop in loops { asked[loop] = now }
    return loops
  }

  /// A loop has answered.
  package mutating func answered(_ loop: Int) { asked[loop] = nil }

  /// The periodic tasks run from now on.
  package mutating func beginPeriodicTasks(at now: Instant) { if lastRun == nil { lastRun = now } }

  /// The periodic tasks have run. Ignored before their beginning and after their end.
  package mutating func periodicTasksRan(at now: Instant) { if lastRun != nil { lastRun = now } }

  /// The periodic tasks run no longer.
  package mutating func endPeriodicTasks() { lastRun = nil }

  /// Notes that the loop of the timer runs. If it has not for long, the whole process may have been stopped (SIGSTOP, a
  /// frozen container), and nobody else had the time to answer either: that time does not count.
  package mutating func observe(at now: Instant) {
    defer { lastObservation = now }
    guard let last = lastObservation, now - last > Self.longestPause else { return }
    let pause = now - last
    asked = asked.map { time in time.map { min(now, $0.advanced(by: pause)) } }
    lastRun = lastRun.map { min(now, $0.advanced(by: pause)) }
  }

  /// The parts that stand still, the event loops first.
  /// - Parameters:
  ///   - limit: the shortest time that counts.
  ///   - periodicLimit: that of the periodic tasks; nil if it is the same.
  package func stalls(of limit: Duration, periodicTasks periodicLimit: Duration? = nil, at now: Instant) -> [Stall] {
    var stalls: [Stall] = []
    for (loop, time) in asked.enumerated() {
      if let time, now - time >= limit { stalls.append(Stall(part: .eventLoop(loop), since: time)) }
    }
    if let lastRun, now - lastRun >= periodicLimit ?? limit {
      stalls.append(Stall(part: .periodicTasks, since: lastRun))
    }
    return stalls
  }
}
