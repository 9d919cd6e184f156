import NIOCore
import Testing

@testable import DataPlane

@Suite("Ejections")
struct OutlierDetectionTests {
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  /// Fails until ejected, and returns the length of the ejection.
  private func eject(_ ejection: inout OutlierDetection, at now: NIODeadline, chance: Double = 0) -> TimeAmount {
    while !ejection.failed(at: now, chance: chance) {}
    var length = TimeAmount.zero
    while ejection.health(at: now + length) == .ejected { length = length + .milliseconds(50) }
    return length
  }

  @Test("Three failures in a row eject an address; a response in between resets the count")
  func threshold() {
    var ejection = OutlierDetection()
    for _ in 0..<10 {
      #expect(ejection.failed(at: start, chance: 0) == false)
      #expect(ejection.failed(at: start, chance: 0) == false)
      #expect(ejection.health(at: start) == .healthy)
      #expect(ejection.succeeded(at: start) == false)
    }
    #expect(ejection.failed(at: start, chance: 0) == false)
    #expect(ejection.failed(at: start, chance: 0) == false)
    #expect(ejection.failed(at: start, chance: 0) == true)
    #expect(ejection.health(at: start) == .ejected && ejection.isEjectedOrHalfOpen)
  }

  @Test("Each ejection after a failed trial is twice as long, a minute at most")
  func growth() {
    var ejection = OutlierDetection()
    var now = start
    var lengths: [Int64] = []
    for _ in 0..<9 {
      let length = eject(&ejection, at: now)
      lengths.append(length.nanoseconds / 1_000_000_000)
      now = now + length
      #expect(ejection.health(at: now) == .halfOpen)
    }
    #expect(lengths == [1, 2, 4, 8, 16, 32, 60, 60, 60])
  }

  @Test("Chance makes an ejection up to a quarter shorter")
  func jitter() {
    var one = OutlierDetection()
    #expect(eject(&one, at: start, chance: 0.999) == .milliseconds(800))
    for chance in [0, 0.3, 0.7, 0.999] {
      var ejection = OutlierDetection()
      let length = eject(&ejection, at: start, chance: chance)
      #expect(length >= .milliseconds(750) && length <= .seconds(1))
    }
  }

  @Test("Failures of requests that were under way do not lengthen an ejection")
  func late() {
    var ejection = OutlierDetection()
    let length = eject(&ejection, at: start)
    for _ in 0..<100 { #expect(ejection.failed(at: start + .milliseconds(10), chance: 0) == false) }
    #expect(ejection.health(at: start + length) == .halfOpen)
  }

  @Test(
    "One failure on trial ejects again; a response ends the ejection, and a minute without failures resets its length")
  func trial() {
    var ejection = OutlierDetection()
    var now = start + eject(&ejection, at: start)
    #expect(ejection.failed(at: now, chance: 0) == true)
    #expect(ejection.health(at: now) == .ejected)
    now = now + .seconds(2)
    #expect(ejection.succeeded(at: now) == true)
    #expect(ejection.health(at: now) == .healthy)
    // Soon after, the length continues to double; later, it starts again.
    #expect(eject(&ejection, at: now + .seconds(5)) == .seconds(4))
    now = now + .seconds(9)
    #expect(ejection.succeeded(at: now) == true)
    #expect(eject(&ejection, at: now + .seconds(61)) == .seconds(1))
  }

  @Test("An answer that comes during the ejection ends it")
  func answeredMeanwhile() {
    var ejection = OutlierDetection()
    _ = eject(&ejection, at: start)
    #expect(ejection.succeeded(at: start + .milliseconds(1)) == true)
    #expect(ejection.health(at: start + .milliseconds(1)) == .healthy)
  }
}
