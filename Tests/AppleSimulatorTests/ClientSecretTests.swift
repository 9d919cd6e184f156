import AppleSimulator
import Foundation
import Testing

@Suite("The client secret")
struct ClientSecretTests {
  private static var now: Double { Date().timeIntervalSince1970.rounded(.down) }

  private static let wrong: [(claims: [String: JSONValue], why: String)] = [
    (["iss": "XXXXXXXXXX"], "iss is not the Team ID"),
    (["sub": "com.example.WEB"], "sub is not the client_id"),
    (["aud": "https://appleid.apple.com/"], "aud is not https://appleid.apple.com"),
    (["aud": .null], "not a JWT with iss, iat, exp, aud and sub"),
    (["iat": .number(now + 86_400)], "iat is in the future"),
    (["iat": .null], "not a JWT with iss, iat, exp, aud and sub"),
    (["exp": .number(now - 1)], "exp has passed"),
    (["exp": .number(now + 15_777_000 + 86_400)], "exp is more than 15777000 seconds away"),
    (["exp": .number(1e300)], "exp is more than 15777000 seconds away"),
    (["exp": "123"], "not a JWT with iss, iat, exp, aud and sub"),
  ]

  @Test("A wrong claim is an invalid client", arguments: wrong.indices)
  func wrongClaims(index: Int) async throws {
    let (claims, why) = Self.wrong[index]
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.token([
        "grant_type": "refresh_token", "refresh_token": "r",
        "client_secret": try await relying.secret(claims: claims),
      ])
      #expect(answer.status == 400)
      #expect(answer.json == ["error": "invalid_client"])
      #expect(answer.headers["x-simulator-reason"] == "client_secret: \(why)")
    }
  }

  @Test("Another key, an unknown key ID, another algorithm and no secret are an invalid client")
  func wrongKeys() async throws {
    try await Relying.withSimulator { relying async throws in
      let good = try await relying.secret()
      let parts = good.split(separator: ".").map(String.init)
      let unsigned = Data(#"{"alg":"none","kid":"ABC123DEFG"}"#.utf8).base64EncodedString()
        .replacingOccurrences(of: "=", with: "")
      let secrets = [
        try await relying.secret(key: ClientKey()), try await relying.secret(keyID: "ZZZZZZZZZZ"),
        "\(unsigned).\(parts[1]).", "\(parts[0]).\(parts[1]).", "", "x",
      ]
      for secret in secrets {
        let form = [
          "grant_type": "refresh_token", "refresh_token": "r", "client_id": Relying.clientID,
          "client_secret": secret,
        ]
        #expect(try await relying.post("/auth/token", form).json["error"] == "invalid_client", "\(secret)")
      }
      let form = ["grant_type": "refresh_token", "refresh_token": "r", "client_secret": good]
      #expect(try await relying.token(form).json["error"] == "invalid_grant")
    }
  }

  @Test("The client secret is sent in the form, not in an Authorization field")
  func postOnly() async throws {
    try await Relying.withSimulator { relying async throws in
      let basic = Data("\(Relying.clientID):\(try await relying.secret())".utf8).base64EncodedString()
      let answer = try await relying.post(
        "/auth/token", ["grant_type": "refresh_token", "refresh_token": "r", "client_id": Relying.clientID],
        headers: ["Authorization": "Basic \(basic)"])
      #expect(answer.json["error"] == "invalid_client")
    }
  }
}
