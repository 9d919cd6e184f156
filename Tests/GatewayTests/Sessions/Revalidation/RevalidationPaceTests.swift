import Testing

@testable import Gateway

// When the revalidations start that no request waits for.
@Suite("The pace of revalidations in the background")
struct RevalidationPaceTests {
  @Test("A revalidation that comes alone starts at once, and those that come together start one after another")
  func gaps() {
    var pace = RevalidationPace()
    let noon = ContinuousClock.now
    #expect(pace.start(at: noon) == noon)
    for number in 1..<64 { #expect(pace.start(at: noon) == noon + RevalidationPace.gap * number) }
    let later = noon + RevalidationPace.gap * 64
    #expect(pace.start(at: later) == later, "the last of them has just made room")
    let evening = noon + .seconds(3_600)
    #expect(pace.start(at: evening) == evening, "a quiet hour gives nobody a second start at once")
    #expect(pace.start(at: evening) == evening + RevalidationPace.gap)
  }
}
