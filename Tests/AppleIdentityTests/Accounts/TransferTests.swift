import AppleIdentity
import HTTPTypes
import Testing
import WebFormats

@Suite("The transfer of users to another team")
struct TransferTests {
  private let endpoint = "/auth/usermigrationinfo"

  private func permit(_ fixture: Fixture) async throws -> TransferPermit {
    fixture.apple.answer("/auth/token", .json(#"{"access_token":"t.1","token_type":"Bearer","expires_in":3600}"#))
    return try await fixture.provider.transfer.authorize(clientID: "com.example.web")
  }

  @Test("The permit is asked for with our secret alone, and both directions carry it as their bearer token")
  func requests() async throws {
    let fixture = try Fixture()
    let permit = try await permit(fixture)
    #expect(permit.clientID == "com.example.web")
    let first = try #require(fixture.apple.requests(to: "/auth/token").first)
    #expect(first.description == "POST https://appleid.apple.com/auth/token")
    #expect(first.head.headerFields[.authorization] == nil)
    var form = try FormFields(parsing: first.body)
    #expect(try form.text(of: "grant_type") == "client_credentials")
    #expect(try form.text(of: "scope") == "user.migration")
    #expect(try form.text(of: "client_id") == "com.example.web")
    #expect(try secretClaims(of: form).subject == "com.example.web")
    #expect(form.fields.count == 4)

    let answer = #"{"transfer_sub":"001.t","sub":"002.b","email":"b@privaterelay.appleid.com","is_private_email":true}"#
    fixture.apple.answer(endpoint, .json(answer))
    let client = fixture.provider.transfer
    #expect(try await client.transferSubject(of: "001.a", toTeam: "TEAM123456", by: permit) == "001.t")
    let user = try await client.user(behind: "001.t", by: permit)
    #expect(user.subject == "002.b" && user.email == "b@privaterelay.appleid.com" && user.isPrivateEmail == true)
    let sent = fixture.apple.requests(to: endpoint)
    try #require(sent.count == 2)
    #expect(sent.allSatisfy { $0.description == "POST https://appleid.apple.com/auth/usermigrationinfo" })
    #expect(sent.allSatisfy { $0.head.headerFields[.authorization] == "Bearer t.1" })
    form = try FormFields(parsing: sent[0].body)
    #expect(try form.text(of: "sub") == "001.a" && form.text(of: "target") == "TEAM123456")
    #expect(try secretClaims(of: form).subject == "com.example.web" && form.fields.count == 4)
    form = try FormFields(parsing: sent[1].body)
    #expect(try form.text(of: "transfer_sub") == "001.t")
    #expect(try secretClaims(of: form).subject == "com.example.web" && form.fields.count == 3)
  }

  @Test("A permit is a bearer token of at most 4,096 bytes")
  func permits() async throws {
    let fixture = try Fixture()
    let long = String(repeating: "t", count: 4_096)
    for value in [#""""#, #""a b""#, #""a\r\nb""#, #""ü""#, "1", "null", "\"\(long)t\""] {
      fixture.apple.answer("/auth/token", .json(#"{"access_token":\#(value)}"#))
      await #expect(throws: TransferError.malformed("no access token"), "\(value.prefix(20))") {
        try await fixture.provider.transfer.authorize(clientID: "com.example.web")
      }
    }
    fixture.apple.answer("/auth/token", .json(#"{"access_token":"\#(long)"}"#))
    _ = try await fixture.provider.transfer.authorize(clientID: "com.example.web")
    fixture.apple.answer("/auth/token", .json("[]"))
    await #expect(throws: TransferError.malformed("no JSON object")) {
      try await fixture.provider.transfer.authorize(clientID: "com.example.web")
    }
  }

  @Test("An answer without a valid identifier is malformed")
  func identifiers() async throws {
    let fixture = try Fixture()
    let permit = try await permit(fixture)
    for value in [#""""#, #""a b""#, "1", "null", "\"\(String(repeating: "x", count: 256))\""] {
      fixture.apple.answer(endpoint, .json(#"{"transfer_sub":\#(value),"sub":"002.b"}"#))
      await #expect(throws: TransferError.malformed("no transfer_sub"), "\(value.prefix(20))") {
        try await fixture.provider.transfer.transferSubject(of: "001.a", toTeam: "TEAM123456", by: permit)
      }
      fixture.apple.answer(endpoint, .json(#"{"transfer_sub":"001.t","sub":\#(value)}"#))
      await #expect(throws: TransferError.malformed("no sub"), "\(value.prefix(20))") {
        try await fixture.provider.transfer.user(behind: "001.t", by: permit)
      }
    }
  }

  @Test("A refusal, trouble at Apple, and a request that was not sent are told apart")
  func failures() async throws {
    let fixture = try Fixture()
    let permit = try await permit(fixture)
    let refusal = OAuthError(code: .invalidRequest, description: nil)
    for (answer, error) in [
      (.json(#"{"error":"invalid_request"}"#, status: 400), .refused(refusal)),
      (.json("", status: 503), .appleTrouble(.status(503))),
      (.json("", status: 429), .appleTrouble(.throttled(pause: nil))),
      (.failure(.unanswered(reason: "x")), .appleTrouble(.unanswered(reason: "x"))),
      (.failure(.notSent(reason: "x")), .notSent(reason: "x")),
    ] as [(FakeApple.Answer, TransferError)] {
      fixture.apple.answer(endpoint, answer)
      await #expect(throws: error) { try await fixture.provider.transfer.user(behind: "001.t", by: permit) }
    }
  }

  @Test("Only a refusal of the request or of its identifier is about one user")
  func aboutOneUser() {
    for code in OAuthError.Code.allCases {
      let error = TransferError.refused(OAuthError(code: code, description: nil))
      #expect(error.isAboutOneUser == (code == .invalidRequest || code == .invalidGrant), "\(code)")
    }
    for error in [
      TransferError.appleTrouble(.status(500)), .malformed("no sub"), .notSent(reason: "x"), .noSecret(.signingFailed),
    ] {
      #expect(!error.isAboutOneUser, "\(error)")
    }
  }
}
