import Sessions
import Testing

@testable import Gateway

// The state machine of the store's availability, event by event: before the first answer; outages as a whole and in
// part; the change feed; checks, permissions and room; a newer version; the end of the outage grace. Times are in
// milliseconds.
@Suite("The availability of the store")
struct StoreAvailabilityTests {
  private let away = StoreError(code: .unavailable, message: "cannot be reached")
  private let busy = StoreError(code: .busy, message: "locked")
  private let denied = StoreError(code: .denied, message: "no permission")
  private let full = StoreError(code: .full, message: "no room left")
  private let newer = StoreError(code: .newerSchema, message: "run the newer version")
  private let readOnly = StoreError(code: .readOnly, message: "may be read but not written")

  /// A store that was not asked yet.
  private func closed(grace: Duration = .seconds(10)) -> StoreAvailability {
    StoreAvailability(outageGrace: grace, now: 0)
  }

  /// A store that was checked, and whose change feed was read.
  private func opened(grace: Duration = .seconds(10)) -> StoreAvailability {
    var store = closed(grace: grace)
    #expect(store.wrote(at: 0, asked: 0).isEmpty)
    #expect(store.feedAnswered(at: 0, asked: 0).isEmpty)
    #expect(store.isHealthy && !store.isUnavailable && store.isServing(at: 0))
    return store
  }

  // MARK: Before the first answer

  @Test("A store that was not asked yet is not unavailable, has not answered, and needs a check")
  func pending() {
    let store = closed()
    #expect(!store.isUnavailable && !store.hasAnswered && store.needsCheck && store.problem == nil)
    #expect(store.isTrusted(at: 9_999) && !store.isServing(at: 0))
  }

  @Test("A failed opening is told once for each message, whatever else fails between")
  func failedOpenings() {
    var store = closed()
    #expect(store.didNotOpen(away) == [.notOpened(away)])
    let sameMessage = StoreError(code: .unavailable, message: "cannot be reached", cause: "connection refused")
    #expect(store.didNotOpen(sameMessage).isEmpty)
    #expect(store.didNotAnswer("find", away).isEmpty && store.feedDidNotAnswer(away).isEmpty)
    #expect(store.didNotOpen(away).isEmpty)
    #expect(store.didNotOpen(busy) == [.notOpened(busy)])
    #expect(store.didNotOpen(away) == [.notOpened(away)])
    #expect(store.isUnavailable && !store.hasAnswered && store.problem == away)
  }

