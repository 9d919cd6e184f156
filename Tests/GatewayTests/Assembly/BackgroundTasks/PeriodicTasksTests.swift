import NIOCore
import NIOPosix
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

@Suite("Periodic tasks", .timeLimit(.minutes(5)))
struct PeriodicTasksTests {
  @Test("Ticks come on the event loop of the timer, each second")
  func ticks() async throws {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let ticks = TickCount()
    var tasks = PeriodicTasks()
    tasks.addTick { if eventLoop.inEventLoop { ticks.add() } }
    let running = Task { [tasks] in await tasks.run(on: eventLoop) }
    try await eventually("two ticks") { ticks.count >= 2 }
    running.cancel()
    await running.value
  }

  @Test("A task runs when there is anything for it to do, and asks that on the event loop of the timer")
  func dueTasks() async throws {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let (questions, runs) = (TickCount(), TickCount())
    let hasWork = Atomic<Bool>(false)
    var tasks = PeriodicTasks()
    let isDue = { @Sendable in
      if eventLoop.inEventLoop { questions.add() }
      return hasWork.load(ordering: .relaxed)
    }
    tasks.addTask(every: 1, if: isDue()) { runs.add() }
    let running = Task { [tasks] in await tasks.run(on: eventLoop) }
    try await eventually("two questions") { questions.count >= 2 }
    #expect(runs.count == 0)
    hasWork.store(true, ordering: .relaxed)
    try await eventually("a run") { runs.count >= 1 }
    running.cancel()
    await running.value
  }

  @Test("A call begins again only after the one before is done")
  func calls() async throws {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let (ticks, begun) = (TickCount(), TickCount())
    let (calls, call) = AsyncStream<@Sendable () -> Void>.makeStream()
    var tasks = PeriodicTasks()
    tasks.add(every: 1) { ticks.add() }
    tasks.addCall(every: 1) { done in
      begun.add()
      call.yield(done)
    }
    let running = Task { [tasks] in await tasks.run(on: eventLoop) }
    try await eventually("three ticks") { ticks.count >= 3 }
    #expect(begun.count == 1)
    for await done in calls {
      done()
      break
    }
    try await eventually("a second call") { begun.count == 2 }
    running.cancel()
    await running.value
  }

  private final class TickCount: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add() { value.add(1, ordering: .relaxed) }
  }
}
