import FoundationEssentials
package import Secrets

/// A refresh token as the store keeps it: sealed, and bound to its user and client, so that one moved to another row is
/// not opened.
package struct EncryptedToken: Sendable, Hashable {
  /// The stored bytes.
  package let bytes: [UInt8]
  /// The key that sealed it.
  package let key: KeyIdentifier

  /// From what a store kept; nil if it is no sealed value.
  package init?(bytes: [UInt8]) {
    guard let key = SealedValue.key(of: bytes) else { return nil }
    self.bytes = bytes
    self.key = key
  }
}

extension SessionKeyring {
  /// Seals a refresh token for the store, by the first key.
  ///
  /// - Throws: only `SealError.failed`.
  package func seal(
    _ token: RefreshToken, of subject: Subject, clientID: String
  ) throws(SealError) -> EncryptedToken {
    let bytes = try seal(
      token.exposedBytes, for: .refreshToken, context: context(subject, clientID), expires: nil)
    guard let sealed = EncryptedToken(bytes: bytes) else { throw .failed }
    return sealed
  }

  /// The refresh token, to ask Apple with.
  package func open(
    _ token: EncryptedToken, of subject: Subject, clientID: String
  ) throws(SealError) -> RefreshToken {
    let bytes = try open(token.bytes, for: .refreshToken, context: context(subject, clientID), now: .distantPast)
    return RefreshToken(bytes)
  }

  /// The subject has no NUL, so no two pairs give the same.
  private func context(_ subject: Subject, _ clientID: String) -> [UInt8] {
    Array(subject.text.utf8) + [0] + Array(clientID.utf8)
  }
}
