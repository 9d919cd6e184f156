import Testing

@testable import SQLiteSessions

@Suite("Connections that do not answer")
struct StallWatchTests {
  private let start = SuspendingClock.now

  private func after(_ seconds: Int) -> SuspendingClock.Instant { start.advanced(by: .seconds(seconds)) }

  private func watch(connections: Int = 2) -> StallWatch<String> {
    StallWatch(connections: connections, limit: .seconds(6))
  }

  @Test("A job that ends in time is not given up")
  func inTime() {
    var watch = watch()
    #expect(watch.nextDeadline == nil && !watch.isStalled)
    watch.begin("a", on: 0, at: after(0))
    #expect(watch.nextDeadline == after(6))
    #expect(watch.giveUp(at: after(5)).isEmpty)
    watch.end(on: 0)
    #expect(watch.nextDeadline == nil)
    #expect(watch.giveUp(at: after(60)).isEmpty)
    #expect(!watch.isStalled)
  }

  @Test("A job is given up once, at its limit, and the next deadline is that of another one")
  func once() {
    var watch = watch()
    watch.begin("a", on: 1, at: after(0))
    watch.begin("b", on: 0, at: after(2))
    #expect(watch.giveUp(at: after(6)) == ["a"])
    #expect(watch.nextDeadline == after(8))
    #expect(watch.giveUp(at: after(7)).isEmpty)
    #expect(!watch.isStalled)
    #expect(watch.giveUp(at: after(8)) == ["b"])
    #expect(watch.nextDeadline == nil)
  }

  @Test("After a pause of the whole process, in which no job could go on, the limit of each begins again once")
  func paused() {
    var watch = watch()
    watch.begin("a", on: 0, at: after(0))
    watch.begin("b", on: 1, at: after(3))
    #expect(watch.giveUp(at: after(30), dueAt: after(6)).isEmpty)
    #expect(!watch.isStalled && watch.nextDeadline == after(36))
    watch.end(on: 1)
    #expect(watch.giveUp(at: after(60), dueAt: after(36)) == ["a"])
  }

  @Test("All connections are stalled while each is with a job that was given up, until one of them ends it")
  func stalled() {
    var watch = watch()
    watch.begin("a", on: 0, at: after(0))
    watch.begin("b", on: 1, at: after(0))
    #expect(!watch.isStalled)
    #expect(watch.giveUp(at: after(6)) == ["a", "b"])
    #expect(watch.isStalled)
    watch.end(on: 1)
    #expect(!watch.isStalled)
    watch.begin("c", on: 1, at: after(60))
    #expect(!watch.isStalled, "it may end in time")
    #expect(watch.giveUp(at: after(65)).isEmpty)
    #expect(watch.giveUp(at: after(66)) == ["c"])
    #expect(watch.isStalled)
  }

  @Test("Without a limit none is given up")
  func withoutLimit() {
    var watch = StallWatch<String>(connections: 1, limit: nil)
    watch.begin("a", on: 0, at: after(0))
    #expect(watch.nextDeadline == nil)
    #expect(watch.giveUp(at: after(86_400)).isEmpty)
    #expect(!watch.isStalled)
  }
}
