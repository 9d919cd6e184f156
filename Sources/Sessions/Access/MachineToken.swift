internal import Cryptography
package import FoundationEssentials
internal import Secrets
internal import WebFormats

/// The text of a machine token: `cdn_`, 16 random bytes and 16 bytes of HMAC in base64url. The code lets a gateway
/// refuse an unknown token without asking the store.
package enum MachineTokenText {
  /// The text before the 43 characters of base64url.
  package static let prefix = "cdn_"
  /// The length of the whole text, in bytes.
  package static let length = 4 + 43

  /// A new token.
  package static func random(_ key: StoreKey) -> (text: String, handle: PublicSessionID) {
    let identifier = SystemRandom.bytes(16)
    return (prefix + Base64URL.text(identifier + code(identifier, key)), handle(identifier))
  }

  /// The public name of a token whose code is right; nil for anything else.
  package static func verify(_ text: some Collection<UInt8>, _ key: StoreKey) -> PublicSessionID? {
    guard text.count == length, text.starts(with: prefix.utf8),
      let bytes = Base64URL.decode(Array(text.dropFirst(prefix.utf8.count))), bytes.count == 32
    else { return nil }
    let identifier = Array(bytes[..<16])
    return ConstantTime.equal(code(identifier, key), bytes[16...]) ? handle(identifier) : nil
  }

  private static func code(_ identifier: [UInt8], _ key: StoreKey) -> [UInt8] {
    Array(key.authenticationCode(for: "cordon token v1", identifier).prefix(16))
  }

  /// The first 16 bytes of a hash, so that the stored name gives no access.
  private static func handle(_ identifier: [UInt8]) -> PublicSessionID {
    SHA256.hash(Array("cordon token handle v1\0".utf8) + identifier).withUnsafeBytes { PublicSessionID(bigEndian: $0) }
  }
}

/// A token that a machine signs in with.
package struct MachineToken: Sendable, Equatable {
  /// Unique; free again after revocation. 1 to 64 letters, digits, `-`, `_` or `.`, as of a group.
  package let name: GroupName
  /// Its public name: half a hash of the token. Its revocation is in the change feed like the end of a session.
  package let handle: PublicSessionID
  /// The only group that it is in.
  package let group: GroupName
  /// The time at which it was made.
  package let created: Date
  /// The moment at which it ends; nil: never.
  package let expires: Date?
  /// The operator; see ``Ban/by``.
  package let by: String

  /// A token as a store keeps it.
  package init(
    name: GroupName, handle: PublicSessionID, group: GroupName, created: Date, expires: Date?, by: String
  ) {
    self.name = name
    self.handle = handle
    self.group = group
    self.created = created
    self.expires = expires
    self.by = by
  }

  /// The identity that applications see: `token:NAME`.
  package var subject: Subject { Subject(ofToken: name) }

  /// Whether it still holds. The moment of its end is too late.
  package func isInForce(at now: Date) -> Bool { expires.map { now < $0 } ?? true }
}
