import NIOCore
import NIOEmbedded
import RandomTesting
import Testing

@testable import DataPlane

// Cases: rounding up, moving on, disarming, removing, beyond a round, many in a slot, arming within a time-out.

@Suite("The timer wheel")
struct TimerWheelTests {
  private final class Sleeper: TimedHandler {
    var woken = 0
    var atWaking: (() -> Void)?

    override func timedOut() {
      woken += 1
      atWaking?()
    }
  }

  private let loop = EmbeddedEventLoop()

  @Test("A time-out comes not before its time, and at most two ticks after", arguments: [1, 100, 250, 251, 600, 1_000])
  func rounding(_ milliseconds: Int64) {
    for offset in [0, 1, 124, 249] as [Int64] {
      let wheel = TimerWheel(eventLoop: loop)
      loop.advanceTime(by: .milliseconds(offset))
      let sleeper = Sleeper()
      wheel.arm(sleeper, after: .milliseconds(milliseconds), now: loop.now)
      loop.advanceTime(by: .milliseconds(milliseconds - 1))
      #expect(sleeper.woken == 0, "\(offset)")
      loop.advanceTime(by: .milliseconds(501))
      #expect(sleeper.woken == 1, "\(offset)")
      loop.advanceTime(by: .seconds(300))
      #expect(sleeper.woken == 1)
    }
  }

  @Test("A deadline that is moved on is kept at its last place, one that is brought forward too")
  func moved() {
    let wheel = TimerWheel(eventLoop: loop)
    let sleeper = Sleeper()
    wheel.arm(sleeper, after: .seconds(1), now: loop.now)
    for _ in 0..<20 {
      loop.advanceTime(by: .milliseconds(900))
      wheel.arm(sleeper, after: .seconds(1), now: loop.now)
    }
    #expect(sleeper.woken == 0)
    wheel.arm(sleeper, after: .seconds(60), now: loop.now)
    wheel.arm(sleeper, after: .seconds(2), now: loop.now)
    loop.advanceTime(by: .milliseconds(2_500))
    #expect(sleeper.woken == 1)
  }

  @Test("A disarmed or removed handler is not called, and can be armed again")
  func disarmed() {
    let wheel = TimerWheel(eventLoop: loop)
    let (one, other) = (Sleeper(), Sleeper())
    wheel.arm(one, after: .seconds(1), now: loop.now)
    wheel.arm(other, after: .seconds(1), now: loop.now)
    wheel.disarm(one)
    wheel.remove(other)
    loop.advanceTime(by: .seconds(10))
    #expect(one.woken == 0 && other.woken == 0)
    wheel.arm(one, after: .seconds(1), now: loop.now)
    wheel.arm(other, after: .seconds(1), now: loop.now)
    loop.advanceTime(by: .seconds(2))
    #expect(one.woken == 1 && other.woken == 1)
  }

  @Test("Deadlines beyond one round of the wheel are met", arguments: [128, 129, 300, 1_000, 86_400] as [Int64])
  func beyondARound(_ seconds: Int64) {
    let wheel = TimerWheel(eventLoop: loop)
    let sleeper = Sleeper()
    wheel.arm(sleeper, after: .seconds(seconds), now: loop.now)
    loop.advanceTime(by: .seconds(seconds) - .milliseconds(1))
    #expect(sleeper.woken == 0)
    loop.advanceTime(by: .milliseconds(501))
    #expect(sleeper.woken == 1)
  }

  @Test("The longest duration there is arms without a trap")
  func longest() {
    let wheel = TimerWheel(eventLoop: loop)
    let sleeper = Sleeper()
    wheel.arm(sleeper, after: TimeAmount(Duration.seconds(Int64.max)), now: loop.now)
    loop.advanceTime(by: .hours(1))
    #expect(sleeper.woken == 0)
  }

  @Test("Each of many random timers fires once, in its time, though they remove each other")
  func many() {
    let wheel = TimerWheel(eventLoop: loop)
    var random = SeededNumbers(seed: 3)
    var sleepers: [(Sleeper, Int64)] = []
    for _ in 0..<200 {
      let wait = Int64.random(in: 1...200_000, using: &random)
      let sleeper = Sleeper()
      wheel.arm(sleeper, after: .milliseconds(wait), now: loop.now)
      sleepers.append((sleeper, wait))
    }
    // Every tenth takes its neighbour away, from within its time-out.
    for index in stride(from: 0, to: 200, by: 10) {
      let neighbour = sleepers[index + 1].0
      sleepers[index].0.atWaking = { wheel.remove(neighbour) }
    }
    var elapsed: Int64 = 0
    var wrong: Set<Int> = []
    while elapsed < 201_000 {
      loop.advanceTime(by: .milliseconds(200))
      elapsed += 200
      for (index, (sleeper, wait)) in sleepers.enumerated() {
        if elapsed < wait, sleeper.woken != 0 { wrong.insert(index) }
        if elapsed > wait + 600, index % 10 != 1, sleeper.woken != 1 { wrong.insert(index) }
      }
    }
    #expect(wrong.isEmpty && sleepers.allSatisfy { $0.0.woken <= 1 })
  }

  @Test("A handler that arms itself in its time-out is called again")
  func again() {
    let wheel = TimerWheel(eventLoop: loop)
    let sleeper = Sleeper()
    let loop = loop
    sleeper.atWaking = { [unowned sleeper] in wheel.arm(sleeper, after: .seconds(1), now: loop.now) }
    wheel.arm(sleeper, after: .seconds(1), now: loop.now)
    for _ in 0..<40 { loop.advanceTime(by: .milliseconds(250)) }
    #expect(sleeper.woken >= 6 && sleeper.woken <= 10)
    sleeper.atWaking = nil
    loop.advanceTime(by: .seconds(2))
  }
}
