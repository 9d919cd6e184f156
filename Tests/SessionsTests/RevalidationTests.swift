import Foundation
import Testing

@testable import Sessions

@Suite("The schedule of revalidation")
struct RevalidationScheduleTests {
  private let day = RevalidationSchedule(RevalidationSettings())
  private func hours(_ hours: Double) -> Date { noon.addingTimeInterval(hours * 3_600) }

  @Test("No check is due within the interval; after it one runs in the background; past the grace requests wait for it")
  func decides() throws {
    let account = try makeAccount()
    for (hour, expected) in [
      // A time a day or more ahead was written by a wrong clock, and is ignored.
      (-1_000, .blocking), (-23, .fresh), (0, .fresh), (23.99, .fresh), (24, .background),
      (71.99, .background),
      (72, .blocking), (10_000, .blocking),
    ] as [(Double, RevalidationSchedule.Decision)] {
      #expect(day.decision(account: account, now: hours(hour), jitter: 0) == expected, "after \(hour) h")
      #expect(day.mayGoOn(account: account, now: hours(hour)), "nobody has tried")
    }
  }

  @Test("Grace counts from the first failed attempt, not from the last good answer: who was away gets all of it")
  func countsFromTheFirstFailure() throws {
    for failed in [24, 80, 1_000] as [Double] {
      for (hour, asked, expected) in [
        (0.01, 0, .fresh), (23.99, 0, .fresh), (24, 0, .background), (47.99, 0, .background),
        (47.99, 24, .fresh), (48, 0, .blocking), (48, 48, .blocking), (500, 0, .blocking), (500, 480, .blocking),
        // Not between two attempts.
        (48, 47, .fresh), (70.99, 47, .fresh), (71, 47, .blocking),
      ] as [(Double, Double, RevalidationSchedule.Decision)] {
        let account = try makeAccount(asked: hours(failed + asked), failing: hours(failed))
        let now = hours(failed + hour)
        #expect(day.decision(account: account, now: now, jitter: 0) == expected, "\(hour) h after \(failed) h")
        #expect(day.mayGoOn(account: account, now: now) == (expected != .blocking))
      }
    }
  }

  @Test("While the first attempt after a long absence waits for Apple's answer, other replicas wait as well")
  func firstAttemptUnderWay() throws {
    let asked = hours(80)
    let account = try makeAccount(asked: asked, failing: asked)
    for (seconds, expected) in [
      (0, .blocking), (11.9, .blocking), (12, .fresh), (3_600, .fresh),
    ] as [(Double, RevalidationSchedule.Decision)] {
      let now = asked.addingTimeInterval(seconds)
      #expect(day.decision(account: account, now: now, jitter: 0) == expected, "after \(seconds) s")
    }
    let inUse = try makeAccount(asked: hours(30), failing: hours(30))
    #expect(day.decision(account: inUse, now: hours(30), jitter: 0) == .fresh, "the user was not away")
    let second = try makeAccount(asked: hours(80), failing: hours(50))
    #expect(day.decision(account: second, now: hours(80), jitter: 0) == .fresh, "a failure is known already")
  }

  @Test("A failure from before the last good answer counts for nothing; an attempt without a note of it counts")
  func goodAnswerClears() throws {
    let account = try makeAccount(verified: hours(30), asked: hours(29), failing: hours(29))
    #expect(account.failingSince(at: hours(31)) == nil)
    #expect(day.decision(account: account, now: hours(53), jitter: 0) == .fresh)
    let old = try makeAccount(asked: hours(24))
    #expect(old.failingSince(at: hours(25)) == hours(24))
    #expect(day.decision(account: old, now: hours(72), jitter: 0) == .blocking)
    #expect(try makeAccount(asked: noon).failingSince(at: hours(1)) == nil, "a sign-in counts as asking")
  }

