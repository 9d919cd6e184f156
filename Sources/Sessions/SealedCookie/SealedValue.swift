internal import Cryptography
package import FoundationEssentials
import Secrets
import WebFormats

/// The purpose of a sealed value. Each purpose has a key of its own, so that a value sealed for one cannot be opened as
/// another.
package enum SealPurpose: String, Sendable, Hashable, CaseIterable {
  /// The cookie of one attempt to sign in.
  case attempt
  /// A refresh token in the store.
  case refreshToken = "refresh-token"
  /// The one-time code of an ``AppReturn``. Its key is derived from this text.
  case appReturn = "hand-back"
  /// A browser's visit to the sign-in of `public_url`, from a host without a session.
  case visit
  /// The one-time code that such a visit brings back.
  case arrival
}

/// The reason why a sealed value could not be opened. The sender is at fault, unless the operator removed a key.
package enum SealError: Error, Sendable, Equatable {
  /// Cut, extended, altered, re-spelled, for another purpose or another context.
  case refused
  /// Sealed with a key that is derived from no configured secret.
  case unknownKey(KeyIdentifier)
  /// Genuine, but expired.
  case expired
  /// The cryptographic library failed. Not known to happen.
  case failed
}

/// A value that only the holder of the key can read or make, bound to a purpose, a context and a time.
///
///     version=1 | key identifier (4) | salt (12) | nonce (12) | AES-256-GCM( expiry in ms (8) | bytes ) | tag (16)
///
/// Each value has a key of its own, HMAC-SHA256 of the purpose's key over the salt (the idea of XAES-256-GCM): with 192
/// random bits for each, no number of sign-in attempts leads to a repeated nonce. Purpose, context and the
/// header are authenticated with it.
enum SealedValue {
  static let version: UInt8 = 1
  static let saltLength = 12
  static let headerLength = 1 + 4
  static let expiryLength = 8
  static let overhead = headerLength + saltLength + AES256GCM.nonceLength + expiryLength + AES256GCM.tagLength
}

extension SessionKeyring {
  /// Seals `bytes` with the current key as text of base64url, for a cookie or a URL.
  ///
  /// - Parameters:
  ///   - purpose: the purpose; required again to open it.
  ///   - context: the object it belongs to (the attempt's name, say), not part of the value; required again to open it.
  ///   - expires: the time after which it is no longer opened; nil for never.
  /// - Throws: only `SealError.failed`.
  package func sealText(
    _ bytes: [UInt8], for purpose: SealPurpose, context: [UInt8] = [], expires: Date?
  ) throws(SealError) -> String {
    Base64URL.text(try seal(bytes, for: purpose, context: context, expires: expires))
  }

  /// Opens a value that `sealText` sealed.
  package func openText(
    _ text: [UInt8], for purpose: SealPurpose, context: [UInt8] = [], now: Date
  ) throws(SealError) -> [UInt8] {
    guard let sealed = Base64URL.decode(text) else { throw .refused }
    return try open(sealed, for: purpose, context: context, now: now)
  }

  func seal(
    _ bytes: [UInt8], for purpose: SealPurpose, context: [UInt8], expires: Date?
  ) throws(SealError) -> [UInt8] {
    let header = [SealedValue.version] + keys[0].identifier.bytes
    let salt = SystemRandom.bytes(SealedValue.saltLength)
    let nonce = SystemRandom.bytes(AES256GCM.nonceLength)
    let expiry = expires?.millisecondsSince1970 ?? Int64.max
    let plain = expiry.bigEndianBytes + bytes
    guard
      let sealed = AES256GCM.seal(
        plain, using: keys[0].messageKey(for: purpose, salt: salt), nonce: nonce,
        authenticating: SealedValue.associated(header: header, purpose: purpose, context: context))
    else { throw .failed }
    return header + salt + nonce + sealed
  }

  func open(
    _ sealed: [UInt8], for purpose: SealPurpose, context: [UInt8], now: Date
  ) throws(SealError) -> [UInt8] {
    guard sealed.count >= SealedValue.overhead, let key = SealedValue.key(of: sealed) else { throw .refused }
    guard knows(key) else { throw .unknownKey(key) }
    for candidate in keys where candidate.identifier == key {
      guard let plain = candidate.open(sealed, for: purpose, context: context) else { continue }
      let expiry = Int64(bigEndian: plain.prefix(SealedValue.expiryLength))
      guard now.millisecondsSince1970 < expiry else { throw .expired }
      return Array(plain.dropFirst(SealedValue.expiryLength))
    }
    throw .refused
  }
}

extension SealedValue {
  /// The identifier of the key that sealed it, as the header says; nil if this is not a sealed value.
  static func key(of sealed: [UInt8]) -> KeyIdentifier? {
    guard sealed.count >= headerLength, sealed[0] == version else { return nil }
    return sealed[1..<headerLength].withUnsafeBytes { KeyIdentifier(bigEndian: $0) }
  }

  /// The associated data. Unambiguous, because a purpose has no NUL.
  fileprivate static func associated(header: [UInt8], purpose: SealPurpose, context: [UInt8]) -> [UInt8] {
    header + Array(purpose.rawValue.utf8) + [0] + context
  }
}

extension SessionKeyring.Keys {
  fileprivate func messageKey(for purpose: SealPurpose, salt: [UInt8]) -> SymmetricKey {
    SymmetricKey(HMACSHA256.code(for: salt, using: sealing.key(for: purpose)))
  }

  /// Nil unless it is exactly what this key sealed for this purpose and context.
  fileprivate func open(_ sealed: [UInt8], for purpose: SealPurpose, context: [UInt8]) -> [UInt8]? {
    var rest = sealed[...]
    func take(_ count: Int) -> [UInt8] {
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    let header = take(SealedValue.headerLength)
    let salt = take(SealedValue.saltLength)
    let nonce = take(AES256GCM.nonceLength)
    guard
      let plain = AES256GCM.open(
        rest, using: messageKey(for: purpose, salt: salt), nonce: nonce,
        authenticating: SealedValue.associated(header: header, purpose: purpose, context: context)),
      plain.count >= SealedValue.expiryLength
    else { return nil }
    return plain
  }
}

/// One sealing key for each purpose.
struct SealingKeys: Sendable {
  private let attempt: SymmetricKey
  private let refreshToken: SymmetricKey
  private let appReturn: SymmetricKey
  private let visit: SymmetricKey
  private let arrival: SymmetricKey

  init(derive: (SealPurpose) -> SymmetricKey) {
    attempt = derive(.attempt)
    refreshToken = derive(.refreshToken)
    appReturn = derive(.appReturn)
    visit = derive(.visit)
    arrival = derive(.arrival)
  }

  func key(for purpose: SealPurpose) -> SymmetricKey {
    switch purpose {
    case .attempt: attempt
    case .refreshToken: refreshToken
    case .appReturn: appReturn
    case .visit: visit
    case .arrival: arrival
    }
  }
}
