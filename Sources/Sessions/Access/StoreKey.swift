internal import Cryptography
internal import Secrets
internal import WebFormats

/// The random key of a store, which a migration makes and the store keeps: it hashes banned subjects and authenticates
/// machine tokens. It does not depend on `session.secret_files`, so rotating those lifts no ban and ends no token.
package struct StoreKey: Sendable {
  /// In bytes.
  package static let byteCount = 32
  private let key: Secret<StoreKey>
  /// The key itself, for a store. Keep it out of logs, error messages and pages.
  package var exposedBytes: [UInt8] { key.exposedBytes }

  /// Nil unless there are 32 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    key = Secret(bytes)
  }

  /// A random key from the system's random source.
  package static func random() -> StoreKey {
    StoreKey(exactly: SystemRandom.bytes(byteCount))
  }

  private init(exactly bytes: [UInt8]) { key = Secret(bytes) }

  /// HMAC-SHA256 over a purpose and some data.
  func authenticationCode(for purpose: String, _ data: some Sequence<UInt8>) -> [UInt8] {
    HMACSHA256.code(for: Array(purpose.utf8) + [0] + Array(data), using: SymmetricKey(key.exposedBytes))
  }

  /// The name under which a subject's ban is kept.
  package func banHash(of subject: Subject) -> [UInt8] {
    authenticationCode(for: "cordon ban v1", subject.text.utf8)
  }

  /// The name under which stores keep that a subject has used an invitation: it outlives the account, so that nobody
  /// uses an invitation up twice.
  package func guestName(of subject: Subject) -> String {
    Base64URL.text(authenticationCode(for: "cordon invitation use v1", subject.text.utf8))
  }
}
