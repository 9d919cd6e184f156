import AppleIdentity
import Crypto
import Secrets
import Testing

@Suite("The two identity tokens of one sign-in")
struct IdentityTokenMismatchTests {
  private let code = AuthorizationCode("c1234.0.abcd")

  private func mismatch(
    browser: [String: String?], exchanged: [String: String?]
  ) async throws -> IdentityTokenMismatchError? {
    let fixture = try Fixture()
    let first = try await fixture.verify(try fixture.token(browser), nonce: .none)
    let second = try await fixture.verify(try fixture.token(exchanged), nonce: .none)
    return first.mismatch(withExchanged: second, code: code)
  }

  private var codeHash: String {
    "\"\(base64url(Array(SHA256.hash(data: Array(code.exposed.utf8))).prefix(16)))\""
  }

  @Test("Two tokens match if they have one subject and one nonce")
  func match() async throws {
    #expect(try await mismatch(browser: [:], exchanged: ["email": nil]) == nil)
    #expect(try await mismatch(browser: ["nonce": nil], exchanged: ["nonce": nil]) == nil)
  }

  @Test("Two tokens do not match if another user's code was sent with the token")
  func otherSubject() async throws {
    #expect(try await mismatch(browser: [:], exchanged: ["sub": #""000000.other""#]) == .subject)
  }

  @Test("Two tokens do not match if one of them is of another sign-in, or of none")
  func otherNonce() async throws {
    #expect(try await mismatch(browser: [:], exchanged: ["nonce": #""n-2""#]) == .nonce)
    #expect(try await mismatch(browser: [:], exchanged: ["nonce": nil]) == .nonce)
    #expect(try await mismatch(browser: ["nonce": nil], exchanged: [:]) == .nonce)
  }

  @Test("A code hash in a token must be that of the exchanged code")
  func codeHashes() async throws {
    #expect(try await mismatch(browser: ["c_hash": codeHash], exchanged: [:]) == nil)
    #expect(try await mismatch(browser: ["c_hash": codeHash], exchanged: ["c_hash": codeHash]) == nil)
    #expect(try await mismatch(browser: ["c_hash": #""AAAA""#], exchanged: [:]) == .codeHash)
    #expect(try await mismatch(browser: ["c_hash": #""""#], exchanged: [:]) == .codeHash)
    #expect(try await mismatch(browser: [:], exchanged: ["c_hash": #""AAAA""#]) == .codeHash)
  }
}
