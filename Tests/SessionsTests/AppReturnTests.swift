import Cryptography
import Foundation
import Secrets
import Sessions
import Testing

// The one-time code of an app return: only ours, only for a minute, only for who knows the verifier.
@Suite("The code of an app return")
struct AppReturnTests {
  private let now = Date(timeIntervalSince1970: 1_700_000_000)
  /// Verifier and challenge of RFC 7636, appendix B.
  private let verifier = Array("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".utf8)
  private let challenge = Array("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".utf8)

  private func keyring(_ byte: UInt8 = 7) throws -> SessionKeyring {
    try SessionKeyring(secrets: [SessionSecret(Array(repeating: byte, count: 32))])
  }

  private func appReturn() throws -> AppReturn {
    let hash = try #require(AppReturn.challenge(parsing: challenge))
    return try #require(AppReturn(.random(), challenge: hash))
  }

  @Test("The code of an app return opens unchanged, for a minute, by its own keys only")
  func roundTrip() throws {
    let appReturn = try appReturn()
    let code = Array(try keyring().sealAppReturn(appReturn, now: now).utf8)
    #expect(try keyring().openAppReturn(code, now: now + 59) == appReturn)
    #expect(throws: SealError.expired) { try keyring().openAppReturn(code, now: now + 60) }
    #expect(throws: SealError.self) { try keyring(8).openAppReturn(code, now: now) }
    #expect(throws: SealError.refused) { try keyring().openAppReturn(code.dropLast(), now: now) }
  }

  @Test("A value that was sealed for another purpose is not a code")
  func otherPurpose() throws {
    let bytes = Array(repeating: UInt8(1), count: 48)
    for purpose in SealPurpose.allCases where purpose != .appReturn {
      let text = try keyring().sealText(bytes, for: purpose, expires: now + 60)
      #expect(throws: SealError.refused) { try keyring().openAppReturn(Array(text.utf8), now: now) }
    }
  }

  @Test("The verifier proves its own challenge, and nothing else does")
  func verifying() throws {
    let appReturn = try appReturn()
    #expect(appReturn.isProved(by: verifier))
    for wrong in [[], challenge, verifier + [0x41], Array(verifier.dropLast()), Array(repeating: 0x61, count: 129)] {
      #expect(!appReturn.isProved(by: wrong))
    }
  }

  @Test(
    "Nothing but 43 to 128 unreserved characters is a verifier, even if its hash is the challenge",
    arguments: [(42, "a", false), (43, "a", true), (128, "~", true), (129, "a", false), (43, "+", false)])
  func verifierForm(length: Int, character: String, isVerifier: Bool) throws {
    let verifier = Array(String(repeating: character, count: length).utf8)
    let appReturn = try #require(AppReturn(.random(), challenge: SHA256.hash(verifier)))
    #expect(appReturn.isProved(by: verifier) == isVerifier)
  }

  @Test(
    "A challenge is 43 characters of base64url",
    arguments: [
      "", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cMA",
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c=", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM",
    ])
  func challenges(text: String) { #expect(AppReturn.challenge(parsing: Array(text.utf8)) == nil) }
}
