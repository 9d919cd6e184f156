import AppleSimulator
import Testing

@Suite("POST /auth/revoke and /auth/usermigrationinfo")
struct RevocationTests {
  private func revoke(_ relying: Relying, _ form: [String: String]) async throws -> Relying.Answer {
    var form = form
    form["client_id"] = Relying.clientID
    form["client_secret"] = try await relying.secret()
    return try await relying.post("/auth/revoke", form)
  }

  @Test("A revoked token is an invalid grant, and revoking it again is not an error")
  func revoke() async throws {
    try await Relying.withSimulator { relying async throws in
      let token = try await relying.refreshToken()
      for _ in 1...2 {
        let answer = try await revoke(relying, ["token": token, "token_type_hint": "refresh_token"])
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
      }
      #expect(try await relying.refresh(token).json["error"] == "invalid_grant")
      #expect(try await relying.signIn()["user"] != nil)
    }
  }

  @Test("An access token revokes the authorization too")
  func accessToken() async throws {
    try await Relying.withSimulator { relying async throws in
      let json = try await relying.exchange(try await relying.signIn()["code"]).json
      let access = try #require(json["access_token"]?.text)
      #expect(try await revoke(relying, ["token": access, "token_type_hint": "access_token"]).status == 200)
      #expect(try await relying.refresh(json["refresh_token"]?.text ?? "").status == 400)
    }
  }

  @Test("A revocation without a token, with an unknown hint or without a good secret is refused")
  func refused() async throws {
    try await Relying.withSimulator { relying async throws in
      #expect(try await revoke(relying, [:]).json["error"] == "invalid_request")
      #expect(
        try await revoke(relying, ["token": "x", "token_type_hint": "id_token"]).json["error"] == "invalid_request")
      let form = ["client_id": Relying.clientID, "token": "x"]
      #expect(try await relying.post("/auth/revoke", form).json["error"] == "invalid_client")
    }
  }

  @Test("A user moves to another team by a transfer identifier")
  func migration() async throws {
    try await Relying.withSimulator { relying async throws in
      let sub = try #require(
        try await relying.verifiedClaims(try await relying.signIn()["id_token"])["sub"]?.text)
      func migrate(_ form: [String: String], clientID: String) async throws -> [String: JSONValue] {
        let scope = ["grant_type": "client_credentials", "scope": "user.migration"]
        let secret =
          clientID == Relying.clientID
          ? try await relying.secret()
          : try await relying.secret(clientID: clientID, claims: ["iss": "NEW456TEAM"])
        let granted = try await relying.token(
          clientID: clientID, scope.merging(["client_secret": secret]) { first, _ in first }
        ).json
        let access = try #require(granted["access_token"]?.text)
        let answer = try await relying.post(
          "/auth/usermigrationinfo",
          form.merging(["client_id": clientID, "client_secret": secret]) { first, _ in first },
          headers: ["Authorization": "Bearer \(access)"])
        return answer.json
      }
      let pem = relying.key.publicKeyPEM.split(separator: "\n").joined(separator: "\\n")
      try await relying.order(
        "PUT", "clients",
        #"{"client_id":"com.example.moved","team_id":"NEW456TEAM","keys":{"ABC123DEFG":"\#(pem)"}}"#)

      let given = try await migrate(["sub": sub, "target": "NEW456TEAM"], clientID: Relying.clientID)
      let transfer = try #require(given["transfer_sub"]?.text)
      let taken = try await migrate(["transfer_sub": transfer], clientID: "com.example.moved")
      #expect(taken["email"] == "anna.bergstrom@example.com")
      #expect(taken["sub"] != nil)
      #expect(taken["sub"]?.text != sub)

      let bare = ["client_id": Relying.clientID, "client_secret": try await relying.secret(), "sub": sub]
      #expect(try await relying.post("/auth/usermigrationinfo", bare).status == 400)
    }
  }
}
