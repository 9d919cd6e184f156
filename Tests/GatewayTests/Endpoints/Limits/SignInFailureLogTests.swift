import AppleIdentity
import DataPlane
import HTTPTypes
import Logging
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// A stranger can fail to sign in thousands of times a second: some lines for each reason, and the number of the others.
@Suite("The log of failed sign-ins")
struct SignInFailureLogTests {
  /// A gateway's sign-ins whose log and audit log a test reads, with a clock of the test's own.
  private struct Recorded {
    let signIn: SignInRig
    let lines = RecordedLines()
    let audit: RecordedAudit
    let clock = TestClock()
    let logger: Logger

    init() async throws {
      let (lines, clock) = (lines, clock)
      logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["error", "reason", "suppressed"]) }
      audit = try RecordedAudit(.forTests())
      signIn = try await SignInRig(
        logger: logger, audit: audit.trail,
        failures: SignInFailureLog(uptime: { .milliseconds(clock.milliseconds) }))
    }

    /// The failed sign-ins in the audit log with this reason.
    func failures(_ reason: String) throws -> [String] {
      try audit.lines().filter { $0.contains("\"event\":\"sign_in_failed\",\"reason\":\"\(reason)\"") }
    }

    /// `callback`, which is sent forms.
    func callback() -> CallbackEndpoint {
      CallbackEndpoint(
        responseMode: .formPost, keyring: signIn.rig.keyring, pages: signIn.responses.pages,
        requestSessions: signIn.verification.requestSessions, verification: signIn.verification,
        responses: signIn.responses, failures: signIn.responses.creation.failures, logger: logger)
    }

    /// A form posted to `callback`.
    func request(_ form: String, _ cookies: [String] = []) -> ControlRequest {
      var request = signIn.request(cookies)
      request.head.headerFields[.contentType] = "application/x-www-form-urlencoded"
      request.body = Array(form.utf8)
      return request
    }

    /// Reads the tokens of an outcome that has none.
    /// - Returns: the reason of the failed sign-in.
    func exchange(_ outcome: ExchangeOutcome) -> String? {
      do throws(SignInError) {
        _ = try signIn.verification.codeExchange.tokens(of: outcome, clientID: "web", signIn.request())
        return nil
      } catch {
        return error.reason
      }
    }
  }

  @Test("Error responses to one pending sign-in write ten lines a minute to each log, and are not said to be Apple's")
  func errorResponses() async throws {
    let recorded = try await Recorded()
    let signIn = recorded.signIn
    let state = signIn.begin()
    let cookie = String(try state.setCookie(signIn.rig.keyring).prefix { $0 != ";" })
    let callback = recorded.callback()
    func post(_ error: String) async -> Int {
      await callback.post(recorded.request("state=\(state.state)&error=\(error)", [cookie])).head.status.code
    }
    // Any sender chooses the text of the error, which must not lead past the limit.
    for number in 0..<100 { #expect(await post("server_error_\(number)") == 502) }
    let written = recorded.lines.take()
    #expect(written.count == 10)
    #expect(written.first == "sign-in failed: the response carries an error server_error_0 - -")
    #expect(try recorded.failures("apple_refused").count == 10)
    #expect(signIn.rig.metrics.signIns.total("apple_refused") == 100)
    recorded.clock.advance(60)
    #expect(await post("server_error") == 502)
    #expect(recorded.lines.take() == ["sign-in failed: the response carries an error server_error - 90"])
    let last = try #require(try recorded.failures("apple_refused").last)
    #expect(last.contains("\"omitted\":90"), "\(last)")
    try await signIn.rig.stop()
  }

  @Test("Responses without a cookie write ten lines a minute to the audit log, and hide no other event")
  func strangers() async throws {
    let recorded = try await Recorded()
    let signIn = recorded.signIn
    let callback = recorded.callback()
    for _ in 0..<100 { #expect(await callback.post(recorded.request("x=y")).head.status == .badRequest) }
    #expect(try recorded.failures("answer").count == 10)
    #expect(signIn.rig.metrics.signIns.total("answer") == 100)
    // Another reason, and a success.
    #expect(await callback.post(recorded.request("state=0&code=x")).head.status == .badRequest)
    #expect(try recorded.failures("state_missing").count == 1)
    for _ in 0..<20 {
      let state = signIn.begin()
      signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
      _ = try await signIn.verification.complete(
        signIn.grant(of: state, user: "001.anna"), of: state, signIn.request())
    }
    #expect(try recorded.audit.lines().filter { $0.contains("\"event\":\"sign_in\"") }.count == 20)
    try await signIn.rig.stop()
  }

  @Test("Attempts of one banned user do not hide those of another one from the audit log")
  func banned() async throws {
    let recorded = try await Recorded()
    let creation = recorded.signIn.responses.creation
    var request = recorded.signIn.request()
    for _ in 0..<100 { creation.noteFailure(.banned, request) }
    // One client has all addresses of such a network.
    for number in 0..<100 {
      request.client = ClientPeer(address: "2001:db8::\(number)", isTrusted: false)
      creation.noteFailure(.banned, request)
    }
    request.client = ClientPeer(address: "192.0.2.2", isTrusted: false)
    creation.noteFailure(.banned, request)
    let lines = try recorded.failures("banned")
    #expect(lines.count == 21 && lines.last?.contains("192.0.2.2") == true)
    #expect(recorded.signIn.rig.metrics.signIns.total("banned") == 201)
    try await recorded.signIn.rig.stop()
  }

  @Test("The audit log names the banned user of a refused sign-in, and no user of any other failure")
  func bannedUser() async throws {
    let recorded = try await Recorded()
    let signIn = recorded.signIn
    let anna = try #require(Subject("001.anna"))
    let ban = Ban(until: nil, reason: nil, since: signIn.rig.clock.now, by: "cli")
    signIn.rig.store.state.withLock { $0.bans[anna] = ban }
    let state = signIn.begin()
    signIn.rig.apple.answer(.goodSignIn(of: "001.anna", nonce: state.nonce))
    let grant = try signIn.grant(of: state, user: "001.anna", givenName: "Anna")
    for _ in 0..<2 {
      do throws(SignInError) {
        _ = try await signIn.verification.complete(grant, of: state, signIn.request())
        Issue.record("it is banned")
      } catch {
        _ = signIn.responses.failure(error, of: state, signIn.request())
      }
    }
    let user = try SessionKeyring.forTests().pseudonym(of: anna)
    let refused = try recorded.failures("banned")
    #expect(refused.count == 1 && refused.first?.contains("\"user\":\"\(user)\"") == true, "\(refused)")
    let repeated = try recorded.failures("attempt_used")
    #expect(repeated.count == 1 && repeated.first?.contains("\"user\"") == false, "\(repeated)")
    try await signIn.rig.stop()
  }

  @Test(
    "Code exchanges that fail write ten lines a minute for each reason, then the number of those in between",
    arguments: [
      (.mismatch(.nonce), .mismatch(.subject)),
      (.unverified(.keysUnavailable(.coolingDown)), .unverified(.keysUnavailable(.status(500)))),
      (.unverified(.signatureInvalid), .unverified(.wrongAudience)),
      (
        .misconfigured(OAuthError(code: .invalidClient, description: nil)),
        .misconfigured(OAuthError(code: .invalidScope, description: nil))
      ),
      (.noSecret(.signingFailed), .noSecret(.clockOutOfRange)),
      (.appleTrouble(.status(503)), .appleTrouble(.throttled(pause: .seconds(9)))),
      (.notSent(reason: "refused"), .notSent(reason: "the name was not looked up in time")),
    ] as [(ExchangeOutcome, ExchangeOutcome)])
  func exchange(outcome: ExchangeOutcome, other: ExchangeOutcome) async throws {
    let recorded = try await Recorded()
    for _ in 0..<100 { #expect(recorded.exchange(outcome) != nil) }
    #expect(recorded.lines.take().filter { $0.hasSuffix(" -") }.count == 10)
    _ = recorded.exchange(other)
    #expect(recorded.lines.take().count == 1)
    recorded.clock.advance(60)
    _ = recorded.exchange(outcome)
    let next = recorded.lines.take()
    #expect(next.count == 1 && next.first?.hasSuffix(" 90") == true, "\(next)")
    try await recorded.signIn.rig.stop()
  }

  @Test("Identity tokens with algorithms without end, and pauses of any length, share one limit each")
  func foreignText() async throws {
    let recorded = try await Recorded()
    for number in 0..<200 {
      #expect(recorded.exchange(.unverified(.algorithmRefused("A\(number)"))) == "identity_token")
    }
    #expect(recorded.lines.take().count == 10)
    for number in 0..<200 { _ = recorded.exchange(.appleTrouble(.throttled(pause: .seconds(number)))) }
    #expect(recorded.lines.take().count == 10)
    try await recorded.signIn.rig.stop()
  }
}
