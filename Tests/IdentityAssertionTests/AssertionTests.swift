import Crypto
import Foundation
import Testing

@testable import IdentityAssertion

// Keys: P-256 in PKCS #8 and SEC 1, what is not a key, what a key shows of itself
// JWK sets: the first signs, all are published, twins once
// Assertions: claims, times, audience, signature; once a minute for each session, again when something changed

@Suite("Signed assertions")
struct AssertionTests {
  private static let now = Date(timeIntervalSince1970: 1_790_000_000)

  private static func key() throws -> (AssertionKey, P256.Signing.PublicKey) {
    let content = AssertionKey.newFileContent()
    let text = try #require(String(bytes: content, encoding: .utf8))
    return (
      try AssertionKey(pem: content, name: "a.pem"), try P256.Signing.PrivateKey(pemRepresentation: text).publicKey
    )
  }

  private static func statement(_ session: String = "s1", email: String = "ada@example.com") -> AssertionStatement {
    AssertionStatement(
      session: session, subject: "001.ada", claims: ["email": .text(email), "email_verified": .truth(true)])
  }

  private static func mint(_ key: AssertionKey, lifetime: Duration = .seconds(300)) throws -> AssertionMint {
    let keys = try #require(AssertionKeySet([key]))
    return AssertionMint(
      signer: AssertionSigner(keys: keys, issuer: "https://app.example.com", audience: "orders"), lifetime: lifetime)
  }

  private static func decode(_ part: Substring) throws -> Data {
    let text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    return try #require(Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)))
  }

