import Foundation
import TemporaryDirectoryTesting
import Testing

// Revalidations, by the real clock of days (a fake one for the process) and Apple's own count.
//
// - A sign-in counts: within a day nothing is asked, whatever the browsers, requests, restarts and kills.
// - After the interval an account is asked about once, however many browsers come at once; the next day once again.
// - What Apple's answer means: revoked ends the sessions; our mistake and Apple's trouble keep everybody in.
// - After interval and grace without a check the next request waits for one: revoked ends the sessions.
// - Grace counts from the first failed attempt: then only a good answer, or signing in again.
// - A refresh token that Apple replaces is the one to ask with; `{}`, or another user's token, is not a good answer.
// - Times that a clock which was wrong has written switch nothing off.
// - Credentials that Apple refuses show on /healthz and /status, and change no readiness.
// - Sessions end by themselves: idle, or old. Attempts too.

@SystemActor
@Suite("Revalidation with Apple")
struct RevalidationTests {
  private static let hour = 3_600
  private static let day = 24 * hour

  /// A moment at which a check is due and the grace is far from over: an interval of a day, with any jitter, has
  /// passed.
  private static let due = 36 * hour

  private func refreshes(_ site: Site, of user: String = "anna") throws -> Int {
    try site.apple.checks(of: user, kind: "refresh")
  }

  private func ask(_ visitor: Visitor, _ site: Site) throws -> Int { try visitor.fetch(site.own("session")).status }

  /// Sets the clock, and sends requests until a revalidation has been attempted: one that finds the attempt before
  /// still under way begins none, and the next one may half a minute later.
  private func awaitAttempt(_ number: Int, of visitor: Visitor, _ site: Site, at seconds: Int) throws {
    var seconds = seconds
    try poll("the attempt") {
      try site.setClock(secondsAhead: seconds)
      #expect(try ask(visitor, site) == 200)
      seconds += 31
      return try site.apple.tokenRequests("refresh_token").count == number ? () : nil
    }
  }

  @Test("Within a day of signing in, nothing is asked, whatever happens")
  func withinADay() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let browsers = try [site.signedIn(), site.signedIn(), site.signedIn()]
    for hours in [0, 6, 12, 18, 23] {
      try site.setClock(secondsAhead: hours * Self.hour)
      for browser in browsers {
        for _ in 0..<5 { #expect(try ask(browser, site) == 200) }
      }
      if hours == 12 { try site.gateway.restart() }
      if hours == 18 { try site.gateway.killAndRestart() }
    }
    #expect(try refreshes(site) == 0)
    #expect(try site.apple.checks(of: "anna", kind: "sign_in") == 3)
  }

