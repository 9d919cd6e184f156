import Testing

@testable import Gateway

@Suite("Recent events")
struct RecentEventsTests {
  private typealias Events = RecentEvents<Int>

  @Test("An event is remembered for a minute, by the later of its numbers")
  func remembered() {
    var events = Events()
    events.note(1, number: 7, now: 0)
    events.note(1, number: 6, now: 1_000)
    #expect(events.number(of: 1, now: 60_999) == 7)
    #expect(events.number(of: 1, now: 61_000) == nil && events.number(of: 2, now: 0) == nil)
  }

  @Test("Of a burst of events nothing is forgotten within its time, and nothing takes memory for long after it")
  func burst() {
    var events = Events()
    for key in 0..<100_000 { events.note(key, now: Int64(key) / 10) }
    #expect(events.count == 100_000)
    #expect((0..<100_000).allSatisfy { events.number(of: $0, now: 10_000) != nil })
    // Few events follow, too few for the burst to be forgotten because of their number.
    for second in 1...180 { events.note(-second, now: 10_000 + Int64(second) * 1_000) }
    #expect(events.count < 200)
    #expect(events.number(of: -180, now: 190_000) != nil)
  }

  @Test("Of a burst that no event follows nothing is forgotten within its time, and all of it two minutes later")
  func lastBurst() {
    var events = Events()
    for key in 0..<100_000 { events.note(key, now: Int64(key) / 10) }
    events.removeOld(now: 60_000)
    #expect((90_000..<100_000).allSatisfy { events.number(of: $0, now: 60_000) != nil })
    for minute in 2...3 { events.removeOld(now: Int64(minute) * 60_000) }
    #expect(events.count == 0)
    events.note(1, now: 200_000)
    events.removeOld(now: 259_999)
    #expect(events.number(of: 1, now: 259_999) != nil)
  }

  @Test("Many events for a long time are kept for two minutes at most")
  func steady() {
    var (events, most) = (Events(), 0)
    // A hundred a second, for ten minutes.
    for key in 0..<60_000 {
      events.note(key, now: Int64(key) * 10)
      most = max(most, events.count)
    }
    #expect(most >= 6_000 && most <= 12_001)
  }

  @Test("Events of a clock that was ahead, and was set back, are forgotten when their time has come")
  func clockSetBack() {
    var events = Events()
    for key in 0..<10_000 { events.note(key, now: 1_000_000) }
    for key in 0..<10_000 { events.note(-key - 1, now: 500_000) }
    for second in 0..<1_200 { events.note(20_000, now: 500_000 + Int64(second) * 1_000) }
    #expect(events.count == 1)
  }
}
