import Foundation
import Logging
import Sessions
import Synchronization
import Testing

@testable import Gateway

// A restart while the clock is wrong, with the store that the process before has left.
@Suite("The watch on the system's clock")
struct ClockWatchTests {
  private let store = MemoryStore()
  private let lines = RecordedLines()
  private let clocks = Clocks()

  /// The system's clock, which may jump, and one that does not.
  private final class Clocks: Sendable {
    private let noon = Date(timeIntervalSince1970: 1_790_000_000)
    private let start = ContinuousClock.now
    private let elapsed = Mutex((wall: 0.0, steady: 0))

    var wall: Date { noon.addingTimeInterval(elapsed.withLock { $0.wall }) }
    var steady: ContinuousClock.Instant { start + .seconds(elapsed.withLock { $0.steady }) }

    func advance(_ seconds: Int, jumpingBy jump: Int = 0) {
      elapsed.withLock { $0 = ($0.wall + Double(seconds + jump), $0.steady + seconds) }
    }
  }

  private static let day = 86_400

  /// A gateway starts: its watch after the first check of the store.
  private func start() async throws -> ClockWatch {
    let logger = Logger(label: "test") { [lines] _ in RecordingLogHandler(lines, []) }
    let watch = ClockWatch(
      store: store, logger: logger, wall: { [clocks] in clocks.wall }, steady: { [clocks] in clocks.steady })
    watch.watch()
    try await watch.compareStart()
    return watch
  }

  private func useSession() throws { _ = try store.signIn("ada", .random(), at: clocks.wall) }

  private func logged() -> [String] { lines.take().map { String($0.dropLast()) } }

  @Test("A start after a jump ahead trusts the clock after a day, although a session was used since the jump")
  func startAfterJump() async throws {
    try useSession()
    let running = try await start()
    #expect(running.isTrusted && logged().isEmpty)
    clocks.advance(5, jumpingBy: 6 * Self.day)
    #expect(!running.hasUnrecorded)
    running.watch()
    #expect(running.hasUnrecorded)
    await running.record()
    #expect(!running.hasUnrecorded && !running.isTrusted && logged().count == 1)
    try useSession()
    clocks.advance(5)
    let restarted = try await start()
    #expect(!restarted.isTrusted)
    #expect(
      logged() == ["the system's clock may have been ahead before this start, keeping expired sessions for a day"])
    clocks.advance(Self.day)
    #expect(restarted.isTrusted)
    // The clock is set right.
    clocks.advance(5, jumpingBy: -6 * Self.day)
    let later = try await start()
    #expect(later.isTrusted && logged().isEmpty)
  }

  @Test("A start long after the latest use of a session is known to the next start, although one was used since")
  func startAfterQuietStart() async throws {
    try useSession()
    clocks.advance(0, jumpingBy: 3 * Self.day)
    let first = try await start()
    await first.record()
    #expect(!first.isTrusted && logged().count == 1)
    try useSession()
    clocks.advance(5)
    #expect(try await !start().isTrusted)
  }

  @Test("A jump that the store does not take is recorded at the next attempt")
  func storeFails() async throws {
    try useSession()
    let running = try await start()
    clocks.advance(5, jumpingBy: 6 * Self.day)
    running.watch()
    store.state.withLock { $0.nextFailures["consume"] = StoreError(code: .busy, message: "locked") }
    await running.record()
    try useSession()
    #expect(try await start().isTrusted, "nothing is known")
    await running.record()
    #expect(try await !start().isTrusted)
  }

  @Test("A clock that was set right before its jump was recorded leaves no record")
  func setRight() async throws {
    try useSession()
    let running = try await start()
    clocks.advance(5, jumpingBy: 6 * Self.day)
    running.watch()
    clocks.advance(5, jumpingBy: -6 * Self.day)
    running.watch()
    await running.record()
    #expect(running.isTrusted)
    #expect(store.state.withLock { $0.replayGuards.isEmpty })
  }

  @Test("While by the clock no session was used for hours, rows expire by the latest use; after a use by the clock")
  func quiet() async throws {
    try useSession()
    let used = clocks.wall
    let watch = try await start()
    for (seconds, isQuiet) in [(0, false), (3_599, false), (1, true), (82_800, true), (1, false)] {
      clocks.advance(seconds)
      #expect(try await watch.removalTime() == (isQuiet ? used : clocks.wall), "\(clocks.wall)")
    }
    try useSession()
    #expect(try await watch.removalTime() == clocks.wall)
  }

  @Test("A gateway whose clock is hours ahead removes nothing that is in use at others, also when it has run for hours")
  func hoursAhead() async throws {
    let offset = 3 * 3_600
    try useSession()
    clocks.advance(0, jumpingBy: offset)
    let ahead = try await start()
    #expect(!ahead.hasUnrecorded && logged().isEmpty)
    for _ in 0..<4 {
      let right = clocks.wall.addingTimeInterval(-Double(offset))
      _ = try store.signIn("ada", .random(), at: right)
      #expect(try await ahead.removalTime() == right)
      clocks.advance(offset)
    }
  }

  @Test("A gateway that runs for some hours each day, or for minutes, removes what has expired, less than a day late")
  func dailyStarts() async throws {
    try useSession()
    for (pause, running) in [(14 * 3_600, 10 * 3_600), (14 * 3_600, 10 * 3_600), (86_000, 300), (86_000, 300)] {
      clocks.advance(0, jumpingBy: pause)
      let watch = try await start()
      try useSession()
      clocks.advance(running)
      try useSession()
      #expect(try await watch.removalTime() == clocks.wall.addingTimeInterval(-Double(pause)))
    }
  }
}
