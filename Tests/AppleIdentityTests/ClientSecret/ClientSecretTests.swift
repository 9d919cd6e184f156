import AppleIdentity
import Crypto
import FoundationEssentials
import Secrets
import Testing

@Suite("A client secret")
struct ClientSecretTests {
  @Test("A client secret is signed with the .p8 key, names team, client, key and Apple, and lives for minutes")
  func contents() async throws {
    let fixture = try Fixture()
    let secret = try fixture.provider.mint.secret(for: "com.example.web")
    let claims = try secretClaims(of: secret)
    let now = fixture.clock.time.timeIntervalSince1970
    #expect(claims.issuer == "DEF123GHIJ")
    #expect(claims.subject == "com.example.web")
    #expect(claims.audience == "https://appleid.apple.com")
    #expect(claims.issuedAt == now - 60)
    #expect(claims.expires == now + 600)

    let parts = secret.exposed.split(separator: ".")
    let header = try JSONDecoder().decode([String: String].self, from: try bytes(ofBase64URL: parts[0]))
    #expect(header["alg"] == "ES256")
    #expect(header["kid"] == "ABC123DEFG")
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: try bytes(ofBase64URL: parts[2]))
    let signed = Array("\(parts[0]).\(parts[1])".utf8)
    #expect(fixture.clientKey.publicKey.isValidSignature(signature, for: SHA256.hash(data: signed)))
  }

  @Test("A client secret has Apple as its audience also when base_url is another site")
  func audience() async throws {
    let fixture = try Fixture { $0.baseURL = "http://127.0.0.1:9000" }
    let secret = try fixture.provider.mint.secret(for: "com.example.web")
    #expect(try secretClaims(of: secret).audience == "https://appleid.apple.com")
  }

  @Test("A client secret is used until two minutes before its end, and then replaced")
  func reuse() async throws {
    let fixture = try Fixture()
    let mint = fixture.provider.mint
    let first = try mint.secret(for: "com.example.web")
    fixture.clock.advance(480)
    #expect(try mint.secret(for: "com.example.web") == first)
    fixture.clock.advance(1)
    let second = try mint.secret(for: "com.example.web")
    #expect(second != first)
    #expect(try secretClaims(of: second).expires == fixture.clock.time.timeIntervalSince1970 + 600)
  }

  @Test("A client secret is replaced when the clock was set back, because it would be from the future")
  func clockSetBack() async throws {
    let fixture = try Fixture()
    _ = try fixture.provider.mint.secret(for: "com.example.web")
    fixture.clock.advance(-3600)
    let secret = try fixture.provider.mint.secret(for: "com.example.web")
    #expect(try secretClaims(of: secret).issuedAt == fixture.clock.time.timeIntervalSince1970 - 60)
  }

  @Test("Each client ID has its own client secret")
  func separateClients() async throws {
    let fixture = try Fixture()
    let web = try fixture.provider.mint.secret(for: "com.example.web")
    let app = try fixture.provider.mint.secret(for: "com.example.app")
    #expect(try secretClaims(of: web).subject == "com.example.web")
    #expect(try secretClaims(of: app).subject == "com.example.app")
  }

  @Test("A client secret cannot be made at an impossible time, which is reported without a trap")
  func impossibleClock() async throws {
    let mint = ClientSecretMint(
      teamID: "DEF123GHIJ", keyID: "ABC123DEFG",
      key: try ClientSecretKey(pem: P256.Signing.PrivateKey().pemRepresentation.utf8),
      clock: { Date(timeIntervalSince1970: 1e300) })
    #expect(throws: ClientSecretMintError.clockOutOfRange) { try mint.secret(for: "com.example.web") }
  }
}
