import AppleIdentity
import Crypto
import HTTPTypes
import Secrets
import Testing
import WebFormats

@Suite("Secrets")
struct AppleSecretsTests {
  private func shown(_ value: some Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return
      "\(value) \(String(describing: value)) \(String(reflecting: value)) \(dumped) \([value]) \(Optional(value) as Any)"
  }

  @Test("Apple's secrets show nothing of themselves, however they are printed")
  func concealed() {
    #expect(!shown(AuthorizationCode("hunter2")).contains("hunter2"))
    #expect(!shown(RefreshToken("hunter2")).contains("hunter2"))
    #expect(!shown(ClientSecret("hunter2")).contains("hunter2"))
    #expect(!shown(UnverifiedIdentityToken("hunter2")).contains("hunter2"))
    #expect(RefreshToken("hunter2").exposed == "hunter2")
  }

  @Test("Apple's secrets show nothing inside of what carries them")
  func carried() throws {
    let form = try FormFields(parsing: Array("code=hunter2&id_token=hunter2&state=s".utf8))
    #expect(!shown(try AuthorizationResponse.parse(form)).contains("hunter2"))
    let request = AppleHTTPRequest(
      head: HTTPRequest(method: .post, scheme: "https", authority: "a.example", path: "/"), body: Array("hunter2".utf8))
    #expect(!shown(request).contains("hunter2") && !shown(request).contains("104, 117"))
    let response = AppleHTTPResponse(status: 200, body: Array("hunter2".utf8))
    #expect(!shown(response).contains("104, 117"))
  }

  @Test("The private key cannot be printed")
  func privateKey() throws {
    let key = P256.Signing.PrivateKey()
    let text = shown(try ClientSecretKey(pem: key.pemRepresentation.utf8))
    #expect(text.contains("[secret]"))
    #expect(!text.contains("ES256") && !text.contains("backing"))
  }

  @Test("Secrets are equal byte by byte only")
  func equality() {
    #expect(RefreshToken("é") != RefreshToken("e\u{301}"))
    #expect(RefreshToken("a") == RefreshToken("a"))
    #expect(Set([RefreshToken("a"), RefreshToken("a"), RefreshToken("b")]).count == 2)
  }
}
