import NIOCore
import Testing

@testable import DataPlane

@Suite("The pace at which a client takes a response")
struct ResponsePaceTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  /// Asks once a second about a client that takes so many bytes in each.
  /// - Returns: the number of seconds after which it is too slow; nil for never.
  private func end(rate: Int, taking bytes: Int, patience: Int64 = 60) -> Int? {
    var pace = ResponsePace(sent: 1 << 20, waiting: 1 << 20, at: start)
    for second in 1...300 {
      let isTooSlow = pace.isTooSlow(
        sent: 1 << 20, waiting: max(0, (1 << 20) - bytes * second), at: start + .seconds(Int64(second)), rate: rate,
        grace: .seconds(10), patience: .seconds(patience))
      if isTooSlow { return second }
    }
    return nil
  }

  @Test("A client below the minimum rate is ended soon after the grace, one at the rate never")
  func rates() {
    #expect(end(rate: 240, taking: 6) == 11)
    #expect(end(rate: 240, taking: 240) == nil)
    #expect(end(rate: 240, taking: 3_000) == nil)
    #expect(end(rate: 0, taking: 1) == nil)
  }

  @Test("A client that takes nothing is ended after the patience, whatever the minimum rate", arguments: [0, 240])
  func silence(rate: Int) {
    #expect(end(rate: rate, taking: 0, patience: 60) == 60)
  }

  @Test("A client that pauses for less than the patience goes on; one that takes a few bytes afterwards is ended")
  func pause() {
    for (bytes, isTooSlowThen) in [(200_000, false), (100, true)] {
      var pace = ResponsePace(sent: 1 << 20, waiting: 1 << 20, at: start)
      func isTooSlow(taking taken: Int, at second: Int64) -> Bool {
        pace.isTooSlow(
          sent: 1 << 20, waiting: (1 << 20) - taken, at: start + .seconds(second), rate: 240, grace: .seconds(10),
          patience: .seconds(60))
      }
      #expect(!isTooSlow(taking: 100_000, at: 1))
      for second in Int64(2)...50 { #expect(!isTooSlow(taking: 100_000, at: second)) }
      #expect(isTooSlow(taking: 100_000 + bytes, at: 51) == isTooSlowThen)
    }
  }

  @Test("Bytes that were taken fast at first are no credit for later")
  func credit() {
    var pace = ResponsePace(sent: 0, waiting: 0, at: start)
    func isTooSlow(taking taken: Int, at second: Int64) -> Bool {
      pace.isTooSlow(
        sent: taken + 100_000, waiting: 100_000, at: start + .seconds(second), rate: 240, grace: .seconds(10),
        patience: .seconds(60))
    }
    #expect(!isTooSlow(taking: 50 << 20, at: 1))
    #expect(!isTooSlow(taking: (50 << 20) + 60, at: 11))
    #expect(isTooSlow(taking: (50 << 20) + 72, at: 13))
  }
}
