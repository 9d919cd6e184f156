import Foundation
import Testing

@testable import Sessions

@Suite("When a check is due")
struct CheckScheduleTests {
  private let day = CheckSchedule(RevalidationSettings())
  private func hours(_ hours: Double) -> Date { noon.addingTimeInterval(hours * 3_600) }

  @Test("Within the interval nothing is due; after it a check is, beside the request; past the grace in its way")
  func decides() throws {
    let account = try makeAccount()
    for (hour, expected) in [
      (-1_000, .fresh), (0, .fresh), (23.99, .fresh), (24, .dueBesideTheRequest), (71.99, .dueBesideTheRequest),
      (72, .overdueMustWait), (10_000, .overdueMustWait),
    ] as [(Double, CheckSchedule.Decision)] {
      #expect(day.decision(account: account, now: hours(hour), jitter: 0) == expected, "after \(hour) h")
      #expect(day.mayGoOn(account: account, now: hours(hour), jitter: 0) == (expected != .overdueMustWait))
    }
  }

  @Test("Jitter only delays, by a twenty-fourth of the interval at most, and not below an hour's interval")
  func jitters() throws {
    let account = try makeAccount()
    #expect(day.decision(account: account, now: hours(24.99), jitter: 1) == .fresh)
    #expect(day.decision(account: account, now: hours(25), jitter: 1) == .dueBesideTheRequest)
    #expect(day.decision(account: account, now: hours(24.5), jitter: 0.5) == .dueBesideTheRequest)
    #expect(day.decision(account: account, now: hours(24.49), jitter: 0.5) == .fresh)
    #expect(day.decision(account: account, now: hours(72), jitter: 1) == .overdueMustWait)
    var settings = RevalidationSettings()
    settings.interval = .seconds(3_599)
    let short = CheckSchedule(settings)
    #expect(short.decision(account: account, now: noon.addingTimeInterval(3_599), jitter: 1) == .dueBesideTheRequest)
    for jitter in [-5, 7] as [Double] {
      #expect(day.decision(account: account, now: hours(23.99), jitter: jitter) == .fresh)
      #expect(day.decision(account: account, now: hours(25), jitter: jitter) == .dueBesideTheRequest)
    }
  }

  @Test("Without grace the check is in the way as soon as it is due, not before")
  func worksWithoutGrace() throws {
    var settings = RevalidationSettings()
    settings.grace = .zero
    let schedule = CheckSchedule(settings)
    let account = try makeAccount()
    #expect(schedule.decision(account: account, now: hours(24.5), jitter: 1) == .fresh)
    #expect(schedule.mayGoOn(account: account, now: hours(24.5), jitter: 1))
    #expect(schedule.decision(account: account, now: hours(25), jitter: 1) == .overdueMustWait)
  }

  @Test("While somebody asked within the interval nothing is due beside a request, but overdue stays overdue")
  func respectsTheLastQuestion() throws {
    let account = try makeAccount(asked: hours(30))
    #expect(day.decision(account: account, now: hours(31), jitter: 0) == .fresh)
    #expect(day.decision(account: account, now: hours(53.99), jitter: 0) == .fresh)
    #expect(day.decision(account: account, now: hours(54), jitter: 0) == .dueBesideTheRequest)
    let overdue = try makeAccount(asked: hours(71))
    #expect(day.decision(account: overdue, now: hours(72), jitter: 0) == .overdueMustWait)
  }

  @Test("An account's jitter is always the same, and accounts are spread evenly")
  func spreads() throws {
    var buckets = Array(repeating: 0, count: 10)
    for number in 0..<10_000 {
      let subject = try #require(Subject("001\(number % 1_000).\(number).0987"))
      let jitter = CheckSchedule.jitter(of: subject)
      #expect(jitter == CheckSchedule.jitter(of: subject))
      try #require((0..<1).contains(jitter))
      buckets[Int(jitter * 10)] += 1
    }
    #expect(buckets.allSatisfy { (700...1_300).contains($0) }, "\(buckets)")
  }
}

@Suite("What a verdict comes to")
struct CheckWeatherTests {
  private func minutes(_ minutes: Double) -> Date { noon.addingTimeInterval(minutes * 60) }

  @Test("Each verdict has its consequence, and a mistake of ours its alarm")
  func judges() {
    for (verdict, consequence, alarm) in [
      (.good, .noteGood, nil), (.revoked, .endSessions, nil), (.ourMistake, .keep, .credentialsRefused),
      (.appleTrouble, .keep, nil), (.notSent, .giveBack, nil),
    ] as [(Verdict, Consequence, CheckAlarm?)] {
      var weather = CheckWeather()
      let judgement = weather.judge(verdict, at: noon)
      #expect(judgement.consequence == consequence)
      #expect(judgement.alarm == alarm)
    }
  }

