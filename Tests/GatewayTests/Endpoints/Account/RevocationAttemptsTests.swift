import Sessions
import Testing

@testable import Gateway

@Suite("Attempts to have tokens revoked")
struct RevocationAttemptsTests {
  private let attempts = RevocationAttempts()
  private let start = ContinuousClock.now

  /// Uses up all attempts of a user.
  private func useUp(_ subject: Subject, at now: ContinuousClock.Instant) {
    for _ in 0..<RevocationAttempts.most { #expect(attempts.begin(subject, at: now)) }
    #expect(!attempts.begin(subject, at: now))
  }

  @Test("A user has five attempts in the minute that begins with the first one, and then five again")
  func window() throws {
    let anna = try #require(Subject("001.anna"))
    useUp(anna, at: start)
    #expect(!attempts.begin(anna, at: start + .milliseconds(59_999)))
    useUp(anna, at: start + .seconds(60))
  }

  @Test("An attempt that succeeds gives all of them back, and users do not share theirs")
  func success() throws {
    let (anna, ben) = (try #require(Subject("001.anna")), try #require(Subject("002.ben")))
    useUp(anna, at: start)
    useUp(ben, at: start)
    attempts.succeeded(anna)
    useUp(anna, at: start)
    #expect(!attempts.begin(ben, at: start))
  }

  @Test("Users whose minute is over make room for others, and a limit that is full forgets all users")
  func room() throws {
    let anna = try #require(Subject("001.anna"))
    func fill(at now: ContinuousClock.Instant) throws {
      for number in 1..<RevocationAttempts.mostUsers {
        #expect(attempts.begin(try #require(Subject("user\(number)")), at: now))
      }
    }
    try fill(at: start)
    let later = start + RevocationAttempts.interval
    useUp(anna, at: later - .seconds(1))
    #expect(attempts.begin(try #require(Subject("other")), at: later))
    #expect(!attempts.begin(anna, at: later), "only those that were over are forgotten")
    try fill(at: later)
    #expect(attempts.begin(anna, at: later))
  }
}
