import Foundation
import Testing

@testable import Sessions

@Suite("The circuit breaker of revalidation")
struct RevalidationCircuitBreakerTests {
  private func minutes(_ minutes: Double) -> Date { noon.addingTimeInterval(minutes * 60) }

  @Test("Each result has its consequence, and a mistake of ours its alarm")
  func evaluates() {
    for (result, action, alarm) in [
      (.good, .recordGood, nil), (.revoked, .endSessions, nil), (.misconfigured, .keep, .credentialsRefused),
      (.appleTrouble, .keep, nil), (.notSent, .releaseLease, nil),
    ] as [(RevalidationResult, RevalidationAction, RevalidationAlarm?)] {
      var breaker = RevalidationCircuitBreaker()
      let decision = breaker.evaluate(result, of: "web", at: noon)
      #expect(decision.action == action)
      #expect(decision.alarm == alarm)
    }
  }

  @Test("When 20 checks within the hour failed, revocations are held and the operator is alarmed")
  func holdsWhenNothingSucceeds() {
    var breaker = RevalidationCircuitBreaker()
    for number in 1...19 {
      let decision = breaker.evaluate(.appleTrouble, of: "web", at: minutes(Double(number)))
      #expect(decision == .init(action: .keep, alarm: nil))
    }
    #expect(breaker.hold(at: minutes(19)) == nil)
    let (hold, twentieth) = (RevalidationCircuitBreaker.Hold.noSuccess(checks: 20), minutes(20))
    #expect(breaker.evaluate(.revoked, of: "web", at: twentieth) == .init(action: .keep, alarm: .revocationsHeld(hold)))
    #expect(breaker.hold(at: twentieth) == hold)
    #expect(breaker.evaluate(.revoked, of: "web", at: minutes(21)) == .init(action: .keep, alarm: nil))
    #expect(RevalidationAlarm.revocationsHeld(hold).remedy.contains("cordon doctor"))
  }

  @Test("When more than two users in a row are revoked, the others are kept until one succeeds, success or not before")
  func holdsWhenEverybodyIsRevoked() {
    for successes in [0, 30] {
      var breaker = RevalidationCircuitBreaker()
      for _ in 0..<successes { _ = breaker.evaluate(.good, of: "web", at: noon) }
      for _ in 0..<2 {
        #expect(breaker.evaluate(.revoked, of: "web", at: noon) == .init(action: .endSessions, alarm: nil))
      }
      #expect(breaker.hold(at: noon) == nil)
      let hold = RevalidationCircuitBreaker.Hold.revoked(inARow: 3)
      let third = breaker.evaluate(.revoked, of: "web", at: minutes(1))
      #expect(third == .init(action: .keep, alarm: .revocationsHeld(hold)))
      #expect(breaker.hold(at: minutes(1)) == hold)
      // Neither some days nor other errors end it, nor is it told again within the hour.
      #expect(breaker.evaluate(.appleTrouble, of: "web", at: minutes(2)) == .init(action: .keep, alarm: nil))
      #expect(breaker.evaluate(.revoked, of: "web", at: minutes(50)) == .init(action: .keep, alarm: nil))
      #expect(breaker.evaluate(.revoked, of: "web", at: minutes(5_000)).action == .keep)
      _ = breaker.evaluate(.good, of: "web", at: minutes(5_001))
      #expect(breaker.evaluate(.revoked, of: "web", at: minutes(5_002)).action == .endSessions)
    }
  }

  @Test("Revocations that are weeks apart are not in a row, and those of a week before no longer count")
  func forgetsRevocationsAfterAWeek() {
    func days(_ days: Double) -> Date { minutes(days * 24 * 60) }
    var breaker = RevalidationCircuitBreaker()
    for day in [0, 20, 40, 45] as [Double] {
      #expect(breaker.evaluate(.revoked, of: "web", at: days(day)).action == .endSessions)
    }
    #expect(breaker.evaluate(.revoked, of: "web", at: days(46.9)).action == .keep, "the third within a week")
    #expect(breaker.hold(at: days(46.9)) == .revoked(inARow: 3))
    #expect(breaker.hold(at: days(47.1)) == nil)
    #expect(breaker.evaluate(.revoked, of: "web", at: days(47.2)).action == .keep, "again the third within a week")
    #expect(breaker.evaluate(.revoked, of: "web", at: days(60)).action == .endSessions)
    // A clock that was ahead.
    for _ in 0..<2 { _ = breaker.evaluate(.revoked, of: "web", at: days(500)) }
    #expect(breaker.evaluate(.revoked, of: "web", at: days(70)).action == .endSessions)
  }

