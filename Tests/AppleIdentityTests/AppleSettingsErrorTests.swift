import AppleIdentity
import Testing

@Suite("Mistakes in the registration")
struct AppleSettingsErrorTests {
  private let redirectURI = "https://app.example.com/.auth/callback"

  private func problems(
    redirectURI: String? = nil, _ change: (inout AppleSettings) -> Void = { _ in }
  ) -> [AppleSettingsError] {
    var settings = AppleSettings(
      clientID: "com.example.web", teamID: "DEF123GHIJ", keyID: "ABC123DEFG", privateKeyFile: "/key.p8")
    change(&settings)
    return AppleSettings.problems(of: settings, redirectURI: redirectURI ?? self.redirectURI)
  }

  private func keys(redirectURI: String? = nil, _ change: (inout AppleSettings) -> Void = { _ in }) -> [String] {
    problems(redirectURI: redirectURI, change).map(\.key)
  }

  @Test("A correct registration has no mistakes")
  func none() {
    #expect(problems().isEmpty)
    #expect(problems { $0.nativeClientIDs = ["com.example.app", "com.example.app.clip"] }.isEmpty)
  }

  @Test(
    "Team and key identifiers have ten upper-case letters and digits",
    arguments: ["", "DEF123GHI", "DEF123GHIJK", "def123ghij", "DEF-23GHIJ", "ＤEF123GHI", "DEF123GHI\n"])
  func identifiers(text: String) {
    #expect(keys { $0.teamID = text } == ["apple.team_id"])
    #expect(keys { $0.keyID = text } == ["apple.key_id"])
  }

  @Test(
    "A client ID is an identifier without the Team ID",
    arguments: ["", "com.exämple", "com example", "DEF123GHIJ.com.example", "com_example"])
  func clientID(text: String) {
    #expect(keys { $0.clientID = text } == ["apple.client_id"])
    #expect(keys { $0.nativeClientIDs = [text] } == ["apple.native_client_ids"])
  }

  @Test(
    "Apple is recognized in every spelling of its origin, and nothing else is",
    arguments: [
      ("https://appleid.apple.com", true), ("https://appleid.apple.com:443", true), ("https://AppleID.Apple.com", true),
      ("https://appleid.apple.com/prefix", true),
      ("https://appleid.apple.com.example", false), ("https://xappleid.apple.com", false),
      ("http://127.0.0.1:8090", false), ("appleid.apple.com", false),
    ])
  func apple(origin: String, isApple: Bool) {
    var settings = AppleSettings(clientID: "", teamID: "", keyID: "", privateKeyFile: "")
    settings.baseURL = origin
    #expect(settings.isApple == isApple)
  }

  @Test("A client ID is listed once")
  func repeatedClientID() {
    #expect(keys { $0.nativeClientIDs = ["a.b", "a.b"] } == ["apple.native_client_ids"])
    #expect(keys { $0.nativeClientIDs = ["com.example.web"] } == ["apple.native_client_ids"])
  }

  @Test("Settings with a scope have the response mode form_post")
  func scopeAndMode() {
    for mode in [AppleSettings.ResponseMode.query, .fragment] {
      let change = { (settings: inout AppleSettings) in
        settings.responseMode = mode
        settings.responseType = .code
      }
      #expect(keys(change) == ["apple.response_mode"])
      #expect(
        keys {
          change(&$0)
          $0.scopes = []
        }.isEmpty)
    }
  }

  @Test("An identity token does not come in a query")
  func tokenAndMode() {
    let change = { (settings: inout AppleSettings) in settings.scopes = [] }
    #expect(
      keys {
        change(&$0)
        $0.responseMode = .query
      } == ["apple.response_mode"])
    #expect(
      keys {
        change(&$0)
        $0.responseMode = .fragment
      }.isEmpty)
  }

  @Test("A scope is listed once")
  func repeatedScope() {
    #expect(keys { $0.scopes = [.email, .email] } == ["apple.scopes"])
  }

  @Test(
    "base_url is an https: origin, or http: on loopback",
    arguments: [
      "", "appleid.apple.com", "ftp://appleid.apple.com", "http://appleid.apple.com", "https://", "https://a.example/",
      "https://u@a.example", "https://a.example?x", "https://a.example#x", "https://a example",
      "http://127.0.0.1.evil.example",
      "http://localhost.evil.example", "http://127.evil.example", "https://a.example\r\nX: y", "https://:443",
      "https://a:", "https://a:99999", "https://a:0", "https://a:+1",
      "https://a:1:2", "https://[::1", "https://[]", "https://[g]", "https://[::1]x",
    ])
  func badBase(text: String) {
    #expect(keys { $0.baseURL = text } == ["apple.base_url"])
  }

  @Test(
    "The redirect URI may be anything on loopback, because the simulator accepts it",
    arguments: [
      "http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000", "https://127.0.0.1/apple",
      "http://127.8.9.10",
    ])
  func loopbackBase(text: String) {
    #expect(keys(redirectURI: "http://localhost:8080/.auth/callback") { $0.baseURL = text }.isEmpty)
  }

  @Test(
    "Apple takes a redirect URI with https and a domain name, and nothing else",
    arguments: [
      "http://app.example.com/cb", "https://localhost/cb", "https://LOCALHOST:8443/cb", "https://app.localhost/cb",
      "https://127.0.0.1/cb", "https://10.1.2.3:8443/cb", "https://[::1]/cb", "https://[2001:db8::1]:8443/cb",
      "https://0x7f.1/cb", "https://2130706433/cb", "https://1.2.3/cb", "https://intranet/cb", "https://-a.example/cb",
      "https://a..example/cb", "https://a.example./cb", "https://u@a.example/cb", "https:///cb",
      "https://a.example/cb#f",
      "https://a.example/c b", "https://ä.example/cb", "cb", "",
    ])
  func badRedirect(text: String) {
    #expect(keys(redirectURI: text) == ["public_url"], "\(text)")
  }

  @Test(
    "Apple takes any domain and any port",
    arguments: [
      "https://a.example:8443/cb", "https://A.Example/cb?x=1", "https://xn--4ca.example/", "https://1a.2b.c3/cb",
    ])
  func goodRedirect(text: String) {
    #expect(keys(redirectURI: text).isEmpty)
  }

  @Test("All mistakes are reported at once, each with a reason and a remedy")
  func allAtOnce() {
    let problems = problems(redirectURI: "http://localhost/") {
      $0.teamID = ""
      $0.keyID = ""
      $0.clientID = ""
      $0.baseURL = "x"
      $0.responseMode = .query
    }
    #expect(
      problems.map(\.key) == [
        "apple.team_id", "apple.key_id", "apple.client_id", "apple.response_mode", "apple.response_mode",
        "apple.base_url", "public_url",
      ])
    #expect(problems.allSatisfy { !$0.problem.isEmpty && !$0.remedy.isEmpty })
  }

  @Test("A base_url that cannot be spoken to makes no provider")
  func noProvider() {
    #expect(throws: AppleSettingsError.self) { try Fixture { $0.baseURL = "https://a.example/\r\n" } }
  }
}
