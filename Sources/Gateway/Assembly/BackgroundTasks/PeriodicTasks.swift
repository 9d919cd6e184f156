internal import NIOCore
internal import Synchronization

/// Periodic work of the whole process, driven by one timer with aligned deadlines: an idle gateway wakes up once a
/// second, not once for each task.
///
/// Work of a moment is done by the timer's event loop itself. A thread of Swift's task pool is woken only when there is
/// work for it.
struct PeriodicTasks: Sendable {
  private var loopWork = PeriodicSchedule<LoopWork>()
  private var poolWork = PeriodicSchedule<PoolWork>()

  private enum LoopWork: Sendable {
    case moment(@Sendable () -> Void)
    case call(Call)
  }

  private enum PoolWork: Sendable {
    case short(@Sendable () -> Void)
    case long(LongWork)

    /// Whether there is anything to do.
    var isDue: Bool {
      switch self {
      case .short: true
      case .long(let work): work.isDue()
      }
    }
  }

  /// Work that another thread does. Runs do not overlap.
  private final class Call: Sendable {
    private let body: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
    private let isUnderWay = Atomic<Bool>(false)

    init(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) { self.body = body }

    func begin() {
      guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
      body { [self] in isUnderWay.store(false, ordering: .releasing) }
    }
  }

  /// Work that suspends. Runs do not overlap.
  private final class LongWork: Sendable {
    let isDue: @Sendable () -> Bool
    private let body: @Sendable () async -> Void
    private let isRunning = Atomic<Bool>(false)

    init(if isDue: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () async -> Void) {
      self.isDue = isDue
      self.body = body
    }

    func begin(in group: inout DiscardingTaskGroup) {
      guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
      group.addTask { [self] in
        await body()
        isRunning.store(false, ordering: .releasing)
      }
    }
  }

  /// Adds work of a moment that the timer's event loop does: also while no thread of Swift's task pool is free, when
  /// all other work stands still. It may not block.
  /// - Parameter seconds: the interval, at least 1.
  mutating func addTick(every seconds: Int = 1, _ body: @escaping @Sendable () -> Void) {
    loopWork.add(.moment(body), every: seconds)
  }

  /// Adds work that another thread does, which delays only its own next run. Neither its beginning nor its end wakes a
  /// thread of Swift's task pool.
  /// - Parameter body: begins the work, on the timer's event loop and without blocking, and has `done` called once when
  ///   it is over, on any thread.
  mutating func addCall(
    every seconds: Int, after delay: Int = 0,
    _ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  ) {
    loopWork.add(.call(Call(body)), every: seconds, after: delay)
  }

  /// Adds work that does not suspend, but may take longer than an event loop can wait.
  /// - Parameters:
  ///   - seconds: the interval, at least 1.
  ///   - delay: until the first run, in seconds: what can wait does not run beside the first requests.
  mutating func add(every seconds: Int, after delay: Int = 0, _ body: @escaping @Sendable () -> Void) {
    poolWork.add(.short(body), every: seconds, after: delay)
  }

  /// Adds work of any duration, which delays only its own next run.
  /// - Parameter isDue: whether there is anything to do. Asked on the timer's event loop first, so that no other thread
  ///   wakes up for nothing; it may not block.
  mutating func addTask(
    every seconds: Int, after delay: Int = 0, if isDue: @autoclosure @escaping @Sendable () -> Bool = true,
    _ body: @escaping @Sendable () async -> Void
  ) {
    poolWork.add(.long(LongWork(if: isDue, body)), every: seconds, after: delay)
  }

  /// Runs until cancelled.
  /// - Parameter eventLoop: runs the timer. `Task.sleep` would wake three threads.
  func run(on eventLoop: any EventLoop) async {
    let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let start = ContinuousClock.now
    let onLoop = Mutex(self)
    let timer = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
      let elapsed = ContinuousClock.now - start
      let (loopWork, poolWork) = onLoop.withLock { ($0.loopWork.due(after: elapsed), $0.poolWork.due(after: elapsed)) }
      for work in loopWork {
        switch work {
        case .moment(let body): body()
        case .call(let call): call.begin()
        }
      }
      if poolWork.contains(where: \.isDue) { wakeUp.yield() }
    }
    defer { timer.cancel() }
    // The pool finds out itself what is due: while it stood still, that may have become due several times.
    var onPool = poolWork
    await withDiscardingTaskGroup { group in
      for await _ in wakeUps {
        for work in onPool.due(after: ContinuousClock.now - start) where work.isDue {
          switch work {
          case .short(let body): body()
          case .long(let work): work.begin(in: &group)
          }
        }
      }
    }
  }
}

/// A schedule of periodic work. Deadlines are multiples of the interval since the start, so that those of different
/// intervals coincide.
struct PeriodicSchedule<Work: Sendable>: Sendable {
  private var entries: [Entry] = []

  private struct Entry {
    let work: Work
    let interval: Int
    var next: Int
  }

  /// Adds work.
  /// - Parameters:
  ///   - interval: in seconds; at least 1.
  ///   - delay: from the start to the first run, in seconds.
  mutating func add(_ work: Work, every interval: Int, after delay: Int = 0) {
    entries.append(Entry(work: work, interval: max(interval, 1), next: delay))
  }

  /// The same as ``due(at:)``, to the nearest second: a timer of a second may fire a moment early.
  /// - Parameter elapsed: since the start.
  mutating func due(after elapsed: Duration) -> [Work] {
    due(at: Int((elapsed + .milliseconds(500)).components.seconds))
  }

  /// The work that is due, in the order of its addition. After a pause, during which the machine may have slept, each
  /// is due once, not once for each interval missed.
  /// - Parameter second: whole seconds since the start; never fewer than at the call before.
  mutating func due(at second: Int) -> [Work] {
    var due: [Work] = []
    for index in entries.indices where entries[index].next <= second {
      due.append(entries[index].work)
      let interval = entries[index].interval
      entries[index].next = second - second % interval + interval
    }
    return due
  }
}
