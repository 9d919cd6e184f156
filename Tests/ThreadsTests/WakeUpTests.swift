import Synchronization
import Testing

@testable import Threads

// Cases: a sleep that is ended, a call before the sleep, several calls, a limit, no limit.

@Suite("The wake-up of a thread")
struct WakeUpTests {
  @Test("A thread sleeps until it is woken, each time again", .timeLimit(.minutes(5)))
  func woken() async throws {
    let (there, back) = (WakeUp(), WakeUp())
    let count = Count()
    try DedicatedThread.start(named: "cordon-test") {
      for _ in 0..<1_000 {
        there.wait()
        count.value.wrappingAdd(1, ordering: .relaxed)
        back.ring()
      }
    }
    let other = SerialWorker(named: "cordon-test")
    let isWokenEachTime = await other.run {
      (1...1_000).allSatisfy { number in
        there.ring()
        back.wait()
        return count.value.load(ordering: .relaxed) == number
      }
    }
    #expect(isWokenEachTime)
  }

  @Test("Calls before the sleep end it at once, and only that one", .timeLimit(.minutes(5)))
  func kept() {
    let wakeUp = WakeUp()
    for _ in 0..<3 { wakeUp.ring() }
    wakeUp.wait()
    #expect(!wakeUp.wait(atMost: .zero))
    wakeUp.ring()
    #expect(wakeUp.wait(atMost: .seconds(3_600)))
  }

  @Test(
    "A sleep with a limit ends without a call, and not before the limit is over",
    arguments: [Duration.zero, .seconds(-1), .milliseconds(1), .milliseconds(30)])
  func limit(_ limit: Duration) {
    let wakeUp = WakeUp()
    let clock = SuspendingClock()
    let begin = clock.now
    #expect(!wakeUp.wait(atMost: limit))
    #expect(begin.duration(to: clock.now) >= limit)
  }

  @Test("A sleep with a limit ends when the thread is woken, however long the limit", .timeLimit(.minutes(5)))
  func wokenBeforeTheLimit() async throws {
    let wakeUp = WakeUp()
    let worker = SerialWorker(named: "cordon-test")
    async let isWoken = worker.run { wakeUp.wait(atMost: .seconds(Int64.max)) }
    wakeUp.ring()
    let result = await isWoken
    #expect(result)
  }

  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }
}