  @Test("Before the first answer neither an outage, nor a failed check, nor the end of the grace is told")
  func silentBefore() {
    var store = closed()
    for error in [away, denied, full] { #expect(store.didNotWrite(error).isEmpty) }
    #expect(!store.isUnavailable, "a check that fails does not show that queries fail")
    #expect(store.didNotAnswer("find", away).isEmpty && store.isUnavailable)
    #expect(store.noteService(at: 60_000).isEmpty)
    #expect(store.answered(at: 60_000, asked: 60_000).isEmpty)
    #expect(store.hasAnswered && !store.isUnavailable && store.needsCheck)
  }

  @Test("A store that opens after more than the grace tells no end of it, and then that requests are served, once")
  func openedLate() {
    var store = closed()
    #expect(store.didNotOpen(away) == [.notOpened(away)])
    #expect(store.feedDidNotAnswer(away).isEmpty)
    #expect(store.wrote(at: 60_000, asked: 60_000).isEmpty)
    #expect(!store.isServing(at: 60_000), "the change feed has not answered yet")
    #expect(store.noteService(at: 60_000).isEmpty)
    #expect(store.feedAnswered(at: 60_500, asked: 60_500).isEmpty)
    #expect(store.noteService(at: 60_500) == [.serving] && store.noteService(at: 60_500).isEmpty)
  }

  @Test("A store that opens after more than the grace, and whose change feed goes on to fail, tells of both")
  func openedLateWithoutFeed() {
    var store = closed()
    #expect(store.didNotOpen(away) == [.notOpened(away)])
    #expect(store.feedDidNotAnswer(away).isEmpty)
    #expect(store.wrote(at: 60_000, asked: 60_000).isEmpty && store.noteService(at: 60_000).isEmpty)
    #expect(store.feedDidNotAnswer(busy) == [.unavailable(operation: "changes", busy)])
    #expect(store.noteService(at: 60_500) == [.graceEnded(busy)] && store.noteService(at: 60_500).isEmpty)
  }

  // MARK: Outages

  @Test("An outage is told when it begins and when it ends, and a query that is answered does not hide a failed one")
  func outage() {
    var store = opened()
    #expect(store.didNotAnswer("find", away) == [.unavailable(operation: "find", away)])
    #expect(store.didNotAnswer("find", away).isEmpty && store.failed("touch", away).isEmpty)
    #expect(store.isUnavailable && store.needsCheck)
    #expect(store.answered(at: 1, asked: 1).isEmpty)
    #expect(!store.isUnavailable && store.needsCheck, "it answers in part")
    #expect(store.didNotAnswer("find", away).isEmpty && store.isUnavailable, "it is the same outage")
    #expect(store.wrote(at: 2, asked: 2) == [.available])
    #expect(store.isHealthy && !store.isUnavailable)
    #expect(store.failed("touch", away) == [.unavailable(operation: "touch", away)])
  }

  @Test("Queries that time out while the change feed answers, as by a lock on one table, are one outage until a check")
  func brokenQuery() {
    var store = opened()
    #expect(store.didNotAnswer("find", busy) == [.unavailable(operation: "find", busy)])
    #expect(store.isUnavailable)
    for moment in 1...3 as ClosedRange<Int64> {
      #expect(store.feedAnswered(at: moment, asked: moment).isEmpty)
      #expect(!store.isUnavailable && store.needsCheck && store.problem == busy, "it answers in part")
      #expect(store.didNotAnswer("find", busy).isEmpty && store.isUnavailable, "it is the same outage")
    }
    #expect(store.didNotWrite(busy) == [.notWritable(busy)])
    #expect(store.feedAnswered(at: 4, asked: 4).isEmpty)
    #expect(store.wrote(at: 5, asked: 5) == [.available, .writable])
    #expect(store.isHealthy && !store.isUnavailable)
  }

  @Test("A store that may only be read is available again as soon as a query is answered")
  func readOnlyAfterOutage() {
    var store = opened()
    #expect(store.feedDidNotAnswer(away) == [.unavailable(operation: "changes", away)])
    #expect(store.didNotWrite(readOnly) == [.notWritable(readOnly)])
    #expect(store.feedAnswered(at: 1, asked: 1) == [.available])
    #expect(!store.isUnavailable && store.needsCheck && store.problem == readOnly)
  }

  @Test("A store that answers queries is available again though checks meet a lock, unless a query has failed as well")
  func lockedAfterOutage() {
    for isQueryFailing in [false, true] {
      var store = opened()
      #expect(store.feedDidNotAnswer(away) == [.unavailable(operation: "changes", away)])
      if isQueryFailing { #expect(store.didNotAnswer("find", busy).isEmpty) }
      #expect(store.didNotWrite(away).isEmpty)
      #expect(store.didNotWrite(busy) == [.notWritable(busy)])
      #expect(store.feedAnswered(at: 1, asked: 1) == (isQueryFailing ? [] : [.available]))
      #expect(!store.isUnavailable && store.needsCheck && store.problem == busy)
      #expect(store.wrote(at: 2, asked: 2) == (isQueryFailing ? [.available, .writable] : [.writable]))
    }
  }

  @Test("A check that fails alone is an outage in part: queries are answered")
  func failedCheck() {
    var store = opened()
    #expect(store.didNotWrite(away) == [.unavailable(operation: "ping", away)])
    #expect(store.didNotWrite(away).isEmpty && store.answered(at: 1, asked: 1).isEmpty)
    #expect(!store.isUnavailable && !store.isHealthy && store.isServing(at: 1))
    #expect(store.wrote(at: 2, asked: 2) == [.available])
  }

  @Test("An operation that fails alone, or on a damaged record, leaves the store available")
  func failedOperation() {
    var store = opened()
    let damaged = StoreError(code: .damagedRow, message: "damaged")
    #expect(store.failed("end", busy) == [.operationFailed("end", busy)])
    #expect(store.failed("end", busy) == [.operationFailed("end", busy)], "each of them")
    #expect(store.didNotAnswer("find", damaged) == [.operationFailed("find", damaged)])
    #expect(store.isHealthy && !store.isUnavailable)
  }

  @Test("An operation that lacks a permission or a table fails alone, though each check succeeds")
  func operationWithoutPermission() {
    for error in [denied, StoreError(code: .corrupt, message: "a table is missing")] {
      var store = opened()
      for moment in 1...3 as ClosedRange<Int64> {
        #expect(store.failed("complete", error) == [.operationFailed("complete", error)])
        #expect(!store.isUnavailable && store.isServing(at: moment))
        #expect(!store.isHealthy && store.problem == error, "until the check")
        #expect(store.wrote(at: moment, asked: moment).isEmpty && store.isHealthy)
      }
      _ = store.feedDidNotAnswer(error)
      #expect(store.failed("complete", error).isEmpty && store.isUnavailable, "now it is part of an outage")
    }
  }

  // MARK: The change feed

  @Test("A change feed is asked until it has answered, again after the interval, and while it or anything else fails")
  func feed() {
    var store = closed(grace: .seconds(600))
    _ = store.wrote(at: 0, asked: 0)
    #expect(store.mustAsk(at: 0, after: 4_500), "it was never read")
    _ = store.feedAnswered(at: 100, asked: 0)
    #expect(!store.mustAsk(at: 4_499, after: 4_500) && store.mustAsk(at: 4_500, after: 4_500))
    _ = store.feedDidNotAnswer(busy)
    #expect(store.mustAsk(at: 1, after: 4_500))
    _ = store.feedAnswered(at: 1, asked: 1)
    #expect(!store.mustAsk(at: 1, after: 4_500) && store.mustAsk(at: 1, after: 300_001), "the grace is too short")
    _ = store.didNotWrite(away)
    #expect(store.mustAsk(at: 1, after: 4_500))
  }

  @Test("An outage of the change feed is ended by the change feed only, and no other answer renews the trust")
  func feedFails() {
    var store = opened()
    #expect(store.feedDidNotAnswer(busy) == [.unavailable(operation: "changes", busy)])
    #expect(store.isUnavailable && !store.needsCheck && !store.isHealthy && store.problem == busy)
    #expect(!store.trustsFeed(at: 1) && store.isTrusted(at: 1))
    #expect(store.answered(at: 9_000, asked: 9_000).isEmpty && store.wrote(at: 9_000, asked: 9_000).isEmpty)
    #expect(!store.isUnavailable && store.isServing(at: 9_999) && !store.refusesSessions(at: 9_999))
    #expect(!store.isServing(at: 10_000) && store.refusesSessions(at: 10_000), "though the store answers")
    #expect(store.feedAnswered(at: 11_000, asked: 11_000) == [.available])
    #expect(store.isHealthy && store.trustsFeed(at: 11_000) && store.isServing(at: 11_000))
  }

  @Test("Of two errors that of the store as a whole is reported, then that of the change feed")
  func twoErrors() {
    var store = opened()
    _ = store.feedDidNotAnswer(busy)
    _ = store.didNotWrite(away)
    #expect(store.problem == away)
    _ = store.wrote(at: 1, asked: 1)
    #expect(store.problem == busy)
    _ = store.feedAnswered(at: 2, asked: 2)
    #expect(store.problem == nil)
  }

  // MARK: Checks

  @Test("A missing permission is told once until a check succeeds, and ends neither queries nor readiness")
  func permission() {
    var store = opened()
    #expect(store.didNotWrite(denied) == [.permissionMissing(denied)])
    #expect(store.didNotWrite(denied).isEmpty && store.isServing(at: 1) && store.needsCheck)
    #expect(store.failed("sign_in", full) == [.notWritable(full)])
    #expect(store.didNotWrite(denied).isEmpty, "another error between does not tell it again")
    _ = store.wrote(at: 1, asked: 1)
    #expect(store.didNotWrite(denied) == [.permissionMissing(denied)])
  }

  @Test("A check that is denied while queries fail is part of the outage")
  func deniedDuringOutage() {
    var store = opened()
    _ = store.didNotAnswer("find", denied)
    #expect(store.didNotWrite(denied).isEmpty && store.isUnavailable)
    #expect(store.wrote(at: 1, asked: 1) == [.available])
  }

  @Test("A store that can only be read is told once, and the next check that succeeds ends that")
  func notWritable() {
    var store = opened()
    #expect(store.failed("end", readOnly) == [.notWritable(readOnly)])
    #expect(store.isHealthy, "only a check shows the state of the store as a whole")
    #expect(store.didNotWrite(readOnly).isEmpty && store.failed("end", readOnly).isEmpty && !store.isHealthy)
    #expect(store.wrote(at: 1, asked: 1) == [.writable])
    #expect(store.isHealthy)
    #expect(store.didNotWrite(full) == [.notWritable(full)])
    #expect(store.wrote(at: 2, asked: 2) == [.writable], "a check that found no room is refuted by one that found some")
  }

  @Test("Checks of a store that was full are doubted for five minutes, from the first one on")
  func fullForFiveMinutes() {
    var store = opened()
    #expect(store.failed("sign_in", full) == [.notWritable(full)])
    for moment in [60_000, 359_999] as [Int64] {
      #expect(store.wrote(at: moment, asked: moment).isEmpty)
      #expect(store.problem == full && store.isServing(at: moment))
    }
    #expect(store.wrote(at: 360_000, asked: 360_000) == [.writable])
    #expect(store.isHealthy)
  }

  @Test("After a sign-in that was stored the next check of a store that was full is believed")
  func room() {
    var store = opened()
    _ = store.failed("sign_in", full)
    _ = store.wrote(at: 1, asked: 1)
    store.hadRoom()
    #expect(store.problem == full, "it takes a check")
    #expect(store.wrote(at: 2, asked: 2) == [.writable])
    store.hadRoom()
    #expect(store.wrote(at: 3, asked: 3).isEmpty && store.isHealthy)
  }

  @Test("A store that was full and away is available again before it is writable")
  func fullAndAway() {
    var store = opened()
    _ = store.failed("sign_in", full)
    #expect(store.didNotAnswer("find", away) == [.unavailable(operation: "find", away)])
    #expect(store.problem == away)
    #expect(store.wrote(at: 1, asked: 1) == [.available])
    #expect(store.problem == full)
    store.hadRoom()
    _ = store.didNotAnswer("find", away)
    #expect(store.wrote(at: 2, asked: 2) == [.available, .writable])
  }

  // MARK: A newer version

  @Test("Each way to learn of a newer version refuses this one, and it is told once")
  func refused() {
    let ways: [(inout StoreAvailability) -> [StoreNotice]] = [
      { $0.didNotAnswer("find", newer) }, { $0.failed("touch", newer) }, { $0.didNotWrite(newer) },
      { $0.feedDidNotAnswer(newer) },
    ]
    for way in ways {
      var store = opened()
      #expect(way(&store) == [.refused(newer)])
      #expect(way(&store).isEmpty)
      #expect(store.trust == .refused && store.refusesSessions(at: 1) && !store.isServing(at: 1))
      #expect(!store.isUnavailable && store.mustAsk(at: 1, after: 4_500))
    }
  }

  @Test("No answer to a query or check that was under way restores trust after a refusal, the change feed does")
  func restored() {
    var store = opened()
    _ = store.didNotWrite(newer)
    _ = store.answered(at: 1, asked: 0)
    _ = store.wrote(at: 1, asked: 0)
    #expect(store.trust == .refused && !store.isTrusted(at: 1))
    #expect(store.noteService(at: 60_000).isEmpty, "the refusal is told already")
    #expect(store.feedAnswered(at: 61_000, asked: 60_000) == [.compatible])
    #expect(store.trust == .until(70_000) && store.isServing(at: 61_000))
  }

  // MARK: The outage grace

  @Test("The end of the outage grace is told once with the error, and once that requests are served again")
  func graceEnds() {
    var store = opened()
    _ = store.didNotAnswer("find", away)
    #expect(store.noteService(at: 9_999).isEmpty)
    #expect(store.noteService(at: 10_000) == [.graceEnded(away)])
    #expect(store.noteService(at: 11_000).isEmpty)
    #expect(store.wrote(at: 12_000, asked: 12_000) == [.available])
    #expect(store.noteService(at: 12_000) == [.serving])
    #expect(store.noteService(at: 12_000).isEmpty)
  }

  @Test("A shorter grace holds at once, a longer one from the next answer on")
  func otherGrace() {
    var store = opened()
    store.apply(outageGrace: .seconds(600))
    #expect(store.isTrusted(at: 9_999) && !store.isTrusted(at: 10_000))
    _ = store.answered(at: 9_000, asked: 9_000)
    #expect(store.isTrusted(at: 608_999))
    store.apply(outageGrace: .seconds(10))
    #expect(store.isTrusted(at: 18_999) && !store.isTrusted(at: 19_000))
    _ = store.answered(at: 9_001, asked: 9_001)
    #expect(store.isTrusted(at: 19_000) && !store.isTrusted(at: 19_001))
  }

  @Test("Under a grace that a reload has shortened, caches do not become usable again before the end of the former one")
  func shortenedGrace() {
    var store = StoreAvailability(outageGrace: .seconds(600), now: 0)
    store.apply(outageGrace: .seconds(10))
    #expect(store.isTrusted(at: 9_999))
    for moment: Int64 in stride(from: 10_000, through: 700_000, by: 500) { #expect(!store.isTrusted(at: moment)) }
  }
}