  @Test("When it is due, an account is asked about once a day, however many browsers, requests and restarts there are")
  func oncePerDay() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    // Apple would answer a second check with 429: a fault, not a count, would show.
    try site.apple.switches(["throttle": "refresh"])
    let browsers = try (0..<4).map { _ in try site.signedIn() }
    for round in 1...3 {
      try site.setClock(secondsAhead: round * Self.due)
      for _ in 0..<5 { for browser in browsers { #expect(try ask(browser, site) == 200) } }
      try poll("check \(round)") { try refreshes(site) >= round ? () : nil }
      try site.gateway.restart()
      for _ in 0..<5 { for browser in browsers { #expect(try ask(browser, site) == 200) } }
      try site.gateway.killAndRestart()
      for browser in browsers { #expect(try ask(browser, site) == 200) }
      #expect(try refreshes(site) == round)
    }
    #expect(try site.apple.tokenRequests("refresh_token").allSatisfy { $0.status == 200 })
  }

  @Test("A kill in the middle of a check does not make a second one that day")
  func killedMidCheck() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.setClock(secondsAhead: Self.due)
    try site.apple.fault("token", "slow", ["grant_type": "refresh_token", "milliseconds": 20_000, "times": 1])
    #expect(try ask(anna, site) == 200)
    try poll("the check to begin") { try site.apple.tokenRequests("refresh_token").count == 1 ? () : nil }
    try site.gateway.killAndRestart()
    for _ in 0..<10 { #expect(try ask(anna, site) == 200) }
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
  }

  @Test("A stop in the middle of a check waits for Apple's answer, which ends the sessions of a user who has left")
  func stoppedMidCheck() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.revoke("anna")
    try site.setClock(secondsAhead: Self.due)
    try site.apple.fault("token", "slow", ["grant_type": "refresh_token", "milliseconds": 1_000, "times": 1])
    #expect(try ask(anna, site) == 200)
    try poll("the check to begin") { try site.apple.tokenRequests("refresh_token").count == 1 ? () : nil }
    try site.gateway.restart()
    #expect(try ask(anna, site) == 401)
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
  }

  @Test("A user who does not show up is not asked about")
  func lazy() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn(as: "anna")
    _ = try site.signedIn(as: "ben")
    try site.setClock(secondsAhead: Self.due)
    #expect(try ask(anna, site) == 200)
    try poll("the check of anna") { try refreshes(site) == 1 ? () : nil }
    #expect(try refreshes(site, of: "ben") == 0)
  }

  @Test("A user who left the application at Apple's is signed out everywhere by the check, nobody else is")
  func revoked() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let browsers = try [site.signedIn(as: "anna"), site.signedIn(as: "anna")]
    let ben = try site.signedIn(as: "ben")
    try site.apple.revoke("anna")
    #expect(try ask(browsers[0], site) == 200)
    try site.setClock(secondsAhead: Self.due)
    for browser in browsers { try poll("the end of a session") { try ask(browser, site) == 401 ? () : nil } }
    #expect(try ask(ben, site) == 200)
    // The user may come back.
    try browsers[0].signIn(site, as: "anna")
    #expect(try ask(browsers[0], site) == 200)
  }

  /// Answers to a check that say nothing about the user.
  private nonisolated static let troubles = [
    #"{"kind": "refuse", "error": "invalid_client"}"#, #"{"kind": "refuse", "error": "unauthorized_client"}"#,
    #"{"kind": "refuse", "error": "invalid_request"}"#, #"{"kind": "refuse", "error": "who_knows"}"#,
    #"{"kind": "status", "status": 500}"#, #"{"kind": "status", "status": 503}"#, #"{"kind": "status", "status": 429}"#,
    #"{"kind": "status", "status": 400}"#, #"{"kind": "html"}"#, #"{"kind": "empty"}"#, #"{"kind": "cut"}"#,
    #"{"kind": "truncated-json"}"#, #"{"kind": "deep-json"}"#,
  ]

  @Test("Trouble at Apple, or of our own making, signs nobody out, and is not asked about again that day")
  func troubleKeepsIn() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    for (index, text) in Self.troubles.enumerated() {
      let id = "user\(index)"
      try site.apple.add(user: ["id": id, "first_name": "U", "last_name": "\(index)", "email": "\(id)@example.com"])
      let visitor = try site.signedIn(as: id)
      var fault = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      let kind = try #require(fault.removeValue(forKey: "kind") as? String)
      fault["grant_type"] = "refresh_token"
      try site.apple.behave()
      try site.apple.fault("token", kind, fault)
      try site.apple.forgetRequests()
      // Each user's own day begins when they signed in.
      try site.setClock(secondsAhead: (index + 1) * Self.due)
      #expect(try ask(visitor, site) == 200)
      try poll("the check under \(text)") {
        try site.apple.tokenRequests("refresh_token").contains { $0.status != nil } ? () : nil
      }
      for _ in 0..<5 { #expect(try ask(visitor, site) == 200, "\(text)") }
      #expect(try site.apple.tokenRequests("refresh_token").count == 1, "\(text)")
    }
  }

  @Test("With Apple away, users go on until interval and grace are over; then they sign in again when Apple is back")
  func appleAway() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.fault("token", "status", ["status": 503])
    for hours in [30, 48, 70] {
      try site.setClock(secondsAhead: hours * Self.hour)
      #expect(try ask(anna, site) == 200, "\(hours) h")
    }
    // Past interval, jitter and grace.
    try site.setClock(secondsAhead: 5 * Self.day)
    #expect(try ask(anna, site) == 401)
    try site.apple.behave()
    try anna.signIn(site)
    #expect(try ask(anna, site) == 200)
  }

