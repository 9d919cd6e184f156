import AppleSimulator
import JWTKit
import Testing

@Suite("Keys and minted tokens")
struct KeyTests {
  private func keyIDs(_ relying: Relying) async throws -> [String] {
    guard case .array(let keys) = try await relying.get("/auth/keys").json["keys"] else { return [] }
    return keys.compactMap { $0.members?["kid"]?.text }
  }

  @Test("There are several RS256 keys, and a rotation adds one that signs from then on")
  func rotation() async throws {
    try await Relying.withSimulator { relying async throws in
      let before = try await keyIDs(relying)
      #expect(before.count >= 2)
      let old = try await relying.signIn()["id_token"]
      try await relying.order("POST", "keys/rotate")
      let after = try await keyIDs(relying)
      #expect(after.count == before.count + 1)
      _ = try await relying.verifiedClaims(old)
      _ = try await relying.verifiedClaims(try await relying.signIn()["id_token"])
      try await relying.order("POST", "keys/rotate", #"{"drop_old":true}"#)
      #expect(try await keyIDs(relying).count == 1)
      await #expect(throws: (any Error).self) { _ = try await relying.verifiedClaims(old) }
    }
  }

  @Test("A minted token is honest unless something else was ordered")
  func honestMint() async throws {
    try await Relying.withSimulator { relying async throws in
      let order =
        #"{"client_id":"com.example.web","user":"ben","nonce":"n","token":{"claims":{"aud":"x","email":null}}}"#
      let claims = try await relying.verifiedClaims(try await relying.order("POST", "mint", order)["token"]?.text)
      #expect(claims["aud"] == "x")
      #expect(claims["nonce"] == "n")
      #expect(claims["email"] == nil)
      #expect(claims["iss"] == "https://appleid.apple.com")
    }
  }

  @Test(
    "A token of another algorithm, another key or a changed signature does not verify",
    arguments: ["none", "es256", "corrupt", "wrong-key", "unknown-key", "hs256-public-key"])
  func forged(signature: String) async throws {
    try await Relying.withSimulator { relying async throws in
      let order = #"{"client_id":"com.example.web","token":{"signature":"\#(signature)"}}"#
      let token = try #require(try await relying.order("POST", "mint", order)["token"]?.text)
      #expect(token.split(separator: ".", omittingEmptySubsequences: false).count == 3)
      await #expect(throws: (any Error).self) { _ = try await relying.verifiedClaims(token) }
    }
  }

  @Test("HS256 is keyed with the secret that was ordered")
  func sharedSecret() async throws {
    try await Relying.withSimulator { relying async throws in
      let order = #"""
        {"client_id":"com.example.web","token":{"signature":"hs256","header":{"kid":null},
        "secret":"a secret of at least thirty-two bytes"}}
        """#
      let token = try #require(try await relying.order("POST", "mint", order)["token"]?.text)
      let keys = JWTKeyCollection()
      await keys.add(hmac: "a secret of at least thirty-two bytes", digestAlgorithm: .sha256)
      _ = try await keys.verify(token, as: SecretPayload.self)
    }
  }

  @Test("The token that a place hands out next is changed as ordered, once")
  func tampering() async throws {
    try await Relying.withSimulator { relying async throws in
      try await relying.order(
        "POST", "tamper", #"{"place":"token","token":{"claims":{"sub":"another"}}}"#)
      try await relying.order(
        "POST", "tamper", #"{"place":"authorize","fields":{"state":"another","user":null}}"#)
      let fields = try await relying.signIn()
      #expect(fields["state"] == "another")
      #expect(fields["user"] == nil)
      let first = try await relying.exchange(fields["code"]).json
      #expect(try await relying.verifiedClaims(first["id_token"]?.text)["sub"] == "another")
      let second = try await relying.exchange(try await relying.signIn()["code"]).json
      #expect(try await relying.verifiedClaims(second["id_token"]?.text)["sub"] != "another")
    }
  }

  @Test("A native app gets a token with real_user_status and a code without redirect URI, which it can exchange")
  func native() async throws {
    try await Relying.withSimulator { relying async throws in
      let order = #"{"client_id":"com.example.app","user":"anna","nonce":"n"}"#
      let handed = try await relying.order("POST", "native", order)
      let claims = try await relying.verifiedClaims(handed["identity_token"]?.text)
      #expect(claims["real_user_status"] == 2)
      #expect(claims["aud"] == .string(Relying.nativeID))
      #expect(handed["user"] != nil)
      let form = ["grant_type": "authorization_code", "code": handed["authorization_code"]?.text ?? ""]
      #expect(try await relying.token(clientID: Relying.nativeID, form).status == 200)
      let again = try await relying.order("POST", "native", order)
      #expect(again["user"] == nil)
    }
  }
}
