import AppleIdentity
import Crypto
import Testing

@Suite("A registration with Apple")
struct AppleIdentityProviderTests {
  @Test("Another client, team, key or service makes other credentials; no other setting does")
  func credentials() throws {
    let fixture = try Fixture()
    func isSame(
      key: P256.Signing.PrivateKey? = nil, changing change: (inout AppleSettings) -> Void = { _ in }
    ) throws -> Bool {
      var settings = fixture.settings
      change(&settings)
      let other = try AppleIdentityProvider(
        settings: settings, key: ClientSecretKey(pem: (key ?? fixture.clientKey).pemRepresentation.utf8),
        transport: fixture.apple.transport, clock: fixture.clock.read)
      return fixture.provider.hasSameCredentials(as: other)
    }
    #expect(try isSame())
    #expect(try isSame { $0.scopes = [] })
    #expect(try isSame { $0.privateKeyFile = "/elsewhere.p8" })
    #expect(try isSame { $0.responseMode = .query })
    #expect(try !isSame(key: P256.Signing.PrivateKey()))
    #expect(try !isSame { $0.clientID = "com.example.other" })
    #expect(try !isSame { $0.nativeClientIDs = ["com.example.app"] })
    #expect(try !isSame { $0.teamID = "DEF123GHIK" })
    #expect(try !isSame { $0.keyID = "ABC123DEFH" })
    #expect(try !isSame { $0.baseURL = "http://127.0.0.1:9000" })
  }
}