  @Test("Times a day or more ahead were written by a clock that was wrong, and switch no check off")
  func ignoresTheFuture() throws {
    let ahead = hours(10 * 8_766)
    let never = try makeAccount(verified: ahead, asked: ahead)
    #expect(day.decision(account: never, now: noon, jitter: 0) == .blocking)
    #expect(day.mayAsk(account: never, now: noon))
    #expect(never.mayBeAsked(at: noon, interval: .seconds(86_400)))
    let asked = try makeAccount(asked: ahead)
    #expect(day.decision(account: asked, now: hours(24), jitter: 0) == .background)
    let failing = try makeAccount(verified: ahead, asked: hours(-1), failing: hours(-1))
    #expect(!day.mayGoOn(account: failing, now: hours(47)))
    #expect(day.mayGoOn(account: try makeAccount(failing: ahead), now: hours(30)))
    // Clocks may differ a little.
    #expect(day.decision(account: try makeAccount(verified: hours(23)), now: noon, jitter: 0) == .fresh)
  }

  @Test("A claim counts as a failed attempt from when it is made, and the first one stays")
  func claims() throws {
    let account = try makeAccount(asked: noon)
    let first = account.afterAcquiringLease(at: hours(24))
    #expect(first.lastAsked == hours(24) && first.checkFailingSince == hours(24))
    let second = first.after(.noGoodAnswer, at: hours(24)).afterAcquiringLease(at: hours(48))
    #expect(second.lastAsked == hours(48) && second.checkFailingSince == hours(24))
    #expect(second.after(.good(claims: nil, token: nil), at: hours(49)).checkFailingSince == nil)
    #expect(try makeAccount(asked: hours(24)).afterAcquiringLease(at: hours(48)).checkFailingSince == hours(24))
  }

  @Test("A check of an account without a token fails from the time when it was due, and is noted once")
  func withoutToken() throws {
    let day = Duration.seconds(86_400)
    let account = try #require(try makeAccount(asked: noon).withoutToken(at: hours(80), interval: day))
    #expect(account.checkFailingSince == hours(24) && account.lastAsked == noon)
    #expect(account.withoutToken(at: hours(81), interval: day) == nil)
    #expect(!self.day.mayGoOn(account: account, now: hours(80)))
  }

  @Test("Jitter only delays, by a twenty-fourth of the interval at most, and not below an hour's interval")
  func jitters() throws {
    let account = try makeAccount()
    #expect(day.decision(account: account, now: hours(24.99), jitter: 1) == .fresh)
    #expect(day.decision(account: account, now: hours(25), jitter: 1) == .background)
    #expect(day.decision(account: account, now: hours(24.5), jitter: 0.5) == .background)
    #expect(day.decision(account: account, now: hours(24.49), jitter: 0.5) == .fresh)
    #expect(day.decision(account: account, now: hours(72), jitter: 1) == .blocking)
    var settings = RevalidationSettings()
    settings.interval = .seconds(3_599)
    let short = RevalidationSchedule(settings)
    #expect(short.decision(account: account, now: noon.addingTimeInterval(3_599), jitter: 1) == .background)
    for jitter in [-5, 7] as [Double] {
      #expect(day.decision(account: account, now: hours(23.99), jitter: jitter) == .fresh)
      #expect(day.decision(account: account, now: hours(25), jitter: jitter) == .background)
    }
  }

  @Test("A check without a grace period blocks as soon as it is due, not before")
  func worksWithoutGrace() throws {
    var settings = RevalidationSettings()
    settings.grace = .zero
    let schedule = RevalidationSchedule(settings)
    let account = try makeAccount()
    #expect(schedule.decision(account: account, now: hours(24.5), jitter: 1) == .fresh)
    #expect(schedule.decision(account: account, now: hours(25), jitter: 1) == .blocking)
    #expect(!schedule.mayGoOn(account: account.afterAcquiringLease(at: hours(25)), now: hours(25)))
  }

  @Test("While somebody asked within the interval nothing is due")
  func respectsTheLastQuestion() throws {
    let account = try makeAccount(asked: hours(30))
    #expect(day.decision(account: account, now: hours(31), jitter: 0) == .fresh)
    #expect(day.decision(account: account, now: hours(53.99), jitter: 0) == .fresh)
    #expect(day.decision(account: account, now: hours(54), jitter: 0) == .background)
    let late = try makeAccount(asked: hours(71))
    #expect(day.decision(account: late, now: hours(72), jitter: 0) == .fresh)
  }

