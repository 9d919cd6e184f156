import Foundation
import Testing

@testable import Gateway

@Suite("Jumps of the system's clock")
struct ClockJumpsTests {
  private let noon = Date(timeIntervalSince1970: 1_790_000_000)
  private let start = ContinuousClock.now

  /// The jump when the machine has run for `steady` seconds more and its clock shows `wall` seconds more.
  private func jump(_ jumps: inout ClockJumps, wall: Double, steady: Int) -> Int? {
    jumps.compare(wall: noon.addingTimeInterval(wall), steady: start + .seconds(steady))
  }

  private func isTrusted(_ jumps: ClockJumps, steady: Int) -> Bool { jumps.isTrusted(at: start + .seconds(steady)) }

  @Test("For a day after a jump ahead nothing counts as expired, unless the clock is set back")
  func ahead() {
    var jumps = ClockJumps()
    #expect(jump(&jumps, wall: 0, steady: 0) == nil)
    #expect(jump(&jumps, wall: 300, steady: 300) == nil && isTrusted(jumps, steady: 300))
    #expect(jump(&jumps, wall: 90_600, steady: 600) == 90_000)
    #expect(jump(&jumps, wall: 90_900, steady: 900) == nil, "it is told once")
    for (steady, expected) in [(600, false), (86_999, false), (87_000, true)] {
      #expect(isTrusted(jumps, steady: steady) == expected, "\(steady)")
    }
    #expect(jump(&jumps, wall: 900_000, steady: 87_300) == 722_700 && !isTrusted(jumps, steady: 87_300))
    #expect(jump(&jumps, wall: 87_600, steady: 87_600) == nil && isTrusted(jumps, steady: 87_600), "it is right again")
  }

  @Test("A clock that is adjusted by up to an hour, or set back, is trusted")
  func small() {
    var jumps = ClockJumps()
    #expect(jump(&jumps, wall: 0, steady: 0) == nil)
    #expect(jump(&jumps, wall: 3_900, steady: 300) == nil)
    #expect(jump(&jumps, wall: -90_000, steady: 600) == nil && isTrusted(jumps, steady: 600))
    #expect(jump(&jumps, wall: 1e300, steady: 900) == 1_000_000_000_000_000)
  }

  @Test("A start long after the latest use of a session trusts the clock after a day, or when it is set back")
  func lateStart() {
    for (quiet, expected) in [(-90_000, nil), (0, nil), (3_600, nil), (86_401, 86_401), (8e9, 8_000_000_000)]
      as [(Double, Int?)]
    {
      var jumps = ClockJumps()
      let latest = noon.addingTimeInterval(-quiet)
      #expect(jumps.compareStart(wall: noon, steady: start, latestUse: latest) == expected)
      #expect(isTrusted(jumps, steady: 5) == (expected == nil) && isTrusted(jumps, steady: 86_400))
      #expect(jump(&jumps, wall: 5, steady: 5) == nil)
      #expect(jump(&jumps, wall: -86_400, steady: 10) == nil && isTrusted(jumps, steady: 10))
    }
    var fresh = ClockJumps()
    #expect(fresh.compareStart(wall: noon, steady: start, latestUse: nil) == nil && isTrusted(fresh, steady: 0))
  }

  /// The time by which rows are removed, in seconds since noon by the clock.
  private func removal(_ jumps: ClockJumps, wall: Int, steady: Int, latestUse: Int? = nil) -> Int? {
    let latest = latestUse.map { noon.addingTimeInterval(Double($0)) }
    let time = jumps.removalTime(
      wall: noon.addingTimeInterval(Double(wall)), steady: start + .seconds(steady), latestUse: latest)
    return time.map { Int($0.timeIntervalSince(noon)) }
  }

  @Test("After a start hours after the latest use of a session, rows are removed as many hours late, for as many hours")
  func startAfterHours() {
    for quiet in [3_601, 10_800, 86_400] {
      var jumps = ClockJumps()
      let latest = noon.addingTimeInterval(-Double(quiet))
      #expect(jumps.compareStart(wall: noon, steady: start, latestUse: latest) == nil)
      for (seconds, expected) in [(5, 5 - quiet), (quiet - 1, -1), (quiet, quiet)] {
        #expect(removal(jumps, wall: seconds, steady: seconds, latestUse: seconds) == expected, "\(quiet)")
      }
      // The clock was ahead, and is set right.
      #expect(jump(&jumps, wall: 5, steady: 5) == nil)
      #expect(jump(&jumps, wall: 10 - Double(quiet), steady: 10) == nil)
      #expect(removal(jumps, wall: 10 - quiet, steady: 10, latestUse: -quiet) == 10 - quiet)
    }
  }

  @Test("While no session was used for hours, rows are removed by the latest use, and after a day by the clock")
  func quietHours() {
    let jumps = ClockJumps()
    for (wall, expected) in [(0, 0), (3_599, 3_599), (3_600, 0), (86_400, 0), (86_401, 86_401), (-7_200, -7_200)] {
      #expect(removal(jumps, wall: wall, steady: wall, latestUse: 0) == expected)
    }
    #expect(removal(jumps, wall: 7_200, steady: 7_200) == 7_200, "without sessions")
  }

  @Test("While the clock is not trusted nothing is removed")
  func distrusted() {
    var jumps = ClockJumps()
    jumps.distrust(from: start)
    #expect(removal(jumps, wall: 86_399, steady: 86_399, latestUse: 86_399) == nil)
    #expect(removal(jumps, wall: 86_400, steady: 86_400, latestUse: 86_400) == 86_400)
  }

  @Test("A day that another process has asked for is not shortened by a start some hours after the latest use")
  func hoursWithinDay() {
    var jumps = ClockJumps()
    jumps.distrust(from: start)
    #expect(jumps.compareStart(wall: noon, steady: start, latestUse: noon.addingTimeInterval(-10_800)) == nil)
    #expect(!isTrusted(jumps, steady: 86_399) && isTrusted(jumps, steady: 86_400))
  }
}
