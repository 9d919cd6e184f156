import FoundationEssentials
import IdentityAssertion
import Logging
import Sessions
import Testing

@testable import Gateway

@Suite("The assertions about sessions")
struct SessionAssertionsTests {
  private let lines = RecordedLines()
  private let clock = TestClock()

  private func snapshot() throws -> SessionSnapshot {
    let subject = try #require(Subject("001.anna"))
    let now = Date(timeIntervalSince1970: 1_000_000)
    return SessionSnapshot(
      session: Session(.random(), of: subject, clientID: "web", now: now, lifetime: .seconds(60)),
      account: Account(
        subject: subject, name: nil, claims: AccountClaims(), latestAuthorization: now, lastVerified: now,
        lastAsked: now))
  }

  private func assertions(lifetime: Duration) throws -> SessionAssertions {
    let key = try AssertionKey(pem: AssertionKey.newFileContent(), name: "a.pem")
    let keys = try #require(AssertionKeySet([key]))
    var settings = AssertionSettings()
    settings.lifetime = lifetime
    let (lines, clock) = (lines, clock)
    let assertions = SessionAssertions(
      settings, allowsUnverifiedEmail: false,
      signer: AssertionSigner(keys: keys, issuer: "https://app.example.com", audience: "orders"),
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["suppressed"]) },
      uptime: { .milliseconds(clock.milliseconds) })
    return try #require(assertions)
  }

  @Test("Assertions that cannot be signed are logged ten times a minute, with the number of those left out")
  func failures() async throws {
    // No time can be written for the end of such an assertion.
    let assertions = try assertions(lifetime: .zero)
    for _ in 0..<100 {
      let signed = await assertions.assertion(of: try snapshot(), groups: [])
      #expect(signed == nil)
    }
    let message = "identity assertion signing failed, forwarding without assertion"
    #expect(lines.take() == Array(repeating: "\(message) -", count: 10))
    clock.advance(60)
    _ = await assertions.assertion(of: try snapshot(), groups: [])
    #expect(lines.take() == ["\(message) 90"])
  }

  @Test("An assertion that is signed is not logged")
  func signed() async throws {
    let assertions = try assertions(lifetime: .seconds(300))
    let signed = await assertions.assertion(of: try snapshot(), groups: [])
    #expect(signed != nil)
    #expect(lines.take() == [])
  }
}