  @Test("An account's jitter is always the same, and accounts are spread evenly")
  func spreads() throws {
    var buckets = Array(repeating: 0, count: 10)
    for number in 0..<10_000 {
      let subject = try #require(Subject("001\(number % 1_000).\(number).0987"))
      let jitter = RevalidationSchedule.jitter(of: subject)
      #expect(jitter == RevalidationSchedule.jitter(of: subject))
      try #require((0..<1).contains(jitter))
      buckets[Int(jitter * 10)] += 1
    }
    #expect(buckets.allSatisfy { (700...1_300).contains($0) }, "\(buckets)")
  }
}

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
      let decision = breaker.evaluate(result, at: noon)
      #expect(decision.action == action)
      #expect(decision.alarm == alarm)
    }
  }

  @Test("When 20 checks within the hour failed, revocations are held and the operator is alarmed")
  func holdsWhenNothingSucceeds() {
    var breaker = RevalidationCircuitBreaker()
    for number in 1...19 {
      #expect(breaker.evaluate(.appleTrouble, at: minutes(Double(number))) == .init(action: .keep, alarm: nil))
    }
    #expect(breaker.hold(at: minutes(19)) == nil)
    let (hold, twentieth) = (RevalidationCircuitBreaker.Hold.noSuccess(checks: 20), minutes(20))
    #expect(breaker.evaluate(.revoked, at: twentieth) == .init(action: .keep, alarm: .revocationsHeld(hold)))
    #expect(breaker.hold(at: twentieth) == hold)
    #expect(breaker.evaluate(.revoked, at: minutes(21)) == .init(action: .keep, alarm: nil))
    #expect(RevalidationAlarm.revocationsHeld(hold).remedy.contains("cordon doctor"))
  }

  @Test("When more than two users in a row are revoked, the others are kept until one succeeds, success or not before")
  func holdsWhenEverybodyIsRevoked() {
    for successes in [0, 30] {
      var breaker = RevalidationCircuitBreaker()
      for _ in 0..<successes { _ = breaker.evaluate(.good, at: noon) }
      for _ in 0..<2 { #expect(breaker.evaluate(.revoked, at: noon) == .init(action: .endSessions, alarm: nil)) }
      #expect(breaker.hold(at: noon) == nil)
      let hold = RevalidationCircuitBreaker.Hold.revoked(inARow: 3)
      #expect(breaker.evaluate(.revoked, at: minutes(1)) == .init(action: .keep, alarm: .revocationsHeld(hold)))
      #expect(breaker.hold(at: minutes(1)) == hold)
      // Neither time nor other errors end it, nor is it told again within the hour.
      #expect(breaker.evaluate(.appleTrouble, at: minutes(2)) == .init(action: .keep, alarm: nil))
      #expect(breaker.evaluate(.revoked, at: minutes(50)) == .init(action: .keep, alarm: nil))
      #expect(breaker.evaluate(.revoked, at: minutes(5_000)).action == .keep)
      _ = breaker.evaluate(.good, at: minutes(5_001))
      #expect(breaker.evaluate(.revoked, at: minutes(5_002)).action == .endSessions)
    }
  }

  @Test("One success is enough to believe revocations again")
  func believesAfterOneSuccess() {
    var breaker = RevalidationCircuitBreaker()
    for _ in 0..<50 { _ = breaker.evaluate(.appleTrouble, at: noon) }
    #expect(breaker.evaluate(.revoked, at: noon).action == .keep)
    #expect(breaker.evaluate(.good, at: minutes(1)).action == .recordGood)
    #expect(breaker.hold(at: minutes(1)) == nil)
    #expect(breaker.evaluate(.revoked, at: minutes(2)).action == .endSessions)
    #expect(breaker.evaluate(.revoked, at: minutes(60)).action == .endSessions)
  }

  @Test("A success counts for an hour, and so do failures")
  func forgetsAfterAnHour() {
    var breaker = RevalidationCircuitBreaker()
    _ = breaker.evaluate(.good, at: noon)
    for _ in 0..<30 { _ = breaker.evaluate(.misconfigured, at: minutes(30)) }
    #expect(breaker.hold(at: minutes(59)) == nil)
    #expect(breaker.hold(at: minutes(60)) == .noSuccess(checks: 30))
    #expect(breaker.evaluate(.revoked, at: minutes(60)).action == .keep)
    #expect(breaker.hold(at: minutes(90)) == nil)
    #expect(breaker.evaluate(.revoked, at: minutes(91)).action == .endSessions)
  }

  @Test("A request to Apple that was not sent is not a revalidation")
  func ignoresWhatWasNotSent() {
    var breaker = RevalidationCircuitBreaker()
    for _ in 0..<100 { _ = breaker.evaluate(.notSent, at: noon) }
    #expect(breaker.hold(at: noon) == nil)
    #expect(breaker.evaluate(.revoked, at: noon).action == .endSessions)
  }

  @Test("The same alarm comes at most once an hour")
  func alarmsOnceAnHour() {
    var breaker = RevalidationCircuitBreaker()
    #expect(breaker.evaluate(.misconfigured, at: noon).alarm == .credentialsRefused)
    #expect(breaker.evaluate(.misconfigured, at: minutes(59)).alarm == nil)
    #expect(breaker.credentialsRefused(at: minutes(59)) == nil, "a sign-in raises the same alarm")
    #expect(breaker.evaluate(.misconfigured, at: minutes(60)).alarm == .credentialsRefused)
  }

  @Test("A clock that is set back or far ahead neither traps nor keeps old counts")
  func survivesClocks() {
    var breaker = RevalidationCircuitBreaker()
    for now in [Date.distantFuture, .distantPast, Date(timeIntervalSince1970: 1e300), noon] {
      for _ in 0..<19 { _ = breaker.evaluate(.misconfigured, at: now) }
    }
    #expect(breaker.hold(at: noon) == nil)
    #expect(breaker.evaluate(.revoked, at: noon).action == .keep)
  }
}

