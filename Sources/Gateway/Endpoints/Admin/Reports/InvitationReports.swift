internal import FoundationEssentials
internal import Sessions

/// `GET /invitations`: newest first.
package struct InvitationsReport: Codable, Sendable, Equatable {
  /// All of them, also those that admit nobody any longer.
  package let invitations: [InvitationReport]
  /// The IDs of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// An invitation.
package struct InvitationReport: Codable, Sendable, Equatable {
  /// Its public name, by which it is revoked.
  package let id: String
  /// The group that it admits to.
  package let group: String
  /// The number of users that it can admit.
  package let uses: Int
  /// The number of users that it has admitted.
  package let used: Int
  /// The moment at which it ends by itself.
  package let expires: String
  /// The note that was given when it was made; nil without one.
  package let note: String?
  /// The moment at which it was made.
  package let created: String
  /// The operator or manager.
  package let by: String
  /// Whether it still admits somebody.
  package let open: Bool
  /// The link, in the answer to `POST /invitations` only.
  package let link: String?

  init(_ invitation: Invitation, at now: Date, link: String? = nil) {
    id = invitation.id
    group = invitation.group.text
    uses = invitation.uses
    used = invitation.used
    expires = invitation.expires.rfc3339
    note = invitation.note
    created = invitation.created.rfc3339
    by = invitation.by
    open = invitation.isOpen(at: now)
    self.link = link
  }
}
