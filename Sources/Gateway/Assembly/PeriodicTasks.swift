internal import NIOCore
internal import Synchronization

/// Periodic work of the whole process, driven by one timer with aligned deadlines: an idle gateway wakes up once a
/// second, not once for each task.
struct PeriodicTasks: Sendable {
  private var schedule = PeriodicSchedule()
  private var tasks: [Work] = []
  private var ticks: [@Sendable () -> Void] = []

  private enum Work: Sendable {
    case short(@Sendable () -> Void)
    case long(LongWork)
    case call(Call)
  }

  /// Work that suspends. Runs do not overlap.
  private final class LongWork: Sendable {
    let body: @Sendable () async -> Void
    let isRunning = Atomic<Bool>(false)

    init(_ body: @escaping @Sendable () async -> Void) { self.body = body }
  }

  /// Work that another thread does. Runs do not overlap.
  private final class Call: Sendable {
    let body: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
    private let isUnderWay = Atomic<Bool>(false)

    init(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) { self.body = body }

    func begin() {
      guard !isUnderWay.exchange(true, ordering: .acquiringAndReleasing) else { return }
      body { [self] in isUnderWay.store(false, ordering: .releasing) }
    }
  }

  /// Adds work that neither suspends nor blocks for long: it runs on the timer's task.
  /// - Parameters:
  ///   - seconds: the interval, at least 1.
  ///   - delay: until the first run, in seconds: what can wait does not run beside the first requests.
  mutating func add(every seconds: Int, after delay: Int = 0, _ body: @escaping @Sendable () -> Void) {
    schedule.add(interval: seconds, delay: delay)
    tasks.append(.short(body))
  }

  /// Adds work of any duration, which delays only its own next run.
  mutating func addTask(every seconds: Int, after delay: Int = 0, _ body: @escaping @Sendable () async -> Void) {
    schedule.add(interval: seconds, delay: delay)
    tasks.append(.long(LongWork(body)))
  }

  /// Adds work that another thread does, which delays only its own next run. No thread wakes up for its end, unlike for
  /// that of a task.
  /// - Parameter body: begins the work, and has `done` called once when it is over, on any thread.
  mutating func addCall(
    every seconds: Int, after delay: Int = 0,
    _ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  ) {
    schedule.add(interval: seconds, delay: delay)
    tasks.append(.call(Call(body)))
  }

  /// Adds work of a moment that is done once a second by the timer's event loop itself: also while no thread of Swift's
  /// task pool is free, when all other work stands still.
  mutating func addTick(_ body: @escaping @Sendable () -> Void) { ticks.append(body) }

  /// Runs until cancelled.
  /// - Parameter eventLoop: runs the timer, which wakes it and one other thread. `Task.sleep` would wake three.
  func run(on eventLoop: any EventLoop) async {
    var schedule = schedule
    let (wakeUps, wakeUp) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let timer = eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { [ticks] _ in
      for body in ticks { body() }
      wakeUp.yield()
    }
    defer { timer.cancel() }
    let start = ContinuousClock.now
    await withDiscardingTaskGroup { group in
      for await _ in wakeUps {
        for index in schedule.due(after: ContinuousClock.now - start) {
          switch tasks[index] {
          case .short(let body): body()
          case .call(let call): call.begin()
          case .long(let work):
            guard !work.isRunning.exchange(true, ordering: .acquiringAndReleasing) else { continue }
            group.addTask {
              await work.body()
              work.isRunning.store(false, ordering: .releasing)
            }
          }
        }
      }
    }
  }
}

/// The schedule of periodic tasks. Deadlines are multiples of the interval since the start, so that those of different
/// intervals coincide.
struct PeriodicSchedule: Sendable {
  private var entries: [(interval: Int, next: Int)] = []

  /// Adds a task, which gets the next index.
  /// - Parameters:
  ///   - interval: in seconds; at least 1.
  ///   - delay: from the start to the first run, in seconds.
  mutating func add(interval: Int, delay: Int = 0) { entries.append((max(interval, 1), delay)) }

  /// The same as ``due(at:)``, to the nearest second: a timer of a second may fire a moment early.
  /// - Parameter elapsed: since the start.
  mutating func due(after elapsed: Duration) -> [Int] {
    due(at: Int((elapsed + .milliseconds(500)).components.seconds))
  }

  /// The indices of the tasks that are due, in the order of their addition. After a pause, during which the machine may
  /// have slept, each is due once, not once for each interval missed.
  /// - Parameter second: whole seconds since the start; never fewer than at the call before.
  mutating func due(at second: Int) -> [Int] {
    var due: [Int] = []
    for index in entries.indices where entries[index].next <= second {
      due.append(index)
      let interval = entries[index].interval
      entries[index].next = second - second % interval + interval
    }
    return due
  }
}
