import NIOCore
import NIOEmbedded
import Testing

@testable import DataPlane

@Suite("The wait for clients that go on sending")
struct LingeringCloseTests {
  private final class Connection: TimedHandler {
    var isOver = false
    override func timedOut() { isOver = true }
  }

  private let loop = EmbeddedEventLoop()

  /// - Returns: the seconds after which the connection was given up, one that sends again after each `interval`.
  private func duration(interval: TimeAmount, times: Int = .max, hastened: TimeAmount = .hours(1)) -> Double {
    let wheel = TimerWheel(eventLoop: loop)
    let connection = Connection()
    let start = loop.now
    var lingering = LingeringClose(endedAt: start)
    wheel.arm(connection, after: LingeringClose.quietTime, now: start)
    var count = 0
    while !connection.isOver, loop.now - start < .minutes(2) {
      count += 1
      // A loop looks at its sockets before the timers that are due by then.
      if count <= times { lingering.received(by: connection, wheel, now: loop.now + interval) }
      loop.advanceTime(by: interval)
      if loop.now - start == hastened { lingering.hasten(connection, wheel, now: loop.now) }
    }
    return Double((loop.now - start).nanoseconds) / 1e9
  }

  @Test("A client that sends without a pause is read for half a minute", arguments: [1, 20, 100, 250, 1_000, 1_900])
  func steady(milliseconds: Int64) {
    let seconds = duration(interval: .milliseconds(milliseconds))
    #expect(seconds >= 30 && seconds < 34, "\(seconds)")
  }

  @Test("At the end of the process a client is read for two seconds more, however it goes on")
  func hastened() {
    let seconds = duration(interval: .milliseconds(100), hastened: .seconds(5))
    #expect(seconds >= 7 && seconds < 8, "\(seconds)")
  }

  @Test("A client that stops sending is waited for two seconds")
  func stopped() {
    let seconds = duration(interval: .milliseconds(100), times: 50)
    #expect(seconds >= 7 && seconds < 8, "\(seconds)")
  }
}
