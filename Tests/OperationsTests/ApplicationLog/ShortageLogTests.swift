import Testing

@testable import Operations

@Suite("Log lines about shortages that last")
struct ShortageLogTests {
  private let start = ContinuousClock.now

  @Test("Failures before the first look are not logged, and nothing is while nothing fails")
  func quiet() {
    var log = ShortageLog(after: 7)
    #expect(log.line(for: 7, at: start) == nil)
    #expect(log.line(for: 7, at: start + .seconds(600)) == nil)
  }

  @Test("A shortage is logged at its begin, once a minute with the failures since, and a minute after the last one")
  func lasting() {
    var log = ShortageLog(after: 0)
    #expect(log.line(for: 3, at: start) == .lasts(failures: 3))
    for second in 1...59 { #expect(log.line(for: 3 + second, at: start + .seconds(second)) == nil) }
    #expect(log.line(for: 63, at: start + .seconds(60)) == .lasts(failures: 60))
    #expect(log.line(for: 63, at: start + .seconds(119)) == nil)
    #expect(log.line(for: 63, at: start + .seconds(120)) == .ended(failures: 63, duration: .seconds(60)))
    #expect(log.line(for: 64, at: start + .seconds(121)) == .lasts(failures: 1))
  }

  @Test("Less than a minute without failures does not end a shortage")
  func pause() {
    var log = ShortageLog(after: 0)
    #expect(log.line(for: 1, at: start) == .lasts(failures: 1))
    #expect(log.line(for: 1, at: start + .seconds(59)) == nil)
    #expect(log.line(for: 2, at: start + .seconds(59)) == nil)
    #expect(log.line(for: 2, at: start + .seconds(118)) == nil)
    #expect(log.line(for: 2, at: start + .seconds(119)) == .ended(failures: 2, duration: .seconds(59)))
  }

  @Test("A shortage lasts while it blocks, although nothing fails meanwhile")
  func blocked() {
    var log = ShortageLog(after: 0)
    #expect(log.line(for: 0, isBlocked: true, at: start) == .lasts(failures: 0))
    #expect(log.line(for: 0, isBlocked: true, at: start + .seconds(60)) == .lasts(failures: 0))
    #expect(log.line(for: 0, at: start + .seconds(119)) == nil)
    #expect(log.line(for: 0, at: start + .seconds(120)) == .ended(failures: 0, duration: .seconds(60)))
  }
}
