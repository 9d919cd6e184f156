internal import FoundationEssentials
internal import Sessions

/// `GET /tokens`: in the order of their names.
package struct TokensReport: Codable, Sendable, Equatable {
  /// All of them, also expired ones.
  package let tokens: [TokenReport]
  /// The names of those that are damaged, each nil if it cannot be read; nil if there are none.
  package let damaged: [String?]?
}

/// A machine token.
package struct TokenReport: Codable, Sendable, Equatable {
  /// Its name, by which it is revoked.
  package let name: String
  /// The one group that it is in.
  package let group: String
  /// The moment at which it was made.
  package let created: String
  /// The moment at which it ends by itself; nil: never.
  package let expires: String?
  /// The operator.
  package let by: String
  /// Whether it is still accepted.
  package let valid: Bool
  /// The token itself, in the answer to `POST /tokens` only.
  package let token: String?

  init(_ token: MachineToken, at now: Date, text: String? = nil) {
    name = token.name.text
    group = token.group.text
    created = token.created.rfc3339
    expires = token.expires?.rfc3339
    by = token.by
    valid = token.isInForce(at: now)
    self.token = text
  }
}
