import AppleIdentity
import Testing

@Suite("Asking Apple about our credentials")
struct CredentialCheckTests {
  private func check(_ answer: FakeApple.Answer) async throws -> CredentialCheckOutcome {
    let fixture = try Fixture()
    fixture.apple.answer("/auth/token", answer)
    return await fixture.provider.tokens.checkCredentials(clientID: "com.example.web")
  }

  @Test("invalid_grant for a code that nobody has says that our credentials are good")
  func accepted() async throws {
    #expect(try await check(.json(#"{"error":"invalid_grant"}"#, status: 400)) == .accepted)
  }

  @Test("invalid_client says that our credentials are wrong")
  func misconfigured() async throws {
    let refusal = OAuthError(code: .invalidClient, description: nil)
    #expect(try await check(.json(#"{"error":"invalid_client"}"#, status: 400)) == .misconfigured(refusal))
  }

  @Test("Another answer of Apple, or none, says nothing about our credentials")
  func nothing() async throws {
    #expect(try await check(.json("", status: 503)) == .appleTrouble(.status(503)))
    #expect(try await check(.failure(.notSent(reason: "x"))) == .notSent(reason: "x"))
    guard case .appleTrouble(.malformed) = try await check(.json("{}")) else {
      Issue.record("taken for good")
      return
    }
  }
}
