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
      (-1_000, .blocking), (-24, .blocking), (-23.99, .fresh), (-23, .fresh), (0, .fresh), (23.99, .fresh),
      (24, .background), (71.99, .background),
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
