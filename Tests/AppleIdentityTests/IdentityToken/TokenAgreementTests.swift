import AppleIdentity
import Crypto
import Secrets
import Testing

@Suite("The two identity tokens of one sign-in")
struct TokenAgreementTests {
  private let code = AuthorizationCode("c1234.0.abcd")

  private func disagreement(
    browser: [String: String?], exchanged: [String: String?]
  ) async throws -> IdentityTokenMismatchError? {
    let fixture = try Fixture()
    let first = try await fixture.verify(try fixture.token(browser), nonce: .none)
    let second = try await fixture.verify(try fixture.token(exchanged), nonce: .none)
    return first.disagreement(withExchanged: second, code: code)
  }

  private var codeHash: String {
    "\"\(base64url(Array(SHA256.hash(data: Array(code.exposed.utf8))).prefix(16)))\""
  }

  @Test("Two tokens agree if they have one subject and one nonce")
  func agreement() async throws {
    #expect(try await disagreement(browser: [:], exchanged: ["email": nil]) == nil)
    #expect(try await disagreement(browser: ["nonce": nil], exchanged: ["nonce": nil]) == nil)
  }

  @Test("Two tokens disagree if another user's code was sent with the token")
  func otherSubject() async throws {
    #expect(try await disagreement(browser: [:], exchanged: ["sub": #""000000.other""#]) == .subject)
  }

  @Test("Two tokens disagree if one of them is of another sign-in, or of none")
  func otherNonce() async throws {
    #expect(try await disagreement(browser: [:], exchanged: ["nonce": #""n-2""#]) == .nonce)
    #expect(try await disagreement(browser: [:], exchanged: ["nonce": nil]) == .nonce)
    #expect(try await disagreement(browser: ["nonce": nil], exchanged: [:]) == .nonce)
  }

  @Test("A code hash in a token must be that of the exchanged code")
  func codeHashes() async throws {
    #expect(try await disagreement(browser: ["c_hash": codeHash], exchanged: [:]) == nil)
    #expect(try await disagreement(browser: ["c_hash": codeHash], exchanged: ["c_hash": codeHash]) == nil)
    #expect(try await disagreement(browser: ["c_hash": #""AAAA""#], exchanged: [:]) == .codeHash)
    #expect(try await disagreement(browser: ["c_hash": #""""#], exchanged: [:]) == .codeHash)
    #expect(try await disagreement(browser: [:], exchanged: ["c_hash": #""AAAA""#]) == .codeHash)
  }
}