@Suite("The state of Apple for health checks")
struct AppleConditionTests {
  private func message(_ report: AppleCondition.Report) -> String {
    if case .failing(let message) = report { return message }
    return ""
  }

  private let error = AppleCondition.Contact.inconclusive(reason: "Apple answered 503")

  @Test("The state of Apple is unknown before the first call; a single error is no outage")
  func begins() {
    var condition = AppleCondition()
    #expect(condition.report(nil, at: noon) == .unknown)
    condition.note(error, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Three errors in a row are reported with the last one's reason, until Apple gives an answer of use")
  func errors() {
    var condition = AppleCondition()
    condition.note(error, clientID: "web", at: noon)
    condition.note(error, clientID: "app", at: noon)
    condition.note(.accepted, clientID: "web", at: noon)
    for _ in 0..<2 { condition.note(error, clientID: "web", at: noon) }
    #expect(condition.report(nil, at: noon) == .ok)
    for _ in 0..<100 { condition.note(error, clientID: "web", at: noon) }
    let said = message(condition.report(.noSuccess(checks: 20), at: noon))
    #expect(said.hasPrefix("Apple answered 503") && said.contains("signed-in users are still served"))
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Refused credentials are reported with the client and the remedy, until Apple accepts those of the same client")
  func refused() {
    var condition = AppleCondition()
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    let said = message(condition.report(.noSuccess(checks: 30), at: noon))
    #expect(said.contains("web (invalid_client)") && said.contains("check the key") && said.contains("cordon doctor"))
    condition.note(.accepted, clientID: "app", at: noon)
    #expect(message(condition.report(nil, at: noon)) == said)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    let later = message(condition.report(nil, at: noon))
    #expect(later == said + "; the latest trouble: Apple answered 503", "the later trouble is not hidden")
    #expect(message(condition.report(nil, at: noon.addingTimeInterval(3_600))) == said, "long ago")
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("cannot be reached"), "the refusal may have ended")
    condition.note(error, clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)) == later)
    condition.noteMissingKeys(reason: "Apple answered 500 when asked for its keys", at: noon)
    let last = message(condition.report(nil, at: noon))
    #expect(last == said + "; the latest trouble: Apple answered 500 when asked for its keys")
    condition.noteReachable(clockDifference: 0)
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
    for number in 0..<100 { condition.note(.refused(code: "x", remedy: ""), clientID: "\(number)", at: noon) }
    for number in 84..<100 { condition.note(.accepted, clientID: "\(number)", at: noon) }
    #expect(condition.report(nil, at: noon) == .ok, "memory of constant size")
  }

