internal import WebFormats

/// The operator or manager of a decision on access, as stores keep it with a ban.
///
/// No name can be made up: an operator's is that of a credential, a constant of this program, and a manager's is a
/// keyed hash. The two differ in their form, by which a stored name is recognized.
package struct AccessAuthor: Sendable, Hashable {
  /// `token` or `socket`, in stores of earlier versions also other words; or 16 hexadecimal digits.
  package let text: String

  /// An operator with the token of the admin listener.
  package static let token: AccessAuthor = "token"
  /// An operator who may open the socket of the admin listener.
  package static let socket: AccessAuthor = "socket"

  /// A manager on the people page.
  package static func manager(_ subject: Subject, _ keyring: SessionKeyring) -> AccessAuthor {
    AccessAuthor(stored: keyring.pseudonym(of: subject))
  }

  /// The author that a store has.
  package init(stored text: String) { self.text = text }

  /// Whether this is a manager, by this secret or an earlier one (`SessionKeyring.pseudonym(of:)`). Everything else is
  /// an operator.
  package var isManager: Bool {
    text.utf8.count == SessionKeyring.pseudonymLength && text.utf8.allSatisfy { Hex.isLowercaseDigit($0) }
  }
}

extension AccessAuthor: ExpressibleByStringLiteral {
  /// A constant of the source.
  package init(stringLiteral text: String) { self.init(stored: text) }
}
