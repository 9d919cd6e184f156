import AppleIdentity
import FoundationEssentials
import HTTPTypes
import Secrets
import Testing
import WebFormats

@Suite("Asking Apple whether a user is in good standing")
struct RefreshTests {
  private let token = RefreshToken("r.secret")
  /// The subject of the tokens of `Fixture`.
  private static let subject = "001234.abcdef.0789"

  private func outcome(_ answer: FakeApple.Answer, _ fixture: Fixture? = nil) async throws -> RefreshOutcome {
    let fixture = try fixture ?? Fixture()
    fixture.apple.answer("/auth/token", answer)
    return await fixture.provider.tokens.refresh(token, of: Self.subject, clientID: "com.example.web")
  }

  @Test("The request carries the refresh token, the client it belongs to, and a secret for that client")
  func request() async throws {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/token", .json("{}"))
    _ = await fixture.provider.tokens.refresh(token, of: Self.subject, clientID: "com.example.app")
    let request = try #require(fixture.apple.requests(to: "/auth/token").first)
    #expect(request.description == "POST https://appleid.apple.com/auth/token")
    #expect(request.head.headerFields[.contentType] == "application/x-www-form-urlencoded")
    #expect(request.head.headerFields[.userAgent] == "Cordon")
    #expect(request.head.headerFields[.contentLength] == String(request.body.count))
    let form = try FormFields(parsing: request.body)
    #expect(try form.text(of: "grant_type") == "refresh_token")
    #expect(try form.text(of: "refresh_token") == "r.secret")
    #expect(try form.text(of: "client_id") == "com.example.app")
    #expect(try secretClaims(of: form).subject == "com.example.app")
    #expect(form.fields.count == 4)
  }