  @Test("A clock that is behind is reported until an identity token is accepted, whatever Apple answers besides")
  func clockBehind() {
    var condition = AppleCondition()
    condition.noteIdentityToken(isFromFuture: true, at: noon)
    let said = message(condition.report(nil, at: noon))
    #expect(said.contains("clock is behind") && said.contains("cordon doctor"))
    condition.note(.accepted, clientID: "web", at: noon)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(
      message(condition.report(.noSuccess(checks: 20), at: noon)) == said + "; the latest trouble: Apple answered 503")
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("invalid_client"), "both are wrong")
    condition.note(.accepted, clientID: "web", at: noon)
    condition.noteIdentityToken(isFromFuture: false, at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("A clock that was behind is compared with Apple's a minute after the last token, until it is right")
  func clockCompared() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    condition.noteIdentityToken(isFromFuture: true, at: noon)
    let probes = [59, 60, 119, 120].map { condition.beginProbe(at: after($0)) }
    #expect(probes == [false, true, false, true])
    for difference in [-600, -61, nil] as [TimeInterval?] {
      condition.noteReachable(clockDifference: difference)
      #expect(message(condition.report(nil, at: after(120))).contains("clock is behind"), "\(difference ?? 0)")
    }
    condition.noteReachable(clockDifference: 2)
    #expect(condition.report(nil, at: after(120)) == .unknown)
    #expect(condition.beginProbe(at: after(600)) == false)
  }

  @Test("An unreachable Apple is distinguished from checks of which none succeeds")
  func unreachable() {
    var condition = AppleCondition()
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    let said = message(condition.report(nil, at: noon))
    #expect(said.hasPrefix("Apple cannot be reached: no TLS with the server: expired; "))
    condition.noteProbeFailed(reason: "Apple answered 500", isUnsent: false, at: noon)
    #expect(message(condition.report(nil, at: noon)) == said)
    condition.noteProbeFailed(reason: "no connection to the server: refused", isUnsent: true, at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("reached: no connection to the server: refused; "))
    condition.note(error, clientID: "web", at: noon)
    #expect(message(condition.report(.noSuccess(checks: 20), at: noon)).contains("not one of 20 revalidations"))
  }

  @Test("Keys that are missing three times in a row are reported until a token is verified, whatever Apple answers")
  func missingKeys() {
    var condition = AppleCondition()
    for _ in 0..<2 { condition.noteMissingKeys(reason: "Apple answered 500 when asked for its keys", at: noon) }
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok, "two say little")
    condition.noteMissingKeys(reason: "Apple answered 403 when asked for its keys", at: noon)
    condition.note(.accepted, clientID: "web", at: noon)
    let said = message(condition.report(.noSuccess(checks: 20), at: noon.addingTimeInterval(86_400)))
    #expect(said.hasPrefix("Apple answered 403 when asked for its keys") && said.contains("nobody can sign in"))
    condition.noteIdentityToken(isFromFuture: false, at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Missing keys are probed a minute after the last attempt, until a probe gets them")
  func missingKeysProbed() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    condition.noteProbeFailed(reason: "time-out", isUnsent: false, at: noon)
    #expect(condition.beginProbe(at: after(600)) == false, "no token has missed them")
    condition.noteMissingKeys(reason: "Apple answered 500", at: noon)
    let probes = [59, 60, 119, 120].map { condition.beginProbe(at: after($0)) }
    #expect(probes == [false, true, false, true])
    for _ in 0..<2 { condition.noteProbeFailed(reason: "time-out", isUnsent: false, at: after(120)) }
    #expect(message(condition.report(nil, at: after(120))).hasPrefix("time-out"))
    condition.noteReachable(clockDifference: 0)
    #expect(condition.report(nil, at: after(120)) == .unknown)
    #expect(condition.beginProbe(at: after(600)) == false)
  }

