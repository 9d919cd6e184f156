import AppleIdentity
import CryptoExtras
import FoundationEssentials
import Testing

@Suite("One of Apple's keys")
struct AppleKeyTests {
  @Test(
    "A key that cannot be used does not spoil the others",
    arguments: [
      #"{"kty":"RSA","kid":"X","alg":"RS256","n":"!!!","e":"AQAB"}"#, #"{"kty":"RSA","kid":"X","alg":"RS256"}"#,
      #"{"kty":"EC","crv":"P-256","kid":"X","alg":"ES256","x":"AAAA","y":"AAAA"}"#,
      #"{"kty":"oct","kid":"X","k":"AAAA"}"#,
      #"{"kty":"OKP","crv":"Ed25519","kid":"X","x":"AAAA"}"#, #"{"kty":7,"kid":1e300}"#, #"{"kid":"X"}"#, "7", "null",
    ])
  func brokenNeighbour(jwk: String) async throws {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/keys", .json(jwks(jwk, try fixture.appleKey.jwk())))
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(await fixture.rejection(try fixture.token(header: ["kid": #""X""#])) == .unknownKey)
  }

  @Test("A point that is not on the curve is not a key")
  func pointOffTheCurve() async throws {
    let fixture = try Fixture()
    let zeros = base64url([UInt8](repeating: 1, count: 32))
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk(changing: ["x": zeros, "y": zeros]))))
    let rejection = await fixture.rejection(try fixture.token())
    #expect(rejection == .keysUnavailable(.unusable("not one of the keys can be used")))
  }

  @Test("RSA keys under 2048 bits are ignored, also when zeros make them look longer")
  func shortRSAKey() async throws {
    let short = SigningKey.rsa("SHORT00001", try .init(unsafeKeySize: .init(bitCount: 1024)))
    let fixture = try Fixture(appleKey: short)
    let rejection = await fixture.rejection(try fixture.token())
    #expect(rejection == .keysUnavailable(.unusable("not one of the keys can be used")))
    let padded = base64url([UInt8](repeating: 0, count: 200) + [UInt8](repeating: 0xFF, count: 128))
    let other = try Fixture(appleKey: short)
    other.apple.answer("/auth/keys", .json(jwks(try short.jwk(changing: ["n": padded]))))
    #expect(await other.rejection(try other.token()) != nil)
  }

  @Test(
    "A key for another use or another algorithm is ignored",
    arguments: [["use": "enc"], ["alg": "RS384"], ["alg": "PS256"]])
  func otherPurpose(change: [String: String]) async throws {
    let fixture = try Fixture(appleKey: .rsa("APPLERSA01", SigningKey.sharedRSA.get()))
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk(changing: change))))
    #expect(await fixture.rejection(try fixture.token()) != nil)
  }

  @Test(
    "An elliptic key on another curve, for another use or another algorithm is ignored",
    arguments: [["crv": "P-384"], ["crv": ""], ["use": "enc"], ["alg": "ES384"], ["alg": "RS256"], ["kty": "RSA"]])
  func otherEllipticKey(change: [String: String]) async throws {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk(changing: change))))
    let rejection = await fixture.rejection(try fixture.token())
    #expect(rejection == .keysUnavailable(.unusable("not one of the keys can be used")))
  }

  @Test("Of a very long list of keys the first 64 are read", arguments: [63, 64])
  func manyKeys(before count: Int) async throws {
    let fixture = try Fixture()
    let members = Array(repeating: "7", count: count) + [try fixture.appleKey.jwk()]
    fixture.apple.answer("/auth/keys", .json("{\"keys\":[\(members.joined(separator: ","))]}"))
    let expected: IdentityTokenError? =
      count < 64 ? nil : .keysUnavailable(.unusable("not one of the keys can be used"))
    #expect(await fixture.rejection(try fixture.token()) == expected)
  }

  @Test("A key without alg or use is for the algorithm of its type")
  func plainKey() async throws {
    for key in [SigningKey.elliptic("K1"), .rsa("K2", try SigningKey.sharedRSA.get())] {
      let fixture = try Fixture(appleKey: key)
      fixture.apple.answer("/auth/keys", .json(jwks(try key.jwk(changing: ["alg": "", "use": ""]))))
      #expect(await fixture.rejection(try fixture.token()) == nil)
    }
  }

  @Test("The first of two keys with one identifier counts")
  func sameIdentifier() async throws {
    let fixture = try Fixture()
    let other = SigningKey.elliptic(fixture.appleKey.identifier)
    fixture.apple.answer("/auth/keys", .json(jwks(try fixture.appleKey.jwk(), try other.jwk())))
    #expect(await fixture.rejection(try fixture.token()) == nil)
    #expect(await fixture.rejection(try fixture.token(key: other)) == .signatureInvalid)
  }
}