  @Test("200 is good standing, with or without an identity token")
  func goodStanding() async throws {
    let fixture = try Fixture()
    let identity = try fixture.token(["nonce": nil, "email": #""new@example.com""#])
    let answer = #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"id_token":"\#(identity.exposed)"}"#
    guard case .goodStanding(let standing) = try await outcome(.json(answer), fixture) else {
      Issue.record("not in good standing")
      return
    }
    #expect(standing.identityToken?.claims.email == "new@example.com" && standing.refreshToken == nil)
    for body in [#"{"access_token":"a"}"#, #"{"token_type":"Bearer"}"#] {
      #expect(try await outcome(.json(body), fixture) == .goodStanding(GoodStanding()))
    }
  }

  @Test("A refresh token that comes with the answer is handed on")
  func replacedToken() async throws {
    let answer = try await outcome(.json(#"{"access_token":"a","refresh_token":"r.new"}"#))
    #expect(answer == .goodStanding(GoodStanding(refreshToken: RefreshToken("r.new"))))
  }

  @Test("200 with neither an access token nor its type is neither a token response nor good standing")
  func noTokenResponse() async throws {
    for body in ["{}", #"{"access_token":"","token_type":7}"#, #"{"refresh_token":"r.new"}"#] {
      guard case .appleTrouble(.malformed) = try await outcome(.json(body)) else {
        Issue.record("\(body)")
        continue
      }
    }
  }

  @Test("An identity token of another user says nothing of this one")
  func otherSubject() async throws {
    let fixture = try Fixture()
    let other = try fixture.token(["nonce": nil, "sub": #""001999.other.0000""#])
    let body = #"{"access_token":"a","refresh_token":"r.new","id_token":"\#(other.exposed)"}"#
    guard case .appleTrouble(.malformed(let reason)) = try await outcome(.json(body), fixture) else {
      Issue.record("taken")
      return
    }
    #expect(reason.contains("another user"))
  }

  @Test("200 is good standing even if the identity token is not to be believed: it then updates nothing")
  func doubtfulIdentityToken() async throws {
    let fixture = try Fixture()
    let foreign = try fixture.token(["aud": #""com.other""#])
    let wrong = try await outcome(.json(#"{"access_token":"a","id_token":"\#(foreign.exposed)"}"#), fixture)
    #expect(wrong == .goodStanding(GoodStanding(rejection: .wrongAudience)))
    let garbage = try await outcome(.json(#"{"access_token":"a","id_token":"x"}"#), fixture)
    #expect(garbage == .goodStanding(GoodStanding(rejection: .malformed("form"))))
    fixture.apple.answer("/auth/keys", .failure(.notSent(reason: "refused")))
    let unknown = try fixture.token(header: ["kid": #""NEW""#])
    let unreachable = try await outcome(.json(#"{"access_token":"a","id_token":"\#(unknown.exposed)"}"#), fixture)
    guard case .goodStanding(let standing) = unreachable, standing.rejection?.isAppleTrouble == true else {
      Issue.record("\(unreachable)")
      return
    }
  }

  @Test("400 invalid_grant, and nothing else, is a revocation")
  func revoked() async throws {
    let outcome = try await outcome(.json(#"{"error":"invalid_grant"}"#, status: 400))
    #expect(outcome == .revoked(OAuthError(code: .invalidGrant, description: nil)))
    for status in [401, 403] {
      let other = try await self.outcome(.json(#"{"error":"invalid_grant"}"#, status: status))
      #expect(other == .appleTrouble(.status(status)))
    }
  }

  @Test(
    "Any other documented error is our own mistake and signs no user out",
    arguments: OAuthError.Code.allCases.filter { $0 != .invalidGrant })
  func misconfigured(code: OAuthError.Code) async throws {
    let outcome = try await outcome(
      .json(#"{"error":"\#(code.rawValue)","error_description":"said\r\nso"}"#, status: 400))
    #expect(outcome == .misconfigured(OAuthError(code: code, description: "said??so")))
  }

  @Test(
    "The remedy for a refused refresh says something, but nothing of redirect URIs and scopes",
    arguments: OAuthError.Code.allCases)
  func remedy(code: OAuthError.Code) {
    let remedy = OAuthError(code: code, description: nil).refreshRemedy
    #expect(!remedy.isEmpty && !remedy.contains("redirect") && !remedy.contains("scopes"), "\(remedy)")
  }

  @Test("invalid_client is our own mistake with 401 as well, which RFC 6749 allows", arguments: [401, 403])
  func otherStatusOfMistakes(status: Int) async throws {
    let outcome = try await outcome(.json(#"{"error":"invalid_client"}"#, status: status))
    #expect(outcome == .misconfigured(OAuthError(code: .invalidClient, description: nil)))
  }

  @Test(
    "Undocumented errors, in any spelling, count as failures of Apple",
    arguments: ["server_error", "INVALID_GRANT", "invalid_grant ", "", "invalid_gra\u{0}nt", "ínvalid_grant"])
  func undocumentedError(code: String) async throws {
    let body = try String(decoding: JSONEncoder().encode(["error": code]), as: UTF8.self)
    guard case .appleTrouble(.malformed) = try await outcome(.json(body, status: 400)) else {
      Issue.record("\(code)")
      return
    }
  }

  @Test(
    "An error that is not a string counts as a failure of Apple",
    arguments: ["{}", #"{"error":1}"#, #"{"error":["invalid_grant"]}"#])
  func errorOfAnotherType(body: String) async throws {
    guard case .appleTrouble(.malformed) = try await outcome(.json(body, status: 400)) else {
      Issue.record("\(body)")
      return
    }
  }

  @Test("429 is throttling, whatever the body says")
  func throttled() async throws {
    let outcome = try await outcome(.json(#"{"error":"invalid_grant"}"#, status: 429))
    #expect(outcome == .appleTrouble(.throttled(pause: nil)))
  }

  @Test(
    "The pause that Apple asks for with 429 is known, an hour at most",
    arguments: [
      ("0", 0), ("90", 90), ("3600", 3_600), ("3601", 3_600), ("99999999999999999999999999", 3_600), ("-5", nil),
      ("+5", nil), ("1.5", nil), ("", nil), ("soon", nil), ("Sun, 06 Nov 1994 08:50:37 GMT", 60),
      ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600),
    ] as [(String, Int?)])
  func pause(retryAfter: String, seconds: Int?) async throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let outcome = try await outcome(
      .response(AppleHTTPResponse(status: 429, date: date, retryAfter: retryAfter)))
    #expect(outcome == .appleTrouble(.throttled(pause: seconds.map { Duration.seconds($0) })))
  }

  @Test("A date at which Apple wants to be asked again says nothing without Apple's own time")
  func pauseWithoutDate() async throws {
    let response = AppleHTTPResponse(status: 429, retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(try await outcome(.response(response)) == .appleTrouble(.throttled(pause: nil)))
  }

  @Test(
    "Other statuses count as failures of Apple, whatever the body contains",
    arguments: [500, 502, 503, 404, 302, 204, 201])
  func otherStatus(status: Int) async throws {
    let outcome = try await outcome(.json(#"{"error":"invalid_grant"}"#, status: status))
    #expect(outcome == .appleTrouble(.status(status)))
  }

  @Test(
    "A body that is not a JSON object counts as a failure of Apple, with any status",
    arguments: [
      "", "<html>invalid_grant</html>", "null", "[]", "\"invalid_grant\"", "{", "{\"error\":\"invalid_grant\"",
      "{\"error\":\"invalid_grant\"}x", String(repeating: "[", count: 50_000),
      String(repeating: "{\"a\":", count: 10_000),
    ])
  func notJSON(body: String) async throws {
    for status in [200, 400] {
      guard case .appleTrouble(.malformed) = try await outcome(.json(body, status: status)) else {
        Issue.record("\(body.prefix(20)) with \(status)")
        continue
      }
    }
  }

  @Test("An endless response counts as a failure of Apple")
  func endless() async throws {
    let body = #"{"error":"invalid_grant","x":"\#(String(repeating: "x", count: 100_000))"}"#
    guard case .appleTrouble(.malformed) = try await outcome(.json(body, status: 400)) else {
      Issue.record("read to the end")
      return
    }
  }

  @Test("200 with an error object is not good standing")
  func successWithError() async throws {
    guard case .appleTrouble(.malformed) = try await outcome(.json(#"{"error":"invalid_grant"}"#)) else {
      Issue.record("taken for something else")
      return
    }
  }

  @Test("A missing response is distinguished from a request that was not sent")
  func noAnswer() async throws {
    #expect(
      try await outcome(.failure(.notSent(reason: "connection refused"))) == .notSent(reason: "connection refused"))
    let unanswered = try await outcome(.failure(.unanswered(reason: "no answer in 10 s")))
    #expect(unanswered == .appleTrouble(.unanswered(reason: "no answer in 10 s")))
  }
}
