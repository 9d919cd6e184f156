internal import Cryptography
internal import Secrets
internal import WebFormats

extension VerifiedIdentityToken {
  /// Compares the token from the browser with the one from the token endpoint: they must belong to the same sign-in.
  ///
  /// With `code id_token` Apple sends two tokens. They name the same subject and the same nonce, and `c_hash`, if
  /// either has one, is the hash of the code that was exchanged (OpenID Connect Core 3.3.2.11). A mismatch means
  /// that the response contains a foreign code or a foreign token.
  /// - Returns: nil if they match.
  package func mismatch(
    withExchanged exchanged: VerifiedIdentityToken, code: AuthorizationCode
  ) -> IdentityTokenMismatchError? {
    guard subject.utf8.elementsEqual(exchanged.subject.utf8) else { return .subject }
    switch (nonce, exchanged.nonce) {
    case (nil, nil): break
    case (let ours?, let theirs?) where ours.utf8.elementsEqual(theirs.utf8): break
    default: return .nonce
    }
    guard mayAccompany(code), exchanged.mayAccompany(code) else { return .codeHash }
    return nil
  }

  /// Whether the token has no `c_hash`, or that of the code (OpenID Connect Core 3.3.2.10).
  func mayAccompany(_ code: AuthorizationCode) -> Bool {
    guard let codeHash else { return true }
    return codeHash.utf8.elementsEqual(Self.codeHash(of: code).utf8)
  }

  private static func codeHash(of code: AuthorizationCode) -> String {
    Base64URL.text(SHA256.hash(code.exposedBytes).prefix(16))
  }
}

/// The difference between two identity tokens of one sign-in.
package enum IdentityTokenMismatchError: Error, Sendable, Equatable {
  /// The user; the attempt; the hash of the code (`c_hash`).
  case subject, nonce, codeHash

  /// The mismatch.
  package var message: String {
    switch self {
    case .subject: "the two identity tokens name different users"
    case .nonce: "the two identity tokens are of different attempts to sign in"
    case .codeHash: "the identity token belongs to another authorization code"
    }
  }
}