  @Test("An assertion has issuer, audience, subject and expiry, and its signature is the key's")
  func claims() async throws {
    let (key, publicKey) = try Self.key()
    let signed = try await Self.mint(key).assertion(of: Self.statement(), now: Self.now)
    let parts = signed.token.split(separator: ".")
    try #require(parts.count == 3)
    let header = try #require(
      JSONSerialization.jsonObject(with: try Self.decode(parts[0])) as? [String: String])
    #expect(header["alg"] == "ES256")
    #expect(header["kid"] == key.identifier)
    let claims = try #require(JSONSerialization.jsonObject(with: try Self.decode(parts[1])) as? [String: Any])
    #expect(
      NSDictionary(dictionary: claims) == [
        "iss": "https://app.example.com", "aud": "orders", "sub": "001.ada", "sid": "s1", "iat": 1_790_000_000,
        "exp": 1_790_000_300, "email": "ada@example.com", "email_verified": true,
      ])
    #expect(signed.expires == Self.now.addingTimeInterval(300))
    let signature = try P256.Signing.ECDSASignature(rawRepresentation: try Self.decode(parts[2]))
    #expect(publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test("No name of a claim replaces issuer, subject and expiry")
  func registeredClaimsWin() async throws {
    var statement = Self.statement()
    for name in AssertionSettings.registeredClaims { statement.claims[name] = .text("forged") }
    let signed = try await Self.mint(Self.key().0).assertion(of: statement, now: Self.now)
    let claims = try #require(
      JSONSerialization.jsonObject(with: Self.decode(signed.token.split(separator: ".")[1])) as? [String: Any])
    for name in ["iss", "aud", "sub", "sid", "iat", "exp"] { #expect(claims[name] as? String != "forged") }
  }

  @Test("Within a minute a session gets the same assertion, then another")
  func onceAMinute() async throws {
    let mint = try Self.mint(Self.key().0)
    let first = try await mint.assertion(of: Self.statement("s2"), now: Self.now)
    let again = try await mint.assertion(of: Self.statement("s2"), now: Self.now.addingTimeInterval(59.9))
    let later = try await mint.assertion(of: Self.statement("s2"), now: Self.now.addingTimeInterval(60))
    #expect(first == again)
    #expect(later.made == Self.now.addingTimeInterval(60))
  }

  @Test("All callers that ask at once for one session get the same assertion")
  func oneForAll() async throws {
    let mint = try Self.mint(Self.key().0)
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<200 {
        group.addTask { try await mint.assertion(of: Self.statement(), now: Self.now).token }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(tokens.count == 1)
  }

  @Test("A change of what an assertion says makes a new one at once, and so does a clock that was set back")
  func changes() async throws {
    let mint = try Self.mint(Self.key().0)
    let first = try await mint.assertion(of: Self.statement(), now: Self.now)
    let changed = try await mint.assertion(of: Self.statement(email: "new@example.com"), now: Self.now)
    #expect(first.token != changed.token)
    let earlier = try await mint.assertion(
      of: Self.statement(email: "new@example.com"), now: Self.now.addingTimeInterval(-600))
    #expect(earlier.made == Self.now.addingTimeInterval(-600))
  }

  @Test("The first key signs; all are published, each once, and nothing private with them")
  func keySet() throws {
    let (first, firstPublic) = try Self.key()
    let (second, _) = try Self.key()
    let keys = try #require(AssertionKeySet([first, second, first]))
    #expect(keys.signing.identifier == first.identifier)
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(keys.publicDocument)) as? [String: [[String: String]]])
    let published = try #require(document["keys"])
    #expect(published.map { $0["kid"] } == [first.identifier, second.identifier])
    #expect(
      published.allSatisfy { $0["kty"] == "EC" && $0["crv"] == "P-256" && $0["alg"] == "ES256" && $0["use"] == "sig" })
    #expect(published.allSatisfy { Set($0.keys) == ["kid", "kty", "crv", "alg", "use", "x", "y"] })
    let x = try Self.decode(try #require(published[0]["x"])[...])
    let y = try Self.decode(try #require(published[0]["y"])[...])
    #expect(Data([4]) + x + y == firstPublic.x963Representation)
    #expect(AssertionKeySet([]) == nil)
  }

  @Test("The identifier of a key is its thumbprint (RFC 7638)")
  func thumbprint() throws {
    let (key, publicKey) = try Self.key()
    func encode(_ bytes: some Sequence<UInt8>) -> String {
      Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
    let point = publicKey.rawRepresentation
    let members = #"{"crv":"P-256","kty":"EC","x":"\#(encode(point.prefix(32)))","y":"\#(encode(point.suffix(32)))"}"#
    #expect(key.identifier == encode(SHA256.hash(data: Data(members.utf8))))
  }

  @Test("Times are whole seconds, rounded down, and those that cannot be written are refused")
  func times() throws {
    let signer = AssertionSigner(
      keys: try #require(AssertionKeySet([Self.key().0])), issuer: "https://app.example.com", audience: "orders")
    let signed = try signer.sign([:], now: Self.now.addingTimeInterval(0.9), lifetime: .seconds(120))
    let claims = try #require(
      JSONSerialization.jsonObject(with: Self.decode(signed.token.split(separator: ".")[1])) as? [String: Any])
    #expect(claims["iat"] as? Int == 1_790_000_000 && claims["exp"] as? Int == 1_790_000_120)
    #expect(signed.expires == Self.now.addingTimeInterval(120))
    for lifetime in [Duration.zero, .seconds(-1)] {
      #expect(throws: AssertionSigningError.clockOutOfRange) { try signer.sign([:], now: Self.now, lifetime: lifetime) }
    }
    for seconds in [Double.infinity, -.infinity, .nan, 1e300] {
      #expect(throws: AssertionSigningError.clockOutOfRange, "\(seconds)") {
        try signer.sign([:], now: Date(timeIntervalSince1970: seconds), lifetime: .seconds(120))
      }
    }
  }

  @Test("A signer with another audience keeps the issuer and the keys")
  func otherAudience() throws {
    let signer = AssertionSigner(
      keys: try #require(AssertionKeySet([Self.key().0])), issuer: "https://app.example.com", audience: "orders")
    let other = signer.addressing("accounts")
    #expect(other.publicDocument == signer.publicDocument)
    let signed = try other.sign(["aud": .text("orders")], now: Self.now, lifetime: .seconds(120))
    let claims = try #require(
      JSONSerialization.jsonObject(with: Self.decode(signed.token.split(separator: ".")[1])) as? [String: Any])
    #expect(claims["aud"] as? String == "accounts" && claims["iss"] as? String == "https://app.example.com")
  }

  @Test(
    "A file that is not a P-256 private key is refused with what to do",
    arguments: [
      "", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
      P384.Signing.PrivateKey().pemRepresentation, P256.Signing.PrivateKey().publicKey.pemRepresentation,
    ])
  func noKey(text: String) {
    #expect(throws: AssertionKeyError(name: "a.pem")) { try AssertionKey(pem: Array(text.utf8), name: "a.pem") }
  }

  @Test("A key prints nothing but its public name")
  func printsNothing() throws {
    let (key, _) = try Self.key()
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] {
      #expect(!text.contains("BEGIN") && !text.lowercased().contains("private"))
    }
  }
}