  @Test("One success is enough to believe revocations again")
  func believesAfterOneSuccess() {
    var breaker = RevalidationCircuitBreaker()
    for _ in 0..<50 { _ = breaker.evaluate(.appleTrouble, of: "web", at: noon) }
    #expect(breaker.evaluate(.revoked, of: "web", at: noon).action == .keep)
    #expect(breaker.evaluate(.good, of: "web", at: minutes(1)).action == .recordGood)
    #expect(breaker.hold(at: minutes(1)) == nil)
    #expect(breaker.evaluate(.revoked, of: "web", at: minutes(2)).action == .endSessions)
    #expect(breaker.evaluate(.revoked, of: "web", at: minutes(60)).action == .endSessions)
  }

  @Test("A success counts for an hour, and so do failures")
  func forgetsAfterAnHour() {
    var breaker = RevalidationCircuitBreaker()
    _ = breaker.evaluate(.good, of: "web", at: noon)
    for _ in 0..<30 { _ = breaker.evaluate(.misconfigured, of: "web", at: minutes(30)) }
    #expect(breaker.hold(at: minutes(59)) == nil)
    #expect(breaker.hold(at: minutes(60)) == .noSuccess(checks: 30))
    #expect(breaker.evaluate(.revoked, of: "web", at: minutes(60)).action == .keep)
    #expect(breaker.hold(at: minutes(90)) == nil)
    #expect(breaker.evaluate(.revoked, of: "web", at: minutes(91)).action == .endSessions)
  }

  @Test("Refused credentials of one client hold no revocations of another, nor do those of many clients together")
  func refusedClients() {
    var breaker = RevalidationCircuitBreaker()
    for _ in 0..<30 { _ = breaker.evaluate(.misconfigured, of: "app", at: noon) }
    #expect(breaker.hold(at: noon) == .noSuccess(checks: 30))
    #expect(breaker.hold(of: "app", at: noon) == .noSuccess(checks: 30) && breaker.hold(of: "web", at: noon) == nil)
    #expect(breaker.evaluate(.revoked, of: "app", at: noon).action == .keep)
    #expect(breaker.evaluate(.revoked, of: "web", at: noon).action == .endSessions)
    var others = RevalidationCircuitBreaker()
    for number in 0..<30 { _ = others.evaluate(.misconfigured, of: "\(number)", at: noon) }
    #expect(others.hold(at: noon) == nil && others.evaluate(.revoked, of: "0", at: noon).action == .endSessions)
    for _ in 0..<18 { _ = others.evaluate(.appleTrouble, of: "1", at: noon) }
    #expect(others.hold(of: "0", at: noon) == .noSuccess(checks: 20), "errors at Apple count for every client")
  }

  @Test("A request to Apple that was not sent is not a revalidation")
  func ignoresWhatWasNotSent() {
    var breaker = RevalidationCircuitBreaker()
    for _ in 0..<100 { _ = breaker.evaluate(.notSent, of: "web", at: noon) }
    #expect(breaker.hold(at: noon) == nil)
    #expect(breaker.evaluate(.revoked, of: "web", at: noon).action == .endSessions)
  }

  @Test("The same alarm comes at most once an hour")
  func alarmsOnceAnHour() {
    var breaker = RevalidationCircuitBreaker()
    #expect(breaker.evaluate(.misconfigured, of: "web", at: noon).alarm == .credentialsRefused)
    #expect(breaker.evaluate(.misconfigured, of: "web", at: minutes(59)).alarm == nil)
    #expect(breaker.credentialsRefused(at: minutes(59)) == nil, "a sign-in raises the same alarm")
    #expect(breaker.evaluate(.misconfigured, of: "web", at: minutes(60)).alarm == .credentialsRefused)
  }

  @Test("A clock that is set back or far ahead neither traps nor keeps old counts")
  func survivesClocks() {
    var breaker = RevalidationCircuitBreaker()
    for now in [Date.distantFuture, .distantPast, Date(timeIntervalSince1970: 1e300), noon] {
      for _ in 0..<19 { _ = breaker.evaluate(.misconfigured, of: "web", at: now) }
    }
    #expect(breaker.hold(at: noon) == nil)
    #expect(breaker.evaluate(.revoked, of: "web", at: noon).action == .keep)
  }
}
