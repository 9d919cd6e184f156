import Testing

@testable import AppleSimulator

@Suite("The rules of an authorization request")
struct SimulatedAuthorizationRequestTests {
  private let clients = [
    "com.example.web": SimulatedClient(
      clientID: "com.example.web", teamID: "DEF123GHIJ", keys: [:],
      redirectURIs: ["https://app.example.com/callback", "http://localhost:8080/callback"]),
    "com.example.app": SimulatedClient(
      clientID: "com.example.app", kind: .native, teamID: "DEF123GHIJ", keys: [:]),
  ]

  private static let good =
    "client_id=com.example.web&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback&state=s"

  private func judge(_ query: String, allowingLoopback: Bool = false) -> Result<
    SimulatedAuthorizationRequest, AuthorizationRefusal
  > {
    Result { () throws(AuthorizationRefusal) in
      try SimulatedAuthorizationRequest(
        query: SubmittedForm(query: query), clients: clients, allowingLoopback: allowingLoopback)
    }
  }

  @Test(
    "A wrong client, redirect URI or response mode is shown to the user",
    arguments: [
      ("", "invalid_request"),
      ("client_id=com.example.WEB&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback", "invalid_client"),
      ("client_id=com.example.app&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback", "invalid_client"),
      ("client_id=com.example.web", "invalid_request"),
      ("client_id=com.example.web&redirect_uri=https%3A%2F%2Fapp.example.com%2Fcallback%2F", "invalid_request"),
      ("client_id=com.example.web&redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcallback", "invalid_request"),
      ("\(good)&client_id=com.example.web&response_type=code", "invalid_request"),
      ("\(good)&response_type=code&response_mode=web_message", "invalid_request"),
      ("\(good)&response_type=code&response_mode=query&scope=name", "invalid_request"),
      ("\(good)&response_type=code&scope=email", "invalid_request"),
      ("\(good)&response_type=code%20id_token&response_mode=query", "invalid_request"),
    ])
  func pageRefusals(query: String, code: String) {
    guard case .failure(.page(let shown, _)) = judge(query) else {
      Issue.record("not shown to the user")
      return
    }
    #expect(shown == code)
  }

  @Test(
    "A wrong response type or scope is reported to the client, with its state",
    arguments: [
      ("\(good)&response_mode=query", "invalid_request"),
      ("\(good)&response_type=id_token&response_mode=fragment", "unsupported_response_type"),
      ("\(good)&response_type=token&response_mode=query", "unsupported_response_type"),
      ("\(good)&response_type=code&response_mode=form_post&scope=openid", "invalid_scope"),
      ("\(good)&response_type=code&response_mode=form_post&scope=name+email", "invalid_scope"),
    ])
  func answeredRefusals(query: String, code: String) {
    guard case .failure(.answer(let answer)) = judge(query) else {
      Issue.record("not told to the client")
      return
    }
    #expect(
      answer.fields == [
        SubmittedForm.Field(name: "error", value: code), SubmittedForm.Field(name: "state", value: "s"),
      ])
  }

  @Test("The default response mode is the fragment for an identity token, and the query otherwise")
  func standardModes() throws {
    #expect(try judge("\(Self.good)&response_type=code").get().responseMode == .query)
    #expect(try judge("\(Self.good)&response_type=code%20id_token").get().responseMode == .fragment)
    #expect(try judge("\(Self.good)&response_type=id_token%20code").get().wantsIdentityToken)
  }

  @Test("Every scope that Apple has is taken")
  func scopes() throws {
    let query = "\(Self.good)&response_type=code&response_mode=form_post&scope="
    let request = try judge("\(query)name%20email%20edu.classes.read%20edu.users.read").get()
    #expect(request.scopes == ["name", "email", "edu.classes.read", "edu.users.read"])
  }

  @Test("A loopback redirect URI is taken only when that is switched on")
  func loopback() {
    let query = "client_id=com.example.web&redirect_uri=http%3A%2F%2Flocalhost%3A8080%2Fcallback&response_type=code"
    #expect(throws: Never.self) { try judge(query, allowingLoopback: true).get() }
    #expect(throws: AuthorizationRefusal.self) { try judge(query).get() }
  }

  @Test(
    "A redirect URI needs https, a domain name and no fragment",
    arguments: [
      "http://app.example.com/", "https://localhost/", "https://127.0.0.1/", "https://[::1]/", "https://intranet/",
      "https://app.example.com/#x", "https://u@app.example.com/", "https:///x", "javascript:alert(1)",
      "https://app..example.com/", "https://app.example.com/ x", "https://münchen.example/",
    ])
  func redirectURIs(uri: String) {
    #expect(RedirectURIRules.problem(of: uri, allowingLoopback: false) != nil)
    #expect(RedirectURIRules.problem(of: "https://app.example.com:8443/x?y=z", allowingLoopback: false) == nil)
  }

  @Test("The portal does not register a client ID with the Team ID in it, nor invalid keys")
  func registrations() throws {
    func field(_ client: SimulatedClient) -> String? {
      do throws(RegistrationError) {
        try client.validate(allowingLoopback: false)
        return nil
      } catch {
        return error.field
      }
    }
    var client = try #require(clients["com.example.web"])
    client.redirectURIs = []
    client.keys = ["ABC123DEFG": ClientKey().publicKeyPEM]
    #expect(field(client) == nil)
    client.clientID = "DEF123GHIJ.com.example.web"
    #expect(field(client) == "client_id")
    client.clientID = "com.example.web"
    client.keys = ["ABC123DEFG": "no key"]
    #expect(field(client) == "keys")
    client.keys = [:]
    client.teamID = "short"
    #expect(field(client) == "team_id")
  }

  @Test("Percent-encoding is undone as bytes, and a plus is a space in a body only")
  func formFields() {
    #expect(SubmittedForm(body: Array("a=%C3%B6+b&c".utf8))["a"] == "ö b")
    #expect(SubmittedForm(query: "a=x+y%2By%")["a"] == "x+y+y%")
    #expect(SubmittedForm(query: "a=1&b=2&a=3").repeatedName == "a")
    #expect(SubmittedForm(query: "a=&b")["a"] == nil)
  }
}
