import FoundationEssentials
package import Secrets

/// A refresh token as the store keeps it: encrypted, and bound to its user and client, so that it cannot be decrypted
/// when it is moved to another row.
package struct EncryptedToken: Sendable, Hashable {
  /// The stored bytes.
  package let bytes: [UInt8]
  /// The key that sealed it.
  package let key: KeyIdentifier

  /// Reads stored bytes; nil if they are not a sealed value.
  package init?(bytes: [UInt8]) {
    guard let key = SealedValue.key(of: bytes) else { return nil }
    self.bytes = bytes
    self.key = key
  }

  /// Takes stored bytes as they are. Those that are not a sealed value cannot be decrypted, as any damaged token.
  package init(stored bytes: [UInt8]) {
    self.bytes = bytes
    key = SealedValue.key(of: bytes) ?? KeyIdentifier(number: 0)
  }
}

extension SealError {
  /// The problem of a refresh token in the store, and its remedy.
  package var ofStoredToken: String {
    switch self {
    case .unknownKey(let key):
      "no secret has key \(key), which sealed it; put that secret back into session.secret_files, after the first one"
    case .refused, .expired, .failed: "it is damaged; restore a backup, or let the user sign in again"
    }
  }
}

extension SessionKeyring {
  /// Encrypts a refresh token for the store with the current key.
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

  /// Decrypts a refresh token.
  package func open(
    _ token: EncryptedToken, of subject: Subject, clientID: String
  ) throws(SealError) -> RefreshToken {
    let bytes = try open(token.bytes, for: .refreshToken, context: context(subject, clientID), now: .distantPast)
    return RefreshToken(bytes)
  }

  /// Unambiguous, because a subject has no NUL.
  private func context(_ subject: Subject, _ clientID: String) -> [UInt8] {
    Array(subject.text.utf8) + [0] + Array(clientID.utf8)
  }
}
