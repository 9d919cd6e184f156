import Testing

@testable import Gateway

@Suite("The schedule of periodic tasks")
struct PeriodicScheduleTests {
  @Test("Tasks of different intervals are due at the same moments, each at the multiples of its own")
  func aligned() {
    var schedule = PeriodicSchedule<Int>()
    schedule.add(0, every: 1)
    schedule.add(1, every: 2, after: 2)
    schedule.add(2, every: 3)
    let due = (0...6).map { schedule.due(at: $0) }
    #expect(due == [[0, 2], [0], [0, 1], [0, 2], [0, 1], [0], [0, 1, 2]])
  }

  @Test("A tick that comes a moment early or late does not leave its second out")
  func ticks() {
    var schedule = PeriodicSchedule<Int>()
    schedule.add(0, every: 1)
    for milliseconds in [0, 999, 1_998, 3_001, 4_002] {
      #expect(schedule.due(after: .milliseconds(milliseconds)) == [0], "\(milliseconds)")
    }
  }

  @Test("A task that can wait is due after its delay, and from then on at the multiples of its interval")
  func delayed() {
    var schedule = PeriodicSchedule<Int>()
    schedule.add(0, every: 300, after: 60)
    #expect([0, 59, 60, 61, 299, 300, 599, 600].filter { !schedule.due(at: $0).isEmpty } == [60, 300, 600])
  }

  @Test("Within one second nothing is due twice")
  func once() {
    var schedule = PeriodicSchedule<Int>()
    schedule.add(0, every: 1)
    #expect(schedule.due(at: 4) == [0])
    #expect(schedule.due(at: 4).isEmpty)
  }

  @Test("After a pause of the machine each task is due once, and goes on at the multiples of its interval")
  func afterPause() {
    var schedule = PeriodicSchedule<Int>()
    schedule.add(0, every: 5)
    schedule.add(1, every: 300)
    #expect(schedule.due(at: 0) == [0, 1])
    #expect(schedule.due(at: 907) == [0, 1])
    #expect((908...910).map { schedule.due(at: $0) } == [[], [], [0]])
    #expect(schedule.due(at: 1_200) == [0, 1])
  }
}
