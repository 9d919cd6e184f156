import AppleIdentity
import Secrets
import Testing
import WebFormats

@Suite("Revoking a refresh token")
struct RevocationTests {
  private func revoke(_ fixture: Fixture, _ answer: FakeApple.Answer) async -> RevocationOutcome {
    fixture.apple.answer("/auth/revoke", answer)
    return await fixture.provider.revocation.revoke(RefreshToken("r.1"), clientID: "com.example.web")
  }

  @Test("The request names the token and its kind")
  func request() async throws {
    let fixture = try Fixture()
    _ = await revoke(fixture, .json(""))
    let request = try #require(fixture.apple.requests(to: "/auth/revoke").first)
    #expect(request.description == "POST https://appleid.apple.com/auth/revoke")
    let form = try FormFields(parsing: request.body)
    #expect(try form.text(of: "token") == "r.1")
    #expect(try form.text(of: "token_type_hint") == "refresh_token")
    #expect(try form.text(of: "client_id") == "com.example.web")
    #expect(try secretClaims(of: form).subject == "com.example.web")
  }

  @Test("200 with an empty body is a revocation; everything else is not")
  func outcomes() async throws {
    let fixture = try Fixture()
    for body in ["", "\r\n", "{}"] { #expect(await revoke(fixture, .json(body)) == .revoked) }
    for body in ["<html>Back soon</html>", "{", "[]", #"{"error":"invalid_client"}"#] {
      guard case .appleTrouble(.malformed) = await revoke(fixture, .json(body)) else {
        Issue.record("\(body) counts as a revocation")
        continue
      }
    }
    let refusal = OAuthError(code: .invalidClient, description: nil)
    #expect(await revoke(fixture, .json(#"{"error":"invalid_client"}"#, status: 400)) == .refused(refusal))
    #expect(await revoke(fixture, .json("", status: 503)) == .appleTrouble(.status(503)))
    #expect(await revoke(fixture, .failure(.notSent(reason: "x"))) == .notSent(reason: "x"))
    #expect(await revoke(fixture, .failure(.unanswered(reason: "x"))) == .appleTrouble(.unanswered(reason: "x")))
  }
}
