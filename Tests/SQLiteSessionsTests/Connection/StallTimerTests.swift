import Synchronization
import Testing

@testable import SQLiteSessions

@Suite("The timer for connections that do not answer", .timeLimit(.minutes(5)))
struct StallTimerTests {
  /// A look whose calls can be awaited.
  private final class Look: Sendable {
    private let calls: AsyncStream<Void>
    private let called: AsyncStream<Void>.Continuation
    private let deadlines: Mutex<[StallTimer.Instant]>

    /// - Parameter deadlines: what the calls return, one after another, and nil from then on.
    init(_ deadlines: [StallTimer.Instant]) {
      (calls, called) = AsyncStream.makeStream()
      self.deadlines = Mutex(deadlines)
    }

    func call() -> StallTimer.Instant? {
      called.yield()
      return deadlines.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func wait(for count: Int) async {
      var seen = 0
      for await _ in calls {
        seen += 1
        if seen == count { return }
      }
    }
  }

  private let timer = StallTimer()

  @Test("Every group is looked at when the timer ends, and again at the next deadline of any of them")
  func severalGroups() async {
    let (writing, reading) = (Look([]), Look([.now]))
    timer.add { _ in writing.call() }
    timer.add { _ in reading.call() }
    timer.set(to: .now)
    await writing.wait(for: 2)
    await reading.wait(for: 2)
  }

  @Test("An earlier deadline comes before the one for which the timer is set")
  func earlier() async {
    let look = Look([])
    timer.add { _ in look.call() }
    timer.set(to: .now.advanced(by: .seconds(3_600)))
    timer.set(to: .now)
    await look.wait(for: 1)
  }

  @Test("A timer that has ended can be set again")
  func again() async {
    let look = Look([])
    timer.add { _ in look.call() }
    for _ in 1...2 {
      timer.set(to: .now)
      await look.wait(for: 1)
    }
  }
}
