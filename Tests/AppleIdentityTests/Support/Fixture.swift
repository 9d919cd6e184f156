import AppleIdentity
import Crypto
import FoundationEssentials
import Secrets

/// A registration, a fake Apple, a still clock, and the key that this Apple signs with.
struct Fixture {
  let clock = TestClock()
  let apple: FakeApple
  let appleKey: SigningKey
  /// The pair of the `.p8` file.
  let clientKey = P256.Signing.PrivateKey()
  let settings: AppleSettings
  let provider: AppleIdentityProvider

  init(
    appleKey: SigningKey = .elliptic("APPLEKEY01"), apple: FakeApple = FakeApple(),
    keySetPolicy: AppleKeySet.Policy = AppleKeySet.Policy(),
    changing change: (inout AppleSettings) -> Void = { _ in }
  ) throws {
    self.apple = apple
    self.appleKey = appleKey
    var settings = AppleSettings(
      clientID: "com.example.web", teamID: "DEF123GHIJ", keyID: "ABC123DEFG", privateKeyFile: "/nowhere.p8")
    change(&settings)
    self.settings = settings
    provider = try AppleIdentityProvider(
      settings: settings, key: ClientSecretKey(pem: clientKey.pemRepresentation.utf8), transport: apple.transport,
      clock: clock.read, keySetPolicy: keySetPolicy)
    apple.answer("/auth/keys", .json(jwks(try appleKey.jwk())))
  }

  /// Claims of an honest token, as JSON text by name.
  var honestClaims: [String: String] {
    let now = Int(clock.time.timeIntervalSince1970)
    return [
      "iss": #""https://appleid.apple.com""#, "aud": #""com.example.web""#, "sub": #""001234.abcdef.0789""#,
      "iat": "\(now)", "exp": "\(now + 600)", "nonce": #""n-1""#, "nonce_supported": "true",
      "email": #""tim@example.com""#, "email_verified": #""true""#,
    ]
  }

  /// A token of honest claims with some replaced; a claim replaced by `nil` is left out.
  func token(
    _ changes: [String: String?] = [:], header: [String: String?] = [:], key: SigningKey? = nil
  ) throws -> UnverifiedIdentityToken {
    let key = key ?? appleKey
    let fields = Self.json(["alg": "\"\(key.algorithm)\"", "kid": "\"\(key.identifier)\""], header)
    return UnverifiedIdentityToken(try Self.signed(header: fields, payload: Self.json(honestClaims, changes), by: key))
  }

  static func signed(header: String, payload: String, by key: SigningKey) throws -> String {
    let text = "\(base64url(header.utf8)).\(base64url(payload.utf8))"
    return "\(text).\(base64url(try key.signature(of: text)))"
  }

  static func json(_ members: [String: String], _ changes: [String: String?]) -> String {
    var changed = members
    for (name, value) in changes { changed[name] = value }
    return "{\(changed.map { "\"\($0.key)\":\($0.value)" }.sorted().joined(separator: ","))}"
  }

  func verify(
    _ token: UnverifiedIdentityToken, nonce: NonceExpectation = .web("n-1"), audiences: [String] = ["com.example.web"]
  ) async throws(IdentityTokenError) -> VerifiedIdentityToken {
    try await provider.verifier.verify(token, audiences: audiences, nonce: nonce)
  }

  /// The reason for which a token is refused; `nil` if it is taken.
  func rejection(
    _ token: UnverifiedIdentityToken, nonce: NonceExpectation = .web("n-1"), audiences: [String] = ["com.example.web"]
  ) async -> IdentityTokenError? {
    do throws(IdentityTokenError) {
      _ = try await verify(token, nonce: nonce, audiences: audiences)
      return nil
    } catch {
      return error
    }
  }
}
