import AppleIdentity
import FoundationEssentials
import Secrets
import Testing

@Suite("Judging the claims of an identity token")
struct IdentityTokenClaimTests {
  @Test(
    "Only Apple's own issuer is taken, byte for byte",
    arguments: [
      "https://appleid.apple.com/", "http://appleid.apple.com", "https://appleid.apple.com.evil.example",
      "https://APPLEID.apple.com", "https://account.apple.com", "",
    ])
  func wrongIssuer(issuer: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(["iss": "\"\(issuer)\""])) == .wrongIssuer)
  }

  @Test("The issuer stays Apple's when base_url points elsewhere")
  func issuerWithOtherBase() async throws {
    let fixture = try Fixture { $0.baseURL = "http://127.0.0.1:9000" }
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(await fixture.rejection(try fixture.token(["iss": #""http://127.0.0.1:9000""#])) == .wrongIssuer)
  }

  @Test("An audience in a list is accepted if the list has no other entry")
  func audienceList() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(["aud": #"["com.example.web"]"#])) == nil)
    let shared = try fixture.token(["aud": #"["com.example.web","com.evil.app"]"#])
    #expect(await fixture.rejection(shared) == .wrongAudience)
    #expect(await fixture.rejection(try fixture.token(["aud": "[]"])) == .wrongAudience)
    #expect(await fixture.rejection(try fixture.token(["aud": #"["com.example.web",1]"#])) == .malformedClaim("aud"))
  }

  @Test(
    "A token for another application is refused",
    arguments: ["com.example.app", "COM.example.web", "com.example.web ", "com.example.we", ""])
  func wrongAudience(audience: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(["aud": "\"\(audience)\""])) == .wrongAudience)
  }

  @Test("A token for one of several client IDs says for which")
  func severalAudiences() async throws {
    let fixture = try Fixture()
    let token = try fixture.token(["aud": #""com.example.app""#])
    let verified = try await fixture.verify(token, audiences: ["com.example.web", "com.example.app"])
    #expect(verified.audience == "com.example.app")
    #expect(await fixture.rejection(token, audiences: []) == .wrongAudience)
  }

  @Test("A token is good up to the second before its end, and not at its end")
  func expiry() async throws {
    let fixture = try Fixture()
    let token = try fixture.token()
    fixture.clock.advance(599)
    #expect(await fixture.rejection(token) == nil)
    fixture.clock.advance(1)
    #expect(await fixture.rejection(token) == .expired)
  }

  @Test("A token issued a minute ahead is taken, one issued later is not")
  func issuedInFuture() async throws {
    let fixture = try Fixture()
    let now = Int(fixture.clock.time.timeIntervalSince1970)
    #expect(await fixture.rejection(try fixture.token(["iat": "\(now + 60)"])) == nil)
    #expect(await fixture.rejection(try fixture.token(["iat": "\(now + 61)"])) == .issuedInFuture)
  }

  @Test(
    "Times that are not times are refused without harm",
    arguments: [
      #""123""#, #""9999999999""#, "1e300", "-1e300", "-1", "0", "99999999999999999999999", "true", "[]", "{}",
      "253402300800",
    ])
  func absurdTimes(value: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(["exp": value])) == .malformedClaim("exp"))
    #expect(await fixture.rejection(try fixture.token(["iat": value])) == .malformedClaim("iat"))
  }

  @Test("A time with a fraction is a time")
  func fractionalTime() async throws {
    let fixture = try Fixture()
    let now = Int(fixture.clock.time.timeIntervalSince1970)
    let token = try await fixture.verify(try fixture.token(["exp": "\(now).5", "iat": "\(now)e0"]))
    #expect(token.expires == fixture.clock.time.addingTimeInterval(0.5))
  }

  @Test("An identity token without a required claim is refused", arguments: ["iss", "aud", "exp", "iat", "sub"])
  func missingClaim(name: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token([name: nil])) == .missingClaim(name))
    #expect(await fixture.rejection(try fixture.token([name: "null"])) == .missingClaim(name))
  }

  @Test(
    "A subject that cannot be one is refused",
    arguments: [
      #""""#, #"" ""#, #""a b""#, #""a\r\nb""#, #""ü""#, "1", "[]", "\"\(String(repeating: "x", count: 256))\"",
    ])
  func absurdSubject(value: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(["sub": value])) == .malformedClaim("sub"))
  }

  @Test("A nonce that is there must match, whether or not the platform supports it")
  func nonceMismatch() async throws {
    let fixture = try Fixture()
    for supported in ["true", "false", #""true""#, nil] as [String?] {
      let token = try fixture.token(["nonce": #""n-2""#, "nonce_supported": supported])
      #expect(await fixture.rejection(token) == .nonceMismatch)
    }
    #expect(await fixture.rejection(try fixture.token(["nonce": #""""#])) == .nonceMismatch)
    #expect(await fixture.rejection(try fixture.token(["nonce": "1"])) == .malformedClaim("nonce"))
    let empty = try fixture.token(["nonce": #""""#])
    for nonce in [NonceExpectation.web(""), .native("")] {
      #expect(await fixture.rejection(empty, nonce: nonce) == .nonceMismatch, "an empty nonce proves nothing")
    }
  }

  @Test("A missing nonce is refused if the token says that nonces are supported, and passed over if not")
  func nonceMissing() async throws {
    let fixture = try Fixture()
    for supported in ["true", #""true""#] {
      let token = try fixture.token(["nonce": nil, "nonce_supported": supported])
      #expect(await fixture.rejection(token) == .nonceMissing)
    }
    for supported in ["false", #""false""#, nil] as [String?] {
      let token = try fixture.token(["nonce": nil, "nonce_supported": supported])
      #expect(await fixture.rejection(token) == nil)
    }
  }

  @Test("A native app's nonce may come back raw or as its SHA-256 in hexadecimal; a browser's only raw")
  func nativeNonce() async throws {
    let fixture = try Fixture()
    // printf n-1 | sha256sum
    let hash = "51aeea8ffa05d2620d35c87463465885e77df13171d5708746df1a9f36d47f35"
    let hashed = try fixture.token(["nonce": "\"\(hash)\""])
    #expect(await fixture.rejection(hashed, nonce: .native("n-1")) == nil)
    #expect(await fixture.rejection(hashed, nonce: .web("n-1")) == .nonceMismatch)
    // A holder of the token can read the hash: it proves nothing by itself.
    #expect(await fixture.rejection(hashed, nonce: .native(hash)) == .nonceMismatch)
    #expect(
      await fixture.rejection(try fixture.token(["nonce": "\"\(hash.uppercased())\""]), nonce: .native("n-1"))
        == .nonceMismatch)
    #expect(await fixture.rejection(try fixture.token(), nonce: .native("n-1")) == nil)
    #expect(await fixture.rejection(try fixture.token(), nonce: .native("n-2")) == .nonceMismatch)
  }

  @Test("The subject that a token claims can be read without proof, and nothing but a subject")
  func claimedSubject() async throws {
    let fixture = try Fixture()
    let verified = try await fixture.verify(try fixture.token())
    #expect(try fixture.token().claimedSubject == verified.subject)
    #expect(try fixture.token(["sub": "\"two words\""]).claimedSubject == nil)
    for text in ["", "a.b", "a.b.c", "a.e30.c", String(repeating: "a", count: 100_000)] {
      #expect(UnverifiedIdentityToken(text).claimedSubject == nil)
    }
  }

  @Test("A refresh compares no nonce")
  func noExpectation() async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(try fixture.token(), nonce: .none) == nil)
    #expect(await fixture.rejection(try fixture.token(["nonce": nil]), nonce: .none) == nil)
  }
}
