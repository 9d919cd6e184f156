import NIOCore
import RandomTesting
import Testing

@testable import SocketTransport

@Suite("The timers of a loop")
struct TimerTests {
  private func time(_ number: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(1_000 + number)) }

  /// Numbers of the timers that go off until then, in their order.
  private func due(_ timers: inout LoopTimers, at number: Int, _ log: Log) -> [Int] {
    log.numbers = []
    let turn = timers.beginTurn(at: time(number))
    while let body = timers.takeDue(in: turn) { body() }
    return log.numbers
  }

  private final class Log {
    var numbers: [Int] = []
  }

  @Test("Timers go off in the order of their deadlines, and not before")
  func order() {
    var timers = LoopTimers()
    let log = Log()
    for number in [5, 1, 4, 2, 3] { _ = timers.set(time(number)) { log.numbers.append(number) } }
    #expect(timers.next == time(1))
    #expect(due(&timers, at: 0, log) == [])
    #expect(due(&timers, at: 3, log) == [1, 2, 3])
    #expect(due(&timers, at: 9, log) == [4, 5])
    #expect(timers.next == nil)
  }

  @Test("Timers of one deadline go off in the order in which they were set")
  func sameDeadline() {
    var timers = LoopTimers()
    let log = Log()
    for number in 0..<20 { _ = timers.set(time(7)) { log.numbers.append(number) } }
    #expect(due(&timers, at: 7, log) == Array(0..<20))
  }

  @Test("A timer that is cancelled does not go off, and cancelling it again changes nothing")
  func cancelled() {
    var timers = LoopTimers()
    let log = Log()
    let handles = (0..<10).map { number in timers.set(time(number)) { log.numbers.append(number) } }
    for _ in 0..<2 { timers.cancel(handles[3]) }
    timers.cancel(handles[9])
    timers.cancel(handles[0])
    #expect(due(&timers, at: 5, log) == [1, 2, 4, 5])
    // It has gone off.
    timers.cancel(handles[5])
    #expect(due(&timers, at: 20, log) == [6, 7, 8])
  }

  @Test("At the end each timer that is left is told once, and none goes off")
  func end() {
    var timers = LoopTimers()
    let log = Log()
    for number in 0..<4 {
      _ = timers.set(
        time(number), onEnd: { log.numbers.append(-number) }, body: { log.numbers.append(number) })
    }
    #expect(due(&timers, at: 1, log) == [0, 1])
    log.numbers = []
    for body in timers.end() { body() }
    #expect(log.numbers.sorted() == [-3, -2])
    #expect(due(&timers, at: 100, log) == [] && timers.end().isEmpty)
  }

  @Test("A timer that is set in a turn is due in the next one, after those that were due already")
  func withinTurn() {
    var timers = LoopTimers()
    let log = Log()
    _ = timers.set(time(5)) { log.numbers.append(5) }
    let turn = timers.beginTurn(at: time(7))
    _ = timers.set(time(0)) { log.numbers.append(0) }
    _ = timers.set(time(7)) { log.numbers.append(7) }
    timers.takeDue(in: turn)?()
    let another = timers.takeDue(in: turn)
    #expect(log.numbers == [5] && another == nil)
    #expect(due(&timers, at: 7, log) == [0, 7])
  }

  @Test("Random timers behave as a sorted list does", arguments: 0..<20)
  func random(seed: Int) {
    var random = SeededNumbers(seed: UInt64(seed))
    var timers = LoopTimers()
    let log = Log()
    var model: [(deadline: Int, number: Int)] = []
    var handles: [Int: LoopTimer] = [:]
    var now = 0
    for number in 0..<500 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        let deadline = now + Int.random(in: 0..<50, using: &random)
        handles[number] = timers.set(time(deadline)) { log.numbers.append(number) }
        model.append((deadline, number))
      case 6..<8:
        guard let gone = model.randomElement(using: &random), let handle = handles[gone.number] else { continue }
        timers.cancel(handle)
        model.removeAll { $0.number == gone.number }
      default:
        now += Int.random(in: 0..<20, using: &random)
        let expected = model.filter { $0.deadline <= now }.sorted {
          ($0.deadline, $0.number) < ($1.deadline, $1.number)
        }
        model.removeAll { $0.deadline <= now }
        #expect(due(&timers, at: now, log) == expected.map(\.number))
      }
      #expect(timers.next == model.map(\.deadline).min().map(time))
    }
  }
}
