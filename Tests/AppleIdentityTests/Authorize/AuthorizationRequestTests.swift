import AppleIdentity
import Testing

@Suite("The address that a browser signs in at")
struct AuthorizationRequestTests {
  private let redirectURI = "https://app.example.com/.auth/callback"

  private func url(changing change: (inout AppleSettings) -> Void = { _ in }) throws -> String {
    let fixture = try Fixture(changing: change)
    return fixture.provider.authorizationRequest(redirectURI: redirectURI, state: "s-1", nonce: "n-1").url
  }

  @Test("The authorization address has this exact form by default, with %20 for the space in scope")
  func complete() throws {
    #expect(
      try url()
        == "https://appleid.apple.com/auth/authorize?client_id=com.example.web"
        + "&redirect_uri=https%3A%2F%2Fapp.example.com%2F.auth%2Fcallback&response_type=code%20id_token"
        + "&response_mode=form_post&scope=name%20email&state=s-1&nonce=n-1")
  }

  @Test("The authorization address has no scope if none is configured, and the configured mode and type")
  func noScope() throws {
    let url = try url {
      $0.scopes = []
      $0.responseMode = .query
      $0.responseType = .code
    }
    #expect(!url.contains("scope="))
    #expect(url.contains("response_mode=query&") && url.contains("response_type=code&"))
  }

  @Test("The authorization address has its values encoded, so that none adds a parameter")
  func encoding() throws {
    let fixture = try Fixture()
    let url = fixture.provider.authorizationRequest(
      redirectURI: "https://a.example/?x=1&y=ü#f", state: "a b&c=d+e%20\r\n", nonce: "\"<>\""
    ).url
    #expect(url.hasSuffix("&state=a%20b%26c%3Dd%2Be%2520%0D%0A&nonce=%22%3C%3E%22"))
    #expect(url.contains("redirect_uri=https%3A%2F%2Fa.example%2F%3Fx%3D1%26y%3D%C3%BC%23f&"))
  }

  @Test("The authorization address is below base_url, with its path")
  func otherBase() throws {
    let url = try url { $0.baseURL = "http://127.0.0.1:9000/apple" }
    #expect(url.hasPrefix("http://127.0.0.1:9000/apple/auth/authorize?client_id="))
  }
}