  @Test("When 20 checks within the hour failed, revocations are held and the operator is alarmed")
  func holdsWhenNothingSucceeds() {
    var weather = CheckWeather()
    for number in 1...19 {
      let judgement = weather.judge(.revoked, at: minutes(Double(number)))
      #expect(judgement == .init(consequence: .endSessions, alarm: nil))
    }
    #expect(weather.allFailing(at: minutes(19)) == nil)
    let twentieth = weather.judge(.revoked, at: minutes(20))
    #expect(twentieth == .init(consequence: .keep, alarm: .noCheckSucceeds(checks: 20)))
    #expect(weather.allFailing(at: minutes(20)) == 20)
    #expect(weather.judge(.revoked, at: minutes(21)) == .init(consequence: .keep, alarm: nil))
    #expect(CheckAlarm.noCheckSucceeds(checks: 20).remedy.contains("cordon doctor"))
  }

  @Test("One success is enough to believe revocations again")
  func believesAfterOneSuccess() {
    var weather = CheckWeather()
    for _ in 0..<50 { _ = weather.judge(.appleTrouble, at: noon) }
    #expect(weather.judge(.revoked, at: noon).consequence == .keep)
    #expect(weather.judge(.good, at: minutes(1)).consequence == .noteGood)
    #expect(weather.allFailing(at: minutes(1)) == nil)
    #expect(weather.judge(.revoked, at: minutes(2)).consequence == .endSessions)
    #expect(weather.judge(.revoked, at: minutes(60)).consequence == .endSessions)
  }

  @Test("A success counts for an hour, and so do failures")
  func forgetsAfterAnHour() {
    var weather = CheckWeather()
    _ = weather.judge(.good, at: noon)
    for _ in 0..<30 { _ = weather.judge(.ourMistake, at: minutes(30)) }
    #expect(weather.allFailing(at: minutes(59)) == nil)
    #expect(weather.allFailing(at: minutes(60)) == 30)
    #expect(weather.judge(.revoked, at: minutes(60)).consequence == .keep)
    #expect(weather.allFailing(at: minutes(90)) == nil)
    #expect(weather.judge(.revoked, at: minutes(91)).consequence == .endSessions)
  }

  @Test("What was not sent is no check")
  func ignoresWhatWasNotSent() {
    var weather = CheckWeather()
    for _ in 0..<100 { _ = weather.judge(.notSent, at: noon) }
    #expect(weather.allFailing(at: noon) == nil)
    #expect(weather.judge(.revoked, at: noon).consequence == .endSessions)
  }

  @Test("The same alarm comes at most once an hour")
  func alarmsOnceAnHour() {
    var weather = CheckWeather()
    #expect(weather.judge(.ourMistake, at: noon).alarm == .credentialsRefused)
    #expect(weather.judge(.ourMistake, at: minutes(59)).alarm == nil)
    #expect(weather.judge(.ourMistake, at: minutes(60)).alarm == .credentialsRefused)
  }

  @Test("A clock that is set back or far ahead neither traps nor keeps old counts")
  func survivesClocks() {
    var weather = CheckWeather()
    for now in [Date.distantFuture, .distantPast, Date(timeIntervalSince1970: 1e300), noon] {
      for _ in 0..<19 { _ = weather.judge(.revoked, at: now) }
    }
    #expect(weather.allFailing(at: noon) == nil)
    #expect(weather.judge(.revoked, at: noon).consequence == .keep)
  }
}

@Suite("When Apple cannot be reached")
struct ReachabilityBackoffTests {
  private func seconds(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }

  @Test("Nothing is paused until a request was not sent; then one tries after the pause")
  func pauses() {
    var backoff = ReachabilityBackoff()
    #expect(backoff.mayTry(at: noon) == true)
    #expect(backoff.mayTry(at: noon) == true)
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.isPausing)
    #expect(backoff.mayTry(at: seconds(0.9)) == false)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(1)) == false, "one tries, the others wait")
    backoff.noteSent()
    #expect(!backoff.isPausing)
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

  @Test("A try that nobody reported on does not block for ever")
  func forgetsLostTries() {
    var backoff = ReachabilityBackoff()
    backoff.noteNotSent(at: noon, random: 1)
    #expect(backoff.mayTry(at: seconds(1)) == true)
    #expect(backoff.mayTry(at: seconds(30)) == false)
    #expect(backoff.mayTry(at: seconds(31)) == true)
  }
}
