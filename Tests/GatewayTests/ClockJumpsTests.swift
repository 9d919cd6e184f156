import Foundation
import Testing

@testable import Gateway

@Suite("Jumps of the system's clock")
struct ClockJumpsTests {
  private let noon = Date(timeIntervalSince1970: 1_790_000_000)
  private let start = ContinuousClock.now

  /// The verdict when the machine has run for `steady` seconds more and its clock shows `wall` seconds more.
  private func verdict(_ jumps: inout ClockJumps, wall: Double, steady: Int) -> ClockJumps.Verdict {
    jumps.verdict(wall: noon.addingTimeInterval(wall), steady: start + .seconds(steady))
  }

  @Test("For a day after a jump ahead nothing counts as expired, unless the clock is set back")
  func ahead() {
    var jumps = ClockJumps()
    #expect(verdict(&jumps, wall: 0, steady: 0) == .trusted)
    #expect(verdict(&jumps, wall: 300, steady: 300) == .trusted)
    #expect(verdict(&jumps, wall: 90_600, steady: 600) == .jumped(seconds: 90_000))
    #expect(verdict(&jumps, wall: 90_900, steady: 900) == .distrusted)
    #expect(verdict(&jumps, wall: 90_000 + 86_999, steady: 86_999) == .distrusted)
    #expect(verdict(&jumps, wall: 90_000 + 87_000, steady: 87_000) == .trusted)
    #expect(verdict(&jumps, wall: 900_000, steady: 87_300) == .jumped(seconds: 722_700))
    #expect(verdict(&jumps, wall: 87_600, steady: 87_600) == .trusted, "it is right again")
  }

  @Test("A clock that is adjusted by up to an hour, or set back, is trusted")
  func small() {
    var jumps = ClockJumps()
    #expect(verdict(&jumps, wall: 0, steady: 0) == .trusted)
    #expect(verdict(&jumps, wall: 3_900, steady: 300) == .trusted)
    #expect(verdict(&jumps, wall: -90_000, steady: 600) == .trusted)
    #expect(verdict(&jumps, wall: 1e300, steady: 900) == .jumped(seconds: 1_000_000_000_000_000))
  }
}
