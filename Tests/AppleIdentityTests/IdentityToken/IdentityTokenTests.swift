import AppleIdentity
import FoundationEssentials
import Secrets
import Testing

@Suite("Verifying an identity token")
struct IdentityTokenTests {
  @Test("An honest ES256 token is accepted, with its subject, audience and expiry")
  func honestToken() async throws {
    let fixture = try Fixture()
    let token = try await fixture.verify(try fixture.token())
    #expect(token.subject == "001234.abcdef.0789")
    #expect(token.audience == "com.example.web")
    #expect(token.nonce == "n-1")
    #expect(token.issuedAt == fixture.clock.time)
    #expect(token.expires == fixture.clock.time.addingTimeInterval(600))
    #expect(token.claims.email == "tim@example.com")
    #expect(token.claims.isEmailVerified == true)
  }

  @Test("An honest RS256 token is taken, as Apple's published keys are RSA keys")
  func honestRSAToken() async throws {
    let fixture = try Fixture(appleKey: .rsa("APPLERSA01", SigningKey.sharedRSA.get()))
    #expect(await fixture.rejection(try fixture.token()) == nil)
  }

  @Test("A token whose claims were changed after signing is refused")
  func changedPayload() async throws {
    let fixture = try Fixture()
    let honest = try fixture.token().exposed.split(separator: ".")
    let other = try fixture.token(["sub": #""000000.someone.else""#]).exposed.split(separator: ".")
    let forged = "\(honest[0]).\(other[1]).\(honest[2])"
    #expect(await fixture.rejection(UnverifiedIdentityToken(forged)) == .signatureInvalid)
  }

  @Test("A token signed with another key under a known identifier is refused")
  func foreignKey() async throws {
    let fixture = try Fixture()
    let impostor = SigningKey.elliptic(fixture.appleKey.identifier)
    #expect(await fixture.rejection(try fixture.token(key: impostor)) == .signatureInvalid)
  }

  @Test("A token signed by one of Apple's keys under the identifier of another is refused")
  func swappedKeys() async throws {
    let fixture = try Fixture()
    let second = SigningKey.elliptic("APPLEKEY02")
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk(), try second.jwk())))
    let token = try fixture.token(header: ["kid": "\"APPLEKEY01\""], key: second)
    #expect(await fixture.rejection(token) == .signatureInvalid)
  }

  @Test("The algorithm none is refused, in any case, with or without a signature", arguments: ["none", "None", "NONE"])
  func algorithmNone(name: String) async throws {
    let fixture = try Fixture()
    let signed = try fixture.token(header: ["alg": "\"\(name)\""])
    #expect(await fixture.rejection(signed) == .algorithmRefused(name))
    let parts = signed.exposed.split(separator: ".")
    let bare = UnverifiedIdentityToken("\(parts[0]).\(parts[1]).")
    #expect(await fixture.rejection(bare) == .algorithmRefused(name))
  }

  @Test("HS256 keyed with the published key is refused, and no key is fetched for it")
  func publicKeyAsSecret() async throws {
    let fixture = try Fixture(appleKey: .rsa("APPLERSA01", SigningKey.sharedRSA.get()))
    let token = try hmacToken(fixture)
    #expect(await fixture.rejection(token) == .algorithmRefused("HS256"))
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
  }

  @Test(
    "Algorithms of the same key family are refused",
    arguments: ["RS384", "RS512", "PS256", "ES384", "EdDSA", "ES256K", "es256", "RS256 "])
  func otherAlgorithms(name: String) async throws {
    let fixture = try Fixture()
    let token = try fixture.token(header: ["alg": "\"\(name)\""])
    #expect(await fixture.rejection(token) == .algorithmRefused(name))
  }

  @Test("RS256 named for an ES256 key is refused: a key is for its own algorithm only")
  func algorithmOfAnotherKey() async throws {
    let fixture = try Fixture()
    let token = try fixture.token(header: ["alg": #""RS256""#])
    #expect(await fixture.rejection(token) == .algorithmRefused("RS256"))
  }

  @Test("A header that brings or points to a key is refused", arguments: ["jwk", "jku", "x5u", "x5c"])
  func keyInHeader(name: String) async throws {
    let fixture = try Fixture()
    let impostor = SigningKey.elliptic("EVILKEY001")
    let value = name == "jwk" ? try impostor.jwk() : name == "x5c" ? #"["MIIB"]"# : #""https://evil.example/keys""#
    let token = try fixture.token(header: [name: value], key: impostor)
    #expect(await fixture.rejection(token) == .foreignKeyOffered(name))
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
  }

  @Test("Critical extensions are refused, known or not", arguments: [#"["b64"]"#, #"["exp"]"#, "[]", "null", "1e300"])
  func criticalExtension(value: String) async throws {
    let fixture = try Fixture()
    let token = try fixture.token(header: ["crit": value])
    #expect(await fixture.rejection(token) == .criticalExtension)
  }

  @Test("An unencoded payload is refused, even if the header does not call it critical", arguments: ["false", "true"])
  func unencodedPayload(value: String) async throws {
    let fixture = try Fixture()
    let token = try fixture.token(header: ["b64": value])
    #expect(await fixture.rejection(token) == .criticalExtension)
  }

  @Test(
    "Huge numbers in a header end nothing but the token",
    arguments: ["1e300", "-1e300", "1e400", "9223372036854775808"])
  func hugeHeaderNumbers(value: String) async throws {
    let fixture = try Fixture()
    for name in ["typ", "zip"] {
      // No Double can hold 1e400, which makes the whole header unreadable.
      let expected: IdentityTokenError? = value == "1e400" ? .malformed("header") : nil
      #expect(await fixture.rejection(try fixture.token(header: [name: value])) == expected)
    }
    #expect(await fixture.rejection(try fixture.token(header: ["alg": value])) != nil)
    #expect(await fixture.rejection(try fixture.token(header: ["kid": value])) != nil)
    #expect(await fixture.rejection(try fixture.token()) == nil)
  }

  @Test("A key's identifier is 1 to 128 printable characters; a header without one is refused before a key is fetched")
  func keyIdentifier() async throws {
    let fixture = try Fixture()
    let long = String(repeating: "k", count: 128)
    for value in [nil, #""""#, #""a b""#, #""a\n""#, #""ü""#, "7", "null", "\"\(long)k\""] as [String?] {
      let token = try fixture.token(header: ["kid": value])
      #expect(await fixture.rejection(token) == .malformed("header"), "\(value ?? "none")")
    }
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
    #expect(await fixture.rejection(try fixture.token(header: ["kid": "\"\(long)\""])) == .unknownKey)
  }

  @Test(
    "Text that is not a token is refused before any key is fetched",
    arguments: [
      "", ".", "..", "...", "a.b", "a.b.c", "e30.e30.e30", "e30=.e30.e30", "!!!!.e30.AAAA", "e30.e30.AAAA.AAAA",
      "\u{0}\u{0}.\r\n.\u{202E}",
    ])
  func notAToken(text: String) async throws {
    let fixture = try Fixture()
    #expect(await fixture.rejection(UnverifiedIdentityToken(text)) != nil)
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
  }

  @Test("A token of more than 16 KiB is refused unread")
  func tooLong() async throws {
    let fixture = try Fixture()
    let token = try fixture.token(["x": "\"\(String(repeating: "x", count: 16_384))\""])
    #expect(await fixture.rejection(token) == .tooLong)
  }

  @Test("A header nested deep is refused")
  func deepHeader() async throws {
    let fixture = try Fixture()
    let deep = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
    #expect(await fixture.rejection(try fixture.token(header: ["x": deep])) == .malformed("header"))
  }

  @Test(
    "A payload that Apple signed but that is not an object is refused",
    arguments: ["[]", "1", "\"x\"", "", "{", "{\"a\":1e400}"])
  func payloadNotAnObject(payload: String) async throws {
    let fixture = try Fixture()
    let token = try Fixture.signed(
      header: #"{"alg":"ES256","kid":"APPLEKEY01"}"#, payload: payload, by: fixture.appleKey)
    #expect(await fixture.rejection(UnverifiedIdentityToken(token)) == .malformed("payload"))
  }

  @Test("A signature with padding, of the wrong length, or in the other alphabet is refused")
  func malformedSignature() async throws {
    let fixture = try Fixture()
    let token = try fixture.token().exposed
    let cut = token.split(separator: ".")
    for signature in ["", "AAAA", String(cut[2]) + "==", String(cut[2]) + "AAAA", "++++" + cut[2].dropFirst(4)] {
      let forged = UnverifiedIdentityToken("\(cut[0]).\(cut[1]).\(signature)")
      #expect(await fixture.rejection(forged) == .signatureInvalid, "\(signature)")
    }
  }

  private func hmacToken(_ fixture: Fixture) throws -> UnverifiedIdentityToken {
    let header = #"{"alg":"HS256","kid":"APPLERSA01"}"#
    let text = "\(base64url(header.utf8)).\(base64url(Fixture.json(fixture.honestClaims, [:]).utf8))"
    return UnverifiedIdentityToken("\(text).\(base64url(hmacSHA256(text, secret: fixture.appleKey.publishedForm)))")
  }
}
