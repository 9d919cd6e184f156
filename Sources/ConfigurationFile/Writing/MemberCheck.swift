internal import AccessPolicy

/// The check of a member of a group before there is a file.
package enum MemberCheck {
  /// The problem and the remedy; nil for a subject, an e-mail address or `@` and a domain.
  package static func problem(of text: String) -> String? {
    GroupMember.problem(of: text).map { "\($0.message); \($0.remedy)" }
  }

  /// Whether a text counts as a subject and does not look like one of Apple's.
  package static func isUnlikelySubject(_ text: String) -> Bool { GroupMember.isUnlikelySubject(text) }
}
