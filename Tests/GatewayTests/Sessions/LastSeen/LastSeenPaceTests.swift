import Testing

@testable import Gateway

// A clock of the test's own: each portion takes as long as the test says, and the next moment is that of the next
// portion.
@Suite("The pace of last-seen updates")
struct LastSeenPaceTests {
  private static let minute = Duration.seconds(60)

  /// A write of a batch: the beginning and the size of each portion, and the end of the last.
  private struct Course {
    var portions: [(start: Duration, count: Int)] = []
    var end = Duration.zero

    init(
      of updates: Int, every interval: Duration = LastSeenPaceTests.minute,
      eachTakes duration: (_ portion: Int) -> Duration
    ) {
      var pace = LastSeenPace(updates: updates, interval: interval)
      var rest = updates
      while rest > 0 {
        let start = max(end, pace.due)
        let count = min(pace.take(at: start), rest)
        guard count > 0 else { return }
        portions.append((start, count))
        rest -= count
        end = start + duration(portions.count - 1)
      }
    }

    var written: Int { portions.reduce(0) { $0 + $1.count } }

    /// The largest number of updates whose write begins within one second.
    var mostInASecond: Int {
      portions.map { first in
        portions.filter { $0.start >= first.start && $0.start < first.start + .seconds(1) }.reduce(0) { $0 + $1.count }
      }.max() ?? 0
    }
  }

  @Test("A batch of a few thousand is written at once", arguments: [1, 500, 501, 4_000])
  func small(updates: Int) {
    let course = Course(of: updates) { _ in .milliseconds(100) }
    #expect(course.portions.map { $0.count } == [updates] && course.end == .milliseconds(100))
  }

  @Test("A batch that is a little larger is written within a few seconds, in portions")
  func larger() {
    let course = Course(of: 4_001) { _ in .milliseconds(20) }
    #expect(course.portions.map { $0.count } == Array(repeating: 500, count: 8) + [1])
    #expect(course.end > .seconds(1) && course.end < .seconds(3))
  }

  @Test("A batch after a burst takes half of the interval, all of it, and no second much more than another")
  func burst() {
    let course = Course(of: 120_000) { _ in .milliseconds(20) }
    #expect(course.written == 120_000)
    #expect(course.end > .seconds(29) && course.end < .seconds(31))
    #expect(course.mostInASecond <= 4_500)
  }

  @Test(
    "However large the batch and short the interval, the pauses take at most half of it",
    arguments: [10_000, 120_000, 1_000_000, 30_000_001], [Duration.milliseconds(100), .seconds(5), .seconds(60)])
  func share(updates: Int, interval: Duration) {
    let course = Course(of: updates, every: interval) { _ in .zero }
    #expect(course.written == updates && course.end <= interval / 2)
  }

  @Test("A store that is slower than the pace is not made to wait")
  func slow() {
    let course = Course(of: 120_000) { _ in .milliseconds(300) }
    #expect(course.written == 120_000 && course.end == Duration.milliseconds(300) * 240)
  }

  @Test("After a write that took long, the portions that it has delayed do not come all together")
  func delayed() {
    let course = Course(of: 120_000) { $0 == 10 ? .seconds(5) : .milliseconds(20) }
    #expect(course.written == 120_000 && course.mostInASecond <= 4_500)
  }

  @Test("Nothing is due before its time")
  func early() {
    var pace = LastSeenPace(updates: 60_000, interval: Self.minute)
    #expect(pace.spacing == .milliseconds(250))
    #expect(pace.take(at: .zero) == 500 && pace.take(at: .milliseconds(249)) == 0)
    #expect(pace.take(at: .milliseconds(250)) == 500 && pace.due == .milliseconds(500))
  }
}