  @Test("An hour after the last error without another call, the state of Apple is unknown, with what it was")
  func outdated() {
    var condition = AppleCondition()
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(message(condition.report(nil, at: noon.addingTimeInterval(3_599))).hasPrefix("Apple answered 503"))
    let later = noon.addingTimeInterval(3_600)
    guard case .outdated(let said) = condition.report(nil, at: later) else {
      Issue.record("\(condition.report(nil, at: later))")
      return
    }
    #expect(said.hasPrefix("Apple answered 503, an hour or more ago"))
    #expect(message(condition.report(.noSuccess(checks: 20), at: later)).contains("not one of 20"))
    condition.note(error, clientID: "web", at: later)
    #expect(message(condition.report(nil, at: later)).hasPrefix("Apple answered 503"), "the fourth in a row")
  }

  @Test("An Apple that cannot be reached is probed a minute after the last attempt, whatever its credentials are worth")
  func probes() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    func probes(at seconds: Double...) -> [Bool] { seconds.map { condition.beginProbe(at: after($0)) } }
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(probes(at: 600) == [false], "Apple answers, if only with errors")
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    #expect(probes(at: 59) == [false])
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: after(59))
    #expect(probes(at: 118, 119, 178, 179) == [false, true, false, true])
    #expect(probes(at: -3_600) == [true], "the clock was ahead")
    condition.noteReachable(clockDifference: 0)
    #expect(message(condition.report(nil, at: after(180))).contains("invalid_client"))
    #expect(probes(at: 600) == [false])
    condition.note(.accepted, clientID: "web", at: after(600))
    #expect(condition.report(nil, at: after(600)) == .ok)
  }
}

@Suite("When Apple cannot be reached")
struct ReachabilityBackoffTests {
  private func seconds(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }

  @Test("Calls are not paused before one could not be sent; then one is tried after the pause")
  func pauses() {
    var backoff = ReachabilityBackoff()
    #expect(backoff.mayTry(at: noon) == true)
    #expect(backoff.mayTry(at: noon) == true)
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(0.9)) == false)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(1)) == false, "one tries, the others wait")
    backoff.noteSent()
    #expect(backoff.mayTry(at: seconds(1)) == true)
  }

  @Test("Pauses double up to five minutes, less a random half")
  func doubles() {
    for (random, share) in [(1, 1), (0, 0.5), (7, 1), (-3, 0.5)] as [(Double, Double)] {
      var backoff = ReachabilityBackoff()
      var now = noon
      for pause in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] as [Double] {
        #expect(backoff.mayTry(at: now) == true)
        backoff.noteNotSent(at: now, random: random)
        #expect(backoff.mayTry(at: now.addingTimeInterval(pause * share - 0.01)) == false)
        now = now.addingTimeInterval(pause * share)
      }
    }
  }

  @Test("Many requests that failed together make one pause, not many doublings")
  func countsTogetherOnce() {
    var backoff = ReachabilityBackoff()
    for _ in 0..<100 { backoff.noteNotSent(at: noon, random: 1) }
    #expect(backoff.mayTry(at: seconds(1)) == true)
  }

  @Test("Hundreds of failures in a row neither overflow nor pause longer")
  func neverOverflows() {
    var backoff = ReachabilityBackoff()
    var now = noon
    for _ in 0..<500 {
      #expect(backoff.mayTry(at: now) == true)
      backoff.noteNotSent(at: now, random: 1)
      now = now.addingTimeInterval(300)
    }
  }

  @Test("A clock that was ahead and is set right leaves no pause behind")
  func clockSetBack() {
    var backoff = ReachabilityBackoff()
    let ahead = seconds(5 * 86_400)
    backoff.noteNotSent(at: ahead, random: 1)
    #expect(backoff.mayTry(at: noon) == true)
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == false && backoff.mayTry(at: ahead) == true)
    #expect(backoff.mayTry(at: seconds(2)) == true, "the attempt from ahead has no result")
  }

  @Test("An attempt without a reported result does not block for ever")
  func forgetsLostTries() {
    var backoff = ReachabilityBackoff()
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(30)) == false)
    #expect(backoff.mayTry(at: seconds(31)) == true)
    // One that asked nobody gives its turn back, and one that has begun meanwhile keeps its own.
    backoff.noteNotTried(since: seconds(1))
    #expect(backoff.mayTry(at: seconds(32)) == false)
    backoff.noteNotTried(since: seconds(31))
    #expect(backoff.mayTry(at: seconds(32)) == true)
    #expect(backoff.mayTry(at: seconds(32)) == false)
  }
}
