internal import Crypto
internal import WebFormats

/// What the nonce of an identity token is compared with.
public enum NonceExpectation: Sendable {
  /// A sign-in in the browser: the nonce of the attempt, exactly.
  case web(String)
  /// A native app: its raw nonce, or the SHA-256 of it in lower-case hexadecimal digits. Apps commonly give Apple only
  /// the hash.
  case native(String)
  /// A refresh: there is no attempt to compare with, and whatever is there is passed over.
  case none

  /// - Parameters:
  ///   - claim: the claim `nonce`; `nil` if there is none.
  ///   - supported: the claim `nonce_supported`. If it is true the nonce is mandatory; if it is false or absent and the
  ///     nonce is missing, the token is good. A nonce that is there must match.
  func judge(claim: String?, supported: Bool) throws(IdentityTokenRejection) {
    let accepted: [String]
    switch self {
    case .none: return
    case .web(let nonce): accepted = [nonce]
    case .native(let nonce): accepted = [nonce, Self.hexadecimalSHA256(nonce)]
    }
    guard let claim else {
      if supported { throw .nonceMissing }
      return
    }
    guard !claim.isEmpty, accepted.contains(where: { $0.utf8.elementsEqual(claim.utf8) }) else {
      throw .nonceMismatch
    }
  }

  private static func hexadecimalSHA256(_ text: String) -> String {
    Hex.text(SHA256.hash(data: Array(text.utf8)))
  }
}