  @Test("A user who was away for eighty hours and meets trouble at Apple goes on, for the grace from then on")
  func graceAfterAbsence() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.fault("token", "status", ["status": 503])
    try site.setClock(secondsAhead: 80 * Self.hour)
    for _ in 0..<5 { #expect(try ask(anna, site) == 200) }
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
    try site.gateway.restart()
    // 47 h of grace.
    try awaitAttempt(2, of: anna, site, at: 127 * Self.hour)
    try site.setClock(secondsAhead: 129 * Self.hour)
    #expect(try ask(anna, site) == 200, "49 h, but the attempt of two hours ago was within the grace")
    try site.setClock(secondsAhead: 152 * Self.hour)
    #expect(try ask(anna, site) == 401, "an attempt after the grace")
    #expect(try site.apple.tokenRequests("refresh_token").count == 3)
    try site.apple.behave()
    try anna.signIn(site)
    #expect(try ask(anna, site) == 200)
  }

  @Test("An error at Apple on two days signs nobody out on the third, when it is over")
  func twoBadDays() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.fault("token", "status", ["status": 503])
    for hour in [25, 53] {
      try awaitAttempt(hour == 25 ? 1 : 2, of: anna, site, at: hour * Self.hour)
    }
    try site.apple.behave()
    for hour in [74, 78] {
      try site.setClock(secondsAhead: hour * Self.hour)
      #expect(try ask(anna, site) == 200, "after \(hour) h")
    }
    #expect(try site.apple.tokenRequests("refresh_token").count == 3)
  }

  @Test("A refresh token that Apple sends in place of the old one is the one that is asked with next")
  func replacedToken() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    try site.apple.switches(["rotate_refresh_tokens": true])
    let anna = try site.signedIn()
    for round in 1...3 {
      try site.setClock(secondsAhead: round * Self.due)
      #expect(try ask(anna, site) == 200)
      try poll("check \(round)") { try refreshes(site) == round ? () : nil }
      try site.gateway.waitForLog("\"verdict\":\"good\"", count: round)
      #expect(try ask(anna, site) == 200)
    }
  }

  @Test(
    "An empty object, and an identity token of another user, are not good answers: logged, counted, nobody signed out")
  func noGoodAnswers() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    let troubles: [() throws -> Void] = [
      { try site.apple.fault("token", "empty-object", ["grant_type": "refresh_token", "times": 1]) },
      { try site.apple.tamper("token", token: ["claims": ["sub": "001999.somebody.else"]]) },
    ]
    for (round, begin) in troubles.enumerated() {
      try begin()
      try site.setClock(secondsAhead: (round + 1) * Self.due)
      #expect(try ask(anna, site) == 200)
      try site.gateway.waitForLog("token revalidation failed: error response from Apple", count: round + 1)
      #expect(try ask(anna, site) == 200)
      let metrics = try site.gateway.admin.get("/metrics").text
      #expect(metrics.contains("cordon_checks_total{verdict=\"unavailable\"} \(round + 1)"), "\(metrics)")
    }
  }

  @Test("Times that a clock which was years ahead wrote do not keep a user who has left from being found")
  func timesAhead() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.revoke("anna")
    site.gateway.process.signal(SIGTERM)
    _ = try site.gateway.process.waitForExit()
    let program = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      database.execute("UPDATE accounts SET last_asked = last_asked + 315576000000, last_verified = last_asked")
      database.execute("UPDATE accounts SET last_verified = last_asked")
      database.commit()
      """
    let done = try ServerProcess.run(
      Machine.program("python3", package: "python3"), ["-c", program, "\(site.gateway.directory.path)/cordon.db"])
    #expect(done.exit == .code(0), "\(done.standardError)")
    try site.gateway.restart()
    #expect(try ask(anna, site) == 401)
    #expect(try site.apple.tokenRequests("refresh_token").count == 1)
  }

  @Test("Credentials that Apple refuses show on /healthz and /status and in the log, and readiness stays")
  func refusedCredentials() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    #expect(try site.gateway.admin.get("/healthz").text.contains("\"name\":\"apple\",\"status\":\"ok\""))
    try site.apple.fault("token", "refuse", ["error": "invalid_client"])
    #expect(try Visitor().signIn(site, as: "ben").status == 502)
    func expectRefusal() throws {
      let health = try site.gateway.admin.get("/healthz")
      #expect(health.status == 200 && health.text.contains("\"status\":\"degraded\""), "\(health.text)")
      #expect(health.text.contains("\"name\":\"apple\",\"status\":\"failing\""), "\(health.text)")
      #expect(
        health.text.contains("Apple refuses our credentials for \(GatewayConfiguration.clientID) (invalid_client)"))
      #expect(health.text.contains("cordon doctor"))
      #expect(try site.gateway.admin.get("/status?format=json").text.contains("Apple refuses our credentials for"))
      #expect(try site.gateway.admin.get("/readyz").status == 200)
    }
    try expectRefusal()
    try site.gateway.waitForLog("Apple rejects our credentials, revalidation is unavailable")
    try site.apple.behave()
    _ = try site.signedIn(as: "ben")
    #expect(try site.gateway.admin.get("/healthz").text.contains("\"name\":\"apple\",\"status\":\"ok\""))
    // By a check as well.
    try site.apple.fault("token", "refuse", ["error": "invalid_client", "grant_type": "refresh_token"])
    try site.setClock(secondsAhead: Self.due)
    #expect(try ask(anna, site) == 200)
    try poll("the check") { try site.gateway.admin.get("/healthz").text.contains("(invalid_client)") ? () : nil }
    try expectRefusal()
  }

  @Test("The alarm about refused credentials names the clock if that is the cause, not the key")
  func refusedForTheClock() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    // The gateway's clock alone.
    try site.clock?.set(secondsAhead: 2 * Self.hour)
    #expect(try Visitor().signIn(site, as: "ben").status == 502)
    try site.gateway.waitForLogLine("Apple rejects our credentials, revalidation is unavailable", "ahead of Apple's")
  }

  @Test("A user who comes after a long time waits for one check, and goes on if it is good")
  func lateCheck() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.setClock(secondsAhead: 5 * Self.day)
    #expect(try ask(anna, site) == 200)
    #expect(try refreshes(site) == 1)
    try site.setClock(secondsAhead: 5 * Self.day + Self.hour)
    #expect(try ask(anna, site) == 200)
    #expect(try refreshes(site) == 1)
  }

  @Test("A user who comes after a long time and has left at Apple's does not get through even once")
  func lateRevocation() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.apple.revoke("anna")
    try site.setClock(secondsAhead: 5 * Self.day)
    site.upstream.forget()
    #expect(try anna.fetch("\(site.origin)/private").status == 401)
    #expect(site.upstream.requests.isEmpty)
  }

  // MARK: Closing

  @Test("A session that is not used ends after the idle time")
  func idle() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    try site.setClock(secondsAhead: 8 * Self.day)
    #expect(try ask(anna, site) == 401)
  }

  @Test("A session that is used every day ends after its lifetime")
  func lifetime() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let anna = try site.signedIn()
    for day in stride(from: 3, through: 27, by: 3) {
      try site.setClock(secondsAhead: day * Self.day)
      #expect(try ask(anna, site) == 200, "day \(day)")
      // The use is written down in batches: an orderly end writes it in any case.
      try site.gateway.restart()
    }
    try site.setClock(secondsAhead: 29 * Self.day)
    #expect(try ask(anna, site) == 200)
    try site.setClock(secondsAhead: 30 * Self.day + Self.hour)
    #expect(try ask(anna, site) == 401)
  }

  @Test("An attempt that took more than ten minutes is over, and the page says how to go on")
  func expiredAttempt() throws {
    let site = try Site(fakeClock: true)
    defer { site.stop() }
    let visitor = Visitor()
    try visitor.start(site)
    try visitor.decide(.proceed(user: "anna"))
    try site.setClock(secondsAhead: 11 * 60)
    let page = try visitor.carryBack()
    #expect((400..<500).contains(page.status))
    #expect(visitor.jar["__Host-cordon"] == nil)
    #expect(try site.apple.tokenRequests("authorization_code").isEmpty)
    #expect(HTMLTag.all(in: page.text).contains { $0["href"]?.contains("/.auth/") == true })
  }
}
