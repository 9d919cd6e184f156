import AppleIdentity
import FoundationEssentials
import Testing

@Suite("Claims of an identity token other than its subject")
struct IdentityClaimsTests {
  @Test("Booleans are read alike as Booleans and as strings, and an absent one is neither")
  func booleans() async throws {
    let fixture = try Fixture()
    for (value, expected) in [("true", true), ("false", false), (#""true""#, true), (#""false""#, false)] {
      let token = try await fixture.verify(try fixture.token(["email_verified": value, "is_private_email": value]))
      #expect(token.claims.isEmailVerified == expected)
      #expect(token.claims.isPrivateEmail == expected)
      #expect(token.claims.text(of: "email_verified") == (expected ? "true" : "false"))
    }
    for value in [nil, "1", #""yes""#, #""TRUE""#, "null"] as [String?] {
      let token = try await fixture.verify(try fixture.token(["email_verified": value]))
      #expect(token.claims.isEmailVerified == nil)
    }
  }

  @Test("The address may be absent or empty")
  func noEmail() async throws {
    let fixture = try Fixture()
    #expect(try await fixture.verify(try fixture.token(["email": nil])).claims.email == nil)
    #expect(try await fixture.verify(try fixture.token(["email": #""""#])).claims.email == nil)
    #expect(try await fixture.verify(try fixture.token(["email": "{}"])).claims.email == nil)
  }

  @Test("The claims of native apps, team transfers and managed accounts are read")
  func rareClaims() async throws {
    let fixture = try Fixture()
    let claims = try await fixture.verify(
      try fixture.token([
        "real_user_status": "2", "transfer_sub": #""000999.new""#, "org_id": #""acme""#,
        "scopes": #"["edu.classes.read","edu.users.read"]"#,
      ])
    ).claims
    #expect(claims.realUserStatus == 2)
    #expect(claims.transferSubject == "000999.new")
    #expect(claims.organizationID == "acme")
    #expect(claims.scopes == "edu.classes.read edu.users.read")
    #expect(try await fixture.verify(try fixture.token(["real_user_status": "7"])).claims.realUserStatus == nil)
  }

  @Test("Any claim with a single value can be had as text")
  func anyClaim() async throws {
    let fixture = try Fixture()
    let claims = try await fixture.verify(
      try fixture.token(["auth_time": "1750000000", "x": "1.5", "o": #"{"a":1}"#, "l": "[1]", "m": #""ü""#])
    ).claims
    #expect(claims.text(of: "auth_time") == "1750000000")
    #expect(claims.text(of: "x") == "1.5")
    #expect(claims.text(of: "m") == "ü")
    #expect(claims.text(of: "sub") == "001234.abcdef.0789")
    #expect(claims.text(of: "o") == nil)
    #expect(claims.text(of: "l") == nil)
    #expect(claims.text(of: "absent") == nil)
  }

  @Test("Claims that were stored are the same when read again")
  func storedClaims() async throws {
    let fixture = try Fixture()
    let claims = try await fixture.verify(try fixture.token()).claims
    let stored = try JSONEncoder().encode(claims)
    #expect(try JSONDecoder().decode(IdentityClaims.self, from: stored) == claims)
  }

  @Test("A token full of claims is cut to 64 of them, and an overlong text is not a claim")
  func bounds() async throws {
    let fixture = try Fixture()
    var many: [String: String?] = ["aaa": "\"\(String(repeating: "x", count: 2049))\""]
    for index in 0..<200 { many["aa\(index)"] = "1" }
    let claims = try await fixture.verify(try fixture.token(many)).claims
    #expect(claims.values.count == 64)
    #expect(claims.text(of: "aaa") == nil)
  }
}
