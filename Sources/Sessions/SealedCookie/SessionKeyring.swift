internal import Cryptography
import FoundationEssentials
internal import Secrets
internal import WebFormats

/// The keys that sign session cookies and seal values, derived from the operator's secrets: the first, the current one,
/// signs and seals; all verify and open.
///
/// From each secret HKDF-SHA256 (RFC 5869) derives one key for each purpose, so that a value for one purpose is invalid
/// for another, and a 32-bit identifier that is part of each signed or sealed value.
package struct SessionKeyring: Sendable {
  /// In bytes, after one trailing newline was dropped.
  package static let minimumSecretLength = 32
  /// In bytes.
  package static let maximumSecretLength = 65_536

  /// The current key first.
  let keys: [Keys]
  /// The names of the cookies that are signed and sealed.
  package var cookies = CookieNames.standard

  /// - Throws: `KeyringError` if there is no secret, or one is too short or too long.
  package init(secrets: [SessionSecret]) throws(KeyringError) {
    try self.init(secrets.map { (path: nil, secret: $0) })
  }

  init(_ secrets: [(path: String?, secret: SessionSecret)]) throws(KeyringError) {
    guard !secrets.isEmpty else { throw .noSecret }
    var keys: [Keys] = []
    for (path, secret) in secrets {
      keys.append(try Keys(secret, path: path))
    }
    self.keys = keys
  }

  /// The identifier of the current key, which signs and seals.
  package var currentKey: KeyIdentifier { keys[0].identifier }

  /// Whether values sealed with this key can be opened.
  package func knows(_ key: KeyIdentifier) -> Bool { keys.contains { $0.identifier == key } }

  /// Whether every value that the other keyring opens can be opened.
  package func knowsEveryKey(of other: SessionKeyring) -> Bool { other.keys.allSatisfy { knows($0.identifier) } }

  /// Refuses a start that would lose refresh tokens because the secret that sealed them is gone.
  ///
  /// - Parameter sealed: how many tokens the store holds for each key (`EncryptedTokenStore.sealingKeys`).
  /// - Throws: `KeyringError.Code.tokensWouldBeLost`, with the remedy.
  package func requireEveryKey(of sealed: [KeyIdentifier: Int]) throws(KeyringError) {
    let unknown = sealed.filter { !knows($0.key) && $0.value > 0 }
    guard !unknown.isEmpty else { return }
    throw .tokensWouldBeLost(count: unknown.values.reduce(0, +), keys: unknown.keys.sorted())
  }

  /// A pseudonym for a user in logs: 16 hexadecimal digits, the same for the same user under the same current key, and
  /// not reversible.
  package func pseudonym(of subject: Subject) -> String {
    Hex.text(HMACSHA256.code(for: subject.text.utf8, using: keys[0].pseudonym).prefix(Self.pseudonymLength / 2))
  }

  /// The number of hexadecimal digits in a pseudonym.
  package static let pseudonymLength = 16

  /// The codes of an account for one cookie of an application, by each secret, the current one first: 16 characters of
  /// base64url each.
  /// - Parameter subject: nil for nobody.
  package func accountCodes(of subject: Subject?, for cookie: String) -> [String] {
    let data = Array((subject?.text ?? "").utf8) + [0] + Array(cookie.utf8)
    return keys.map { Base64URL.text(HMACSHA256.code(for: data, using: $0.account).prefix(12)) }
  }

  /// The length of an account's keyed hash before it is encoded, in bytes.
  package static let accountMarkLength = 16

  /// The keyed hash of an account for a cookie: 22 characters of base64url.
  package func accountMark(of subject: Subject) -> String { Self.accountMark(of: subject, keys[0]) }

  /// Whether a text is the keyed hash of an account by any of the secrets.
  package func isAccountMark(_ text: String, of subject: Subject) -> Bool {
    keys.contains { text.utf8.elementsEqual(Self.accountMark(of: subject, $0).utf8) }
  }

  private static func accountMark(of subject: Subject, _ keys: Keys) -> String {
    Base64URL.text(HMACSHA256.code(for: subject.text.utf8, using: keys.account).prefix(accountMarkLength))
  }

  /// The keys derived from one secret.
  struct Keys: Sendable {
    let identifier: KeyIdentifier
    let cookie: SymmetricKey
    let sealing: SealingKeys
    let pseudonym: SymmetricKey
    /// For the codes of accounts in cookies.
    let account: SymmetricKey

    init(_ secret: SessionSecret, path: String?) throws(KeyringError) {
      var bytes = secret.exposedBytes[...]
      if bytes.last == UInt8(ascii: "\n") { bytes = bytes.dropLast() }
      guard bytes.count >= minimumSecretLength else { throw .tooShort(path: path, byteCount: bytes.count) }
      guard bytes.count <= maximumSecretLength else { throw .tooLong(path: path) }
      let input = SymmetricKey(bytes)
      func derive(_ purpose: String, byteCount: Int = 32) -> SymmetricKey {
        HKDFSHA256.deriveKey(from: input, info: Array("cordon v1 \(purpose)".utf8), byteCount: byteCount)
      }
      identifier = derive("key identifier", byteCount: 4).exposedBytes.withUnsafeBytes { KeyIdentifier(bigEndian: $0) }
      cookie = derive("session cookie")
      sealing = SealingKeys { derive("seal \($0.rawValue)") }
      pseudonym = derive("pseudonym")
      account = derive("account")
    }
  }
}
