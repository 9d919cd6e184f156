import Testing

@testable import Operations

// Cases: loops that answer, that do not, that sleep; periodic tasks before, while and after they run; a process that
// was stopped.

@Suite("Heartbeats of event loops and periodic tasks")
struct HeartbeatsTests {
  private let start = SuspendingClock().now

  private func after(_ seconds: Int) -> Heartbeats.Instant { start.advanced(by: .seconds(seconds)) }

  @Test("A loop that was not asked is healthy however long ago that was, and one that has answered is")
  func sleeping() {
    var heartbeats = Heartbeats(eventLoops: 2)
    #expect(heartbeats.stalls(of: .seconds(1), at: after(1_000)) == [])
    #expect(heartbeats.ask(at: after(1_000)) == [0, 1])
    heartbeats.answered(0)
    heartbeats.answered(1)
    #expect(heartbeats.stalls(of: .seconds(1), at: after(2_000)) == [])
  }

  @Test("A loop that does not answer stands still since the first question, and is not asked again")
  func hanging() {
    var heartbeats = Heartbeats(eventLoops: 3)
    _ = heartbeats.ask(at: after(0))
    heartbeats.answered(0)
    heartbeats.answered(2)
    #expect(heartbeats.ask(at: after(5)) == [0, 2])
    heartbeats.answered(0)
    heartbeats.answered(2)
    #expect(heartbeats.stalls(of: .seconds(10), at: after(9)) == [])
    let stall = Heartbeats.Stall(part: .eventLoop(1), since: start)
    #expect(heartbeats.stalls(of: .seconds(10), at: after(10)) == [stall])
    #expect(heartbeats.stalls(of: .seconds(60), at: after(59)) == [])
    heartbeats.answered(1)
    #expect(heartbeats.stalls(of: .seconds(10), at: after(100)) == [])
    #expect(heartbeats.ask(at: after(100)) == [0, 1, 2])
  }

  @Test("The periodic tasks stand still if they do not run after a question, between their beginning and their end")
  func periodicTasks() {
    var heartbeats = Heartbeats(eventLoops: 0)
    _ = heartbeats.ask(at: after(0))
    #expect(heartbeats.stalls(of: .seconds(10), at: after(99)) == [])
    heartbeats.beginPeriodicTasks()
    #expect(heartbeats.stalls(of: .seconds(10), at: after(99)) == [])
    _ = heartbeats.ask(at: after(100))
    heartbeats.beginPeriodicTasks()
    _ = heartbeats.ask(at: after(109))
    #expect(heartbeats.stalls(of: .seconds(10), at: after(109)) == [])
    let stall = Heartbeats.Stall(part: .periodicTasks, since: after(100))
    #expect(heartbeats.stalls(of: .seconds(10), at: after(110)) == [stall])
    #expect(heartbeats.stalls(of: .seconds(1), periodicTasks: .seconds(20), at: after(110)) == [])
    heartbeats.periodicTasksRan()
    #expect(heartbeats.stalls(of: .seconds(10), at: after(500)) == [])
    _ = heartbeats.ask(at: after(500))
    heartbeats.endPeriodicTasks()
    heartbeats.periodicTasksRan()
    _ = heartbeats.ask(at: after(501))
    #expect(heartbeats.stalls(of: .seconds(10), at: after(900)) == [])
  }

  @Test("The time in which the whole process was stopped does not count")
  func stopped() {
    var heartbeats = Heartbeats(eventLoops: 1)
    heartbeats.beginPeriodicTasks()
    heartbeats.observe(at: after(0))
    _ = heartbeats.ask(at: after(0))
    heartbeats.observe(at: after(2))
    heartbeats.observe(at: after(302))
    #expect(heartbeats.stalls(of: .seconds(3), at: after(302)) == [])
    #expect(heartbeats.stalls(of: .seconds(2), at: after(302)).count == 2, "the two seconds before do")
    heartbeats.observe(at: after(303))
    #expect(heartbeats.stalls(of: .seconds(3), at: after(303)).count == 2)
  }

  @Test("The time in which the timer ticks counts, however long it is")
  func running() {
    var heartbeats = Heartbeats(eventLoops: 1)
    _ = heartbeats.ask(at: after(0))
    for second in 0...100 { heartbeats.observe(at: after(second)) }
    #expect(heartbeats.stalls(of: .seconds(100), at: after(100)) == [.init(part: .eventLoop(0), since: start)])
  }
}
