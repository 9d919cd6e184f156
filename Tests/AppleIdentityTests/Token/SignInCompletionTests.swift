import AppleIdentity
import Crypto
import Secrets
import Testing
import WebFormats

@Suite("Completing a sign-in")
struct SignInCompletionTests {
  private let redirectURI = "https://app.example.com/.auth/callback"

  private func grant(_ token: UnverifiedIdentityToken?) throws -> AuthorizationResponse.Success {
    let field = token.map { "&id_token=\($0.exposed)" } ?? ""
    let form = try FormFields(parsing: Array("code=c.0.a&state=s\(field)".utf8))
    guard case .success(let grant) = try AuthorizationResponse.parse(form) else {
      throw FormFieldsError.badName
    }
    return grant
  }

  private func complete(
    _ fixture: Fixture, browser: UnverifiedIdentityToken?, exchanged: UnverifiedIdentityToken
  ) async throws -> ExchangeOutcome {
    fixture.apple.answer("/auth/token", .json(#"{"id_token":"\#(exchanged.exposed)","refresh_token":"r.1"}"#))
    return await fixture.provider.completeSignIn(try grant(browser), redirectURI: redirectURI, nonce: "n-1") { _ in }
  }

  private func exchanges(_ fixture: Fixture) -> Int {
    fixture.apple.requests(to: "/auth/token").count
  }

  @Test("Two tokens that agree sign the user in, with the claims of the one from the exchange")
  func agreement() async throws {
    let fixture = try Fixture()
    let hash = base64url(Array(SHA256.hash(data: Array("c.0.a".utf8))).prefix(16))
    let outcome = try await complete(
      fixture, browser: try fixture.token(["c_hash": "\"\(hash)\"", "email": #""old@example.com""#]),
      exchanged: try fixture.token())
    guard case .granted(let granted) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(granted.identityToken.claims.email == "tim@example.com")
    #expect(granted.refreshToken == RefreshToken("r.1"))
    let form = try FormFields(parsing: try #require(fixture.apple.requests(to: "/auth/token").first).body)
    #expect(try form.text(of: "redirect_uri") == redirectURI)
  }

  @Test("A browser's token that is forged, replayed or missing stops everything before the code is sent")
  func badBrowserToken() async throws {
    let fixture = try Fixture()
    let good = try fixture.token()
    let forged = try fixture.token(key: SigningKey.elliptic(fixture.appleKey.identifier))
    #expect(try await complete(fixture, browser: forged, exchanged: good) == .unverified(.signatureInvalid))
    let replayed = try fixture.token(["nonce": #""n-0""#])
    #expect(try await complete(fixture, browser: replayed, exchanged: good) == .unverified(.nonceMismatch))
    #expect(try await complete(fixture, browser: nil, exchanged: good) == .unverified(.absent))
    #expect(exchanges(fixture) == 0)
  }

  @Test("Another user's code together with an honest token signs no user in")
  func foreignCode() async throws {
    let fixture = try Fixture()
    let outcome = try await complete(
      fixture, browser: try fixture.token(), exchanged: try fixture.token(["sub": #""000000.other""#]))
    #expect(outcome == .mismatch(.subject))
  }

  @Test("The browser's token of another code stops everything before the code is sent")
  func otherCode() async throws {
    let fixture = try Fixture()
    let foreign = try fixture.token(["c_hash": #""AAAAAAAAAAAAAAAAAAAAAA""#])
    let exchanged = try fixture.token()
    fixture.apple.answer("/auth/token", .json(#"{"id_token":"\#(exchanged.exposed)"}"#))
    var hasBegun = false
    let outcome = await fixture.provider.completeSignIn(
      try grant(foreign), redirectURI: redirectURI, nonce: "n-1", beforeExchange: { _ in hasBegun = true })
    #expect(outcome == .unverified(.codeMismatch) && !hasBegun)
    #expect(exchanges(fixture) == 0)
  }

  @Test("An exchanged token of another code signs no user in")
  func exchangedTokenOfOtherCode() async throws {
    let fixture = try Fixture()
    let foreign = try fixture.token(["c_hash": #""AAAAAAAAAAAAAAAAAAAAAA""#])
    let outcome = try await complete(fixture, browser: try fixture.token(), exchanged: foreign)
    #expect(outcome == .mismatch(.codeHash))
  }

  @Test("A native app's token of another code stops everything before the code is sent")
  func otherCodeOfNativeApp() async throws {
    let fixture = try Fixture { $0.nativeClientIDs = ["com.example.app"] }
    let foreign = try fixture.token([
      "aud": #""com.example.app""#, "nonce": "\"\(nonceHash)\"", "c_hash": #""AAAAAAAAAAAAAAAAAAAAAA""#,
    ])
    let outcome = await fixture.provider.completeNativeSignIn(try request(foreign), beforeExchange: { _ in })
    #expect(outcome == .unverified(.codeMismatch))
    #expect(exchanges(fixture) == 0)
  }

  @Test("A response of type code needs no token, but a token in it is verified")
  func codeOnly() async throws {
    let fixture = try Fixture { $0.responseType = .code }
    guard case .granted = try await complete(fixture, browser: nil, exchanged: try fixture.token()) else {
      Issue.record("not granted")
      return
    }
    let stray = try fixture.token(["aud": #""com.other""#])
    #expect(try await complete(fixture, browser: stray, exchanged: try fixture.token()) == .unverified(.wrongAudience))
  }

  @Test("A native app's code is exchanged for the app that the token names, without a redirect URI")
  func native() async throws {
    let fixture = try Fixture { $0.nativeClientIDs = ["com.example.app", "com.example.tv"] }
    let token = try fixture.token(["aud": #""com.example.tv""#, "nonce": "\"\(nonceHash)\""])
    fixture.apple.answer("/auth/token", .json(#"{"id_token":"\#(token.exposed)"}"#))
    let outcome = await fixture.provider.completeNativeSignIn(
      try request(token), beforeExchange: { _ in })
    guard case .granted(let granted) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(granted.identityToken.audience == "com.example.tv")
    let form = try FormFields(parsing: try #require(fixture.apple.requests(to: "/auth/token").first).body)
    #expect(try form.text(of: "client_id") == "com.example.tv")
    #expect(try form.text(of: "redirect_uri") == nil)
  }

  @Test("A web token is not accepted from a native app, and no token is without native client IDs")
  func nativeAudience() async throws {
    for clientIDs in [["com.example.app"], []] {
      let fixture = try Fixture { $0.nativeClientIDs = clientIDs }
      let outcome = await fixture.provider.completeNativeSignIn(
        try request(try fixture.token()), beforeExchange: { _ in })
      #expect(outcome == .unverified(.wrongAudience))
      #expect(exchanges(fixture) == 0)
    }
  }

  @Test("The token of a native app is not accepted from a browser, and its code is not sent")
  func nativeTokenFromBrowser() async throws {
    let fixture = try Fixture { $0.nativeClientIDs = ["com.example.app"] }
    let token = try fixture.token(["aud": #""com.example.app""#])
    #expect(try await complete(fixture, browser: token, exchanged: token) == .unverified(.wrongAudience))
    #expect(exchanges(fixture) == 0)
  }

  /// The request of a native app with this token.
  private func request(_ token: UnverifiedIdentityToken) throws -> NativeSignInRequest {
    let json = #"{"identity_token":"\#(token.exposed)","authorization_code":"c","nonce":"n-1"}"#
    return try NativeSignInRequest(json: json.utf8)
  }

  /// printf n-1 | sha256sum
  private let nonceHash = "51aeea8ffa05d2620d35c87463465885e77df13171d5708746df1a9f36d47f35"
}
