internal import Cryptography
internal import WebFormats

/// The expected nonce of an identity token.
package enum NonceExpectation: Sendable {
  /// A sign-in in the browser: the nonce of the attempt, exactly.
  case web(String)
  /// A native app: its raw nonce. Apps commonly give Apple only the hash, so a claim of 64 lower-case hexadecimal
  /// digits is compared with the SHA-256 of the raw nonce, and with nothing else: anybody can read the claim in the
  /// token, and it must not prove itself.
  case native(String)
  /// A refresh: there is no sign-in to compare with, and a nonce is ignored.
  case none

  /// - Parameters:
  ///   - claim: the claim `nonce`; `nil` if it is absent.
  ///   - supported: the claim `nonce_supported`. If it is true the nonce is mandatory; if it is false or absent and the
  ///     nonce is missing, the token is accepted. A nonce that is present must match.
  func verify(claim: String?, supported: Bool) throws(IdentityTokenError) {
    if case .none = self { return }
    guard let claim else {
      if supported { throw .nonceMissing }
      return
    }
    let expected: String
    switch self {
    case .none: return
    case .web(let nonce): expected = nonce
    case .native(let nonce): expected = Self.isHash(claim) ? Self.hexadecimalSHA256(nonce) : nonce
    }
    guard !claim.isEmpty, expected.utf8.elementsEqual(claim.utf8) else { throw .nonceMismatch }
  }

  /// Whether a claim has the form of a SHA-256 in lower-case hexadecimal digits.
  private static func isHash(_ claim: String) -> Bool {
    claim.utf8.count == 64 && claim.utf8.allSatisfy(Hex.isLowercaseDigit)
  }

  private static func hexadecimalSHA256(_ text: String) -> String {
    Hex.text(SHA256.hash(text.utf8))
  }
}
