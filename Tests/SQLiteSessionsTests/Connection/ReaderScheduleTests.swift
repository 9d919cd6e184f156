import Testing

@testable import SQLiteSessions

@Suite("The distribution of jobs to readers")
struct ReaderScheduleTests {
  @Test("The reader that had a job last gets the next one, and a further reader only starts when it is busy")
  func prefersWarmReaders() {
    var schedule = ReaderSchedule<String>(readers: 3)
    #expect(schedule.isIdle)
    #expect(schedule.place("a") == .start(reader: 0))
    #expect(schedule.next(for: 0) == nil)
    #expect(schedule.place("b") == .start(reader: 0))
    #expect(schedule.place("c") == .start(reader: 1))
    #expect(!schedule.isIdle)
    #expect(schedule.next(for: 0) == nil)
    #expect(schedule.next(for: 1) == nil)
    #expect(schedule.isIdle)
    #expect(schedule.place("d") == .start(reader: 1))
  }

  @Test("Jobs that no reader is free for are done in the order in which they came")
  func keepsOrder() {
    var schedule = ReaderSchedule<Int>(readers: 2)
    let places = (0..<5).map { schedule.place($0) }
    #expect(places == [.start(reader: 0), .start(reader: 1), .queued, .queued, .queued])
    #expect(schedule.next(for: 1) == 2)
    #expect(schedule.next(for: 0) == 3)
    #expect(schedule.place(5) == .queued)
    #expect(schedule.next(for: 0) == 4)
    #expect(schedule.next(for: 0) == 5)
    #expect(schedule.next(for: 0) == nil)
    #expect(!schedule.isIdle)
    #expect(schedule.next(for: 1) == nil)
    #expect(schedule.isIdle)
  }

  @Test("Jobs that are taken out of the line are not done, and those that come later are")
  func takesOutWaiting() {
    var schedule = ReaderSchedule<Int>(readers: 1)
    for job in 0..<4 { _ = schedule.place(job) }
    #expect(schedule.next(for: 0) == 1)
    #expect(schedule.removeWaiting() == [2, 3])
    #expect(schedule.removeWaiting() == [])
    #expect(schedule.place(4) == .queued)
    #expect(schedule.next(for: 0) == 4)
    #expect(schedule.next(for: 0) == nil)
    #expect(schedule.isIdle)
  }

  @Test("After the end new jobs are refused, and those that wait are done")
  func closes() {
    var schedule = ReaderSchedule<Int>(readers: 1)
    #expect(schedule.place(1) == .start(reader: 0))
    #expect(schedule.place(2) == .queued)
    schedule.close()
    #expect(schedule.isClosed)
    #expect(schedule.place(3) == .refused)
    #expect(schedule.next(for: 0) == 2)
    #expect(!schedule.isIdle)
    #expect(schedule.next(for: 0) == nil)
    #expect(schedule.isIdle)
    #expect(schedule.place(4) == .refused)
  }
}
