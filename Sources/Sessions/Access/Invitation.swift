internal import Cryptography
package import FoundationEssentials
internal import Secrets
internal import WebFormats

/// The secret code of an invitation link: 128 random bits, of which the store keeps only a hash.
package struct InvitationCode: Sendable {
  private let text: Secret<InvitationCode>
  /// 22 characters of base64url, for the link. Keep it out of logs and error messages.
  package var exposedText: String { text.exposed }
  /// The stored bytes: SHA-256 of a label and the code.
  package let hash: [UInt8]

  /// A random code from the system's random source.
  package static func random() -> InvitationCode {
    InvitationCode(bytes: SystemRandom.bytes(16))
  }

  /// Parses the text of a link; nil if it is not a code.
  package init?(_ text: some StringProtocol) {
    guard let bytes = Base64URL.decode(Array(text.utf8)), bytes.count == 16 else { return nil }
    self.init(bytes: bytes)
  }

  private init(bytes: [UInt8]) {
    text = Secret(Base64URL.text(bytes))
    hash = SHA256.hash(Array("cordon invitation v1\0".utf8) + bytes)
  }
}

/// An invitation to a group.
package struct Invitation: Sendable, Equatable {
  /// The public name, for lists and for revoking: 8 characters. It gives no access.
  package let id: String
  /// The group that it admits to.
  package let group: GroupName
  /// The largest number of users that it admits, from 1.
  package let uses: Int
  /// The number of users that it has admitted.
  package let used: Int
  /// The moment at which it ends.
  package let expires: Date
  /// The operator's note; nil without one.
  package let note: String?
  /// The time at which it was made.
  package let created: Date
  /// The operator or manager; see ``Ban/by``.
  package let by: String

  /// An invitation as a store keeps it.
  package init(
    id: String, group: GroupName, uses: Int, used: Int = 0, expires: Date, note: String?, created: Date, by: String
  ) {
    self.id = id
    self.group = group
    self.uses = uses
    self.used = used
    self.expires = expires
    self.note = note
    self.created = created
    self.by = by
  }

  /// Whether it still admits somebody.
  package func isOpen(at now: Date) -> Bool { used < uses && now < expires }
}

/// The outcome of redeeming an invitation.
package enum RedemptionOutcome: Sendable, Equatable {
  /// The user is in the group from now on.
  case joined(GroupName)
  /// The user was in the group already, by the store; nothing was used up.
  case alreadyMember(GroupName)
  /// The user is banned; nothing was used up.
  case banned
  /// It is used up, expired, revoked, or was never there.
  case closed
}
