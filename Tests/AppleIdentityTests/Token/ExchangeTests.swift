import AppleIdentity
import FoundationEssentials
import Secrets
import Testing
import WebFormats

@Suite("Exchanging an authorization code")
struct ExchangeTests {
  private let code = AuthorizationCode("c1234.0.abcd+/=")

  private func exchange(_ fixture: Fixture, _ answer: FakeApple.Answer) async -> ExchangeOutcome {
    fixture.apple.answer("/auth/token", answer)
    return await fixture.provider.tokens.exchange(
      code: code, redirectURI: "https://app.example.com/.auth/callback", clientID: "com.example.web", nonce: .web("n-1")
    )
  }

  private func answer(_ token: UnverifiedIdentityToken?, refreshToken: String? = "r.1") -> FakeApple.Answer {
    var members = [#""access_token":"a""#, #""token_type":"Bearer""#, #""expires_in":3600"#]
    if let token { members.append(#""id_token":"\#(token.exposed)""#) }
    if let refreshToken { members.append(#""refresh_token":"\#(refreshToken)""#) }
    return .json("{\(members.joined(separator: ","))}")
  }

  @Test("The request carries the code, the redirect URI as it was sent, and a secret, all percent-encoded")
  func request() async throws {
    let fixture = try Fixture()
    _ = await exchange(fixture, .json("{}"))
    let request = try #require(fixture.apple.requests(to: "/auth/token").first)
    let text = String(decoding: request.body, as: UTF8.self)
    #expect(text.contains("code=c1234.0.abcd%2B%2F%3D&"))
    #expect(text.contains("redirect_uri=https%3A%2F%2Fapp.example.com%2F.auth%2Fcallback"))
    let form = try FormFields(parsing: request.body)
    #expect(try form.text(of: "grant_type") == "authorization_code")
    #expect(try form.text(of: "client_id") == "com.example.web")
    #expect(try secretClaims(of: form).subject == "com.example.web")
    #expect(form.fields.count == 5)
  }

  @Test("A native app's code goes without a redirect URI")
  func nativeRequest() async throws {
    let fixture = try Fixture()
    _ = await fixture.provider.tokens.exchange(
      code: code, redirectURI: nil, clientID: "com.example.app", nonce: .native("n-1"))
    let request = try #require(fixture.apple.requests(to: "/auth/token").first)
    let form = try FormFields(parsing: request.body)
    #expect(try form.text(of: "redirect_uri") == nil)
    #expect(try form.text(of: "client_id") == "com.example.app")
  }

  @Test("The exchange of a code returns the verified user and the refresh token")
  func granted() async throws {
    let fixture = try Fixture()
    guard case .granted(let grant) = await exchange(fixture, answer(try fixture.token())) else {
      Issue.record("not granted")
      return
    }
    #expect(grant.identityToken.subject == "001234.abcdef.0789")
    #expect(grant.refreshToken == RefreshToken("r.1"))
    guard case .granted(let other) = await exchange(fixture, answer(try fixture.token(), refreshToken: nil)) else {
      Issue.record("not granted")
      return
    }
    #expect(other.refreshToken == nil)
  }

  @Test("A token that is not to be believed grants nothing")
  func unverified() async throws {
    let fixture = try Fixture()
    let replayed = await exchange(fixture, answer(try fixture.token(["nonce": #""n-0""#])))
    #expect(replayed == .unverified(.nonceMismatch))
    let foreign = await exchange(fixture, answer(try fixture.token(["aud": #""com.example.app""#])))
    #expect(foreign == .unverified(.wrongAudience))
  }

  @Test("An answer without an identity token grants nothing")
  func noIdentityToken() async throws {
    let fixture = try Fixture()
    for answer in [answer(nil), .json(#"{"id_token":""}"#), .json(#"{"id_token":7}"#)] {
      guard case .appleTrouble(.malformed) = await exchange(fixture, answer) else {
        Issue.record("granted")
        continue
      }
    }
  }

  @Test("invalid_grant is a code to try again without; any other error is the operator's")
  func refused() async throws {
    let fixture = try Fixture()
    for code in OAuthError.Code.allCases {
      let outcome = await exchange(fixture, .json(#"{"error":"\#(code.rawValue)"}"#, status: 400))
      let refusal = OAuthError(code: code, description: nil)
      #expect(outcome == (code == .invalidGrant ? .refused(refusal) : .misconfigured(refusal)))
      #expect(!refusal.remedy.isEmpty)
    }
  }

  /// The fixture's clock shows 15:06:40.
  @Test(
    "A clock that explains why Apple refuses our credentials is the remedy, with the difference",
    arguments: [
      ("14:56:40", "our clock is 600 s ahead of Apple's, "), ("15:05:39", "our clock is 61 s ahead of Apple's, "),
      ("15:16:40", "our clock is 600 s behind Apple's, "), ("15:08:41", "our clock is 121 s behind Apple's, "),
      ("15:05:40", "check apple.client_id, "), ("15:08:40", "check apple.client_id, "),
    ])
  func wrongClock(time: String, remedy: String) async throws {
    let body = #"{"error":"invalid_client"}"#
    let answer = FakeApple.Answer.json(body, status: 400, date: "Sun, 15 Jun 2025 \(time) GMT")
    guard case .misconfigured(let refusal) = await exchange(try Fixture(), answer) else {
      Issue.record("another outcome")
      return
    }
    #expect(refusal.remedy.hasPrefix(remedy) && refusal.refreshRemedy.hasPrefix(remedy), "\(refusal.remedy)")
  }

  @Test("A failure of Apple is distinguished from a request that was not sent")
  func trouble() async throws {
    let fixture = try Fixture()
    #expect(await exchange(fixture, .json("", status: 500)) == .appleTrouble(.status(500)))
    #expect(await exchange(fixture, .json("", status: 429)) == .appleTrouble(.throttled(pause: nil)))
    #expect(await exchange(fixture, .failure(.notSent(reason: "x"))) == .notSent(reason: "x"))
    #expect(await exchange(fixture, .failure(.unanswered(reason: "x"))) == .appleTrouble(.unanswered(reason: "x")))
  }

  @Test("The description of a failure holds no code, token or secret")
  func told() async throws {
    let fixture = try Fixture()
    let failures: [FakeApple.Answer] = [
      .json(#"{"error":"invalid_grant","error_description":"used\r\nbefore"}"#, status: 400), .json("", status: 500),
      answer(try fixture.token(["nonce": #""n-0""#])), .failure(.notSent(reason: "refused\r\n")),
    ]
    var told: [String] = []
    for failure in failures {
      switch await exchange(fixture, failure) {
      case .refused(let refusal): told.append(refusal.message)
      case .unverified(let rejection): told.append(rejection.message)
      case .appleTrouble(let trouble): told.append(trouble.message)
      case .notSent(let reason): told.append(reason)
      case .granted, .misconfigured, .mismatch, .noSecret: Issue.record("another outcome")
      }
    }
    #expect(
      told == [
        "Apple answered invalid_grant: used??before", "Apple answered 500",
        "the identity token was made for another attempt to sign in", "refused??",
      ])
    let granted = await exchange(fixture, answer(try fixture.token()))
    #expect(!"\(granted)".contains("r.1"))
  }
}
