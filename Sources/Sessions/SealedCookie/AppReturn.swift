internal import Cryptography
package import FoundationEssentials
internal import Secrets
internal import WebFormats

/// The content of a one-time code for a native app whose user signed in with a browser: the session, and the challenge
/// whose verifier the app has to present (RFC 7636, S256). The code is self-contained and not stored.
package struct AppReturn: Sendable, Equatable {
  /// The app's session.
  package let identifier: SessionIdentifier
  /// SHA-256 of the verifier that only the app knows: 32 bytes.
  package let challenge: [UInt8]

  /// The lifetime of the code; apps exchange it immediately.
  package static let lifetime = Duration.seconds(60)

  /// Nil unless the challenge has 32 bytes.
  package init?(_ identifier: SessionIdentifier, challenge: [UInt8]) {
    guard challenge.count == SHA256.byteCount else { return nil }
    self.identifier = identifier
    self.challenge = challenge
  }

  /// A `code_challenge` of the method S256: 43 characters of base64url. Nil for anything else.
  package static func challenge(parsing text: [UInt8]) -> [UInt8]? {
    guard let bytes = Base64URL.decode(text), bytes.count == SHA256.byteCount else { return nil }
    return bytes
  }

  /// Whether the verifier is the one of the challenge: 43 to 128 unreserved characters (RFC 7636, 4.1) with this hash.
  package func isProved(by verifier: [UInt8]) -> Bool {
    guard (43...128).contains(verifier.count), verifier.allSatisfy(\.isUnreserved) else { return false }
    return ConstantTime.equal(SHA256.hash(verifier), challenge)
  }
}

extension SessionKeyring {
  /// The one-time code of an app return: sealed, so that it can be neither forged nor read.
  ///
  /// - Parameter now: it can be opened for `AppReturn.lifetime` from here.
  /// - Throws: only `SealError.failed`.
  package func sealAppReturn(_ appReturn: AppReturn, now: Date) throws(SealError) -> String {
    try sealText(
      appReturn.identifier.bytes + appReturn.challenge, for: .appReturn, expires: now.advanced(by: AppReturn.lifetime))
  }

  /// Opens a code. The store decides whether it was used before.
  package func openAppReturn(_ code: [UInt8], now: Date) throws(SealError) -> AppReturn {
    let bytes = try openText(code, for: .appReturn, now: now)
    guard bytes.count >= SessionIdentifier.byteCount else { throw .refused }
    let challenge = Array(bytes.dropFirst(SessionIdentifier.byteCount))
    guard let appReturn = AppReturn(SessionIdentifier(bigEndian: bytes), challenge: challenge) else { throw .refused }
    return appReturn
  }
}
