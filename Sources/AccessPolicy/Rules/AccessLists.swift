/// Lists of users. A user that any one of them names is admitted.
package struct AccessLists: Sendable, Equatable {
  /// Apple's `sub`, exactly.
  package var subjects: [String] = []
  /// E-mail addresses, compared without regard to ASCII case.
  package var emails: [String] = []
  /// Domains of e-mail addresses, compared without regard to ASCII case.
  package var emailDomains: [String] = []
  /// `org_id` of a Managed Apple Account, exactly.
  package var organizations: [String] = []
  /// Names of declared groups (`allow_groups`), exactly.
  package var groups: [String] = []

  /// Empty lists, which name nobody.
  package init() {}

  /// Whether no list names anybody.
  package var isEmpty: Bool {
    subjects.isEmpty && emails.isEmpty && emailDomains.isEmpty && organizations.isEmpty && groups.isEmpty
  }
}

/// Lists of users who are refused. Addresses count whether Apple has verified them or not.
package struct DenyLists: Sendable, Equatable {
  /// Apple's `sub`, exactly.
  package var subjects: [String] = []
  /// E-mail addresses, compared without regard to ASCII case.
  package var emails: [String] = []
  /// Names of declared groups, exactly.
  package var groups: [String] = []

  /// Empty lists, which name nobody.
  package init() {}

  /// Whether no list names anybody.
  package var isEmpty: Bool { subjects.isEmpty && emails.isEmpty && groups.isEmpty }
}
