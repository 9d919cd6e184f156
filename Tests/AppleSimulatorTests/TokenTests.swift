import AppleSimulator
import Testing

@Suite("POST /auth/token")
struct TokenTests {
  @Test("A code is exchanged for tokens that the published keys verify, from Apple's issuer")
  func exchange() async throws {
    try await Relying.withSimulator { relying async throws in
      let fields = try await relying.signIn()
      let answer = try await relying.exchange(fields["code"])
      #expect(answer.status == 200)
      let json = answer.json
      #expect(Set(json.keys) == ["access_token", "token_type", "expires_in", "refresh_token", "id_token"])
      #expect(json["token_type"] == "Bearer")

      let claims = try await relying.verifiedClaims(json["id_token"]?.text)
      #expect(claims["iss"] == "https://appleid.apple.com")
      #expect(claims["aud"] == .string(Relying.clientID))
      #expect(claims["nonce"] == "a nonce")
      #expect(claims["nonce_supported"] == true)
      #expect(claims["email"] == "anna.bergstrom@example.com")
      #expect(claims["email_verified"] == true)
      #expect(claims["real_user_status"] == nil)

      let fromBrowser = try await relying.verifiedClaims(fields["id_token"])
      #expect(fromBrowser["sub"] == claims["sub"])
      #expect(fromBrowser["nonce"] == claims["nonce"])
      #expect(fromBrowser["c_hash"] != nil)
    }
  }

  @Test("A code works once")
  func singleUse() async throws {
    try await Relying.withSimulator { relying async throws in
      let code = try await relying.signIn()["code"]
      #expect(try await relying.exchange(code).status == 200)
      let second = try await relying.exchange(code)
      #expect(second.status == 400)
      #expect(second.json["error"] == "invalid_grant")
    }
  }

  @Test("A code works for five minutes", arguments: [(280, 200), (301, 400)])
  func expiry(seconds: Int, status: Int) async throws {
    try await Relying.withSimulator { relying async throws in
      let code = try await relying.signIn()["code"]
      try await relying.order("POST", "clock", "{\"advance_seconds\":\(seconds)}")
      let secret = try await relying.secret(lifetime: 3_600)
      let answer = try await relying.exchange(code, more: ["client_secret": secret])
      #expect(answer.status == status)
    }
  }

  @Test(
    "A code is bound to the redirect URI of its request",
    arguments: [("https://other.example.com/callback", "invalid_grant"), ("", "invalid_request")])
  func redirectURI(uri: String, code: String) async throws {
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.exchange(
        try await relying.signIn()["code"], more: ["redirect_uri": uri])
      #expect(answer.status == 400)
      #expect(answer.json["error"]?.text == code)
    }
  }

  @Test("A code is bound to its client")
  func otherClient() async throws {
    try await Relying.withSimulator { relying async throws in
      let code = try #require(try await relying.signIn()["code"])
      let answer = try await relying.token(
        clientID: Relying.nativeID, ["grant_type": "authorization_code", "code": code])
      #expect(answer.json["error"] == "invalid_grant")
    }
  }

  @Test("A refresh answers no new refresh token, and an identity token only if switched on")
  func refresh() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      let first = try await relying.refresh(token)
      #expect(first.status == 200)
      #expect(Set(first.json.keys) == ["access_token", "token_type", "expires_in", "id_token"])
      try await relying.order("POST", "switches", #"{"id_token_on_refresh":false}"#)
      #expect(try await relying.refresh(token).json["id_token"] == nil)
    }
  }

  @Test("A refresh token is bound to its client")
  func refreshByOtherClient() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      let answer = try await relying.refresh(token, clientID: Relying.nativeID)
      #expect(answer.json["error"] == "invalid_grant")
    }
  }

  @Test("A user who stops using Apple for the app makes the refresh token an invalid grant, and a notification")
  func revokedByUser() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      let other = try await relying.refreshToken("ben")
      let order = try await relying.order("POST", "users/anna/revoke")
      let answer = try await relying.refresh(token)
      #expect(answer.status == 400)
      #expect(answer.json["error"] == "invalid_grant")
      #expect(try await relying.refresh(other).status == 200)

      guard case .array(let notifications) = order["notifications"] else {
        Issue.record("no notification")
        return
      }
      let claims = try await relying.verifiedClaims(notifications.first?.members?["payload"]?.text)
      #expect(claims["events"]?.text?.contains(#""type":"consent-revoked""#) == true)
      #expect(claims["jti"] != nil)
    }
  }

  @Test("Invalid requests are refused with Apple's codes")
  func badRequests() async throws {
    try await Relying.withSimulator { relying async throws in
      #expect(try await relying.token([:]).json["error"] == "invalid_request")
      #expect(
        try await relying.token(["grant_type": "password"]).json["error"] == "unsupported_grant_type")
      #expect(
        try await relying.token(["grant_type": "authorization_code"]).json["error"] == "invalid_request")
      let scoped = ["grant_type": "client_credentials", "scope": "everything"]
      #expect(try await relying.token(scoped).json["error"] == "invalid_scope")
      let typed = try await relying.send(
        "POST", "/auth/token", body: #"{"grant_type":"refresh_token"}"#, type: "application/json")
      #expect(typed.status == 400)
      #expect(typed.json["error"] == "invalid_request")
    }
  }

  @Test("The flags are strings if switched so")
  func flagsAsStrings() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order("POST", "switches", #"{"flags_as_strings":true,"nonce_supported":false}"#)
      let claims = try await relying.verifiedClaims(try await relying.signIn("eve")["id_token"])
      #expect(claims["email_verified"] == "false")
      #expect(claims["is_private_email"] == "false")
      #expect(claims["nonce_supported"] == nil)
    }
  }
}
