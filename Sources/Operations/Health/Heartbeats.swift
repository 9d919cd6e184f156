/// The progress of the process, by timestamps that the caller supplies: whether each event loop, and the periodic
/// tasks, answer what they are asked.
///
/// A loop that sleeps because nothing happens is healthy, and so are tasks that are not due: only a question that has
/// not been answered says that something hangs.
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
    /// The time of the question that is not answered.
    package var since: Instant

    /// Creates a stall.
    package init(part: Part, since: Instant) {
      self.part = part
      self.since = since
    }
  }

  /// A part, by what it owes.
  fileprivate enum Standing {
    /// It has not begun, or has ended.
    case absent
    case answered
    /// Since the question that it has not answered.
    case asked(Instant)
  }

  private var eventLoops: [Standing]
  private var periodicTasks = Standing.absent
  private var lastObservation: Instant?

  /// The longest time between two observations of a process that runs: there is one each second.
  private static let longestPause = Duration.seconds(5)

  /// Nothing stands still yet.
  package init(eventLoops: Int) { self.eventLoops = Array(repeating: .answered, count: eventLoops) }

  /// Asks every part that does not owe an answer.
  /// - Returns: the loops among them. The periodic tasks answer when they run next.
  package mutating func ask(at now: Instant) -> [Int] {
    periodicTasks.ask(at: now)
    return eventLoops.indices.filter { eventLoops[$0].ask(at: now) }
  }

  /// A loop has answered.
  package mutating func answered(_ loop: Int) { eventLoops[loop].answer() }

  /// The periodic tasks run from now on.
  package mutating func beginPeriodicTasks() { if case .absent = periodicTasks { periodicTasks = .answered } }

  /// The periodic tasks have run, which answers their question. Ignored before their beginning and after their end.
  package mutating func periodicTasksRan() { periodicTasks.answer() }

  /// The periodic tasks run no longer.
  package mutating func endPeriodicTasks() { periodicTasks = .absent }

  /// Notes that the loop of the timer runs. If it has not for long, the whole process may have been stopped (SIGSTOP, a
  /// frozen container), and nobody else had the time to answer either: that time does not count.
  package mutating func observe(at now: Instant) {
    defer { lastObservation = now }
    guard let last = lastObservation, now - last > Self.longestPause else { return }
    let pause = now - last
    for loop in eventLoops.indices { eventLoops[loop].postpone(by: pause, until: now) }
    periodicTasks.postpone(by: pause, until: now)
  }

  /// The parts that stand still, the event loops first.
  /// - Parameters:
  ///   - limit: the shortest time that counts.
  ///   - periodicLimit: that of the periodic tasks; nil if it is the same.
  package func stalls(of limit: Duration, periodicTasks periodicLimit: Duration? = nil, at now: Instant) -> [Stall] {
    var stalls: [Stall] = []
    for (loop, standing) in eventLoops.enumerated() {
      if case .asked(let time) = standing, now - time >= limit {
        stalls.append(Stall(part: .eventLoop(loop), since: time))
      }
    }
    if case .asked(let time) = periodicTasks, now - time >= periodicLimit ?? limit {
      stalls.append(Stall(part: .periodicTasks, since: time))
    }
    return stalls
  }
}

extension Heartbeats.Standing {
  /// - Returns: whether it was asked now: not if it still owes an answer.
  @discardableResult
  fileprivate mutating func ask(at now: Heartbeats.Instant) -> Bool {
    guard case .answered = self else { return false }
    self = .asked(now)
    return true
  }

  fileprivate mutating func answer() { if case .asked = self { self = .answered } }

  /// Takes a pause of the whole process off the time of a question.
  fileprivate mutating func postpone(by pause: Duration, until now: Heartbeats.Instant) {
    guard case .asked(let time) = self else { return }
    self = .asked(min(now, time.advanced(by: pause)))
  }
}
