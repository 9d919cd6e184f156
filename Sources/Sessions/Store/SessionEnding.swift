/// The reason that a session ended, for the log and for lists.
package enum SessionEnding: String, Sendable, CaseIterable {
  /// The user signed out, there or from another session on the account page.
  case signedOut = "signed out"
  /// The same browser signed in again.
  case replaced
  /// Apple answered that the token is revoked.
  case revoked
  /// Apple notified that the user withdrew consent.
  case consentRevoked = "consent revoked"
  /// Apple notified that the user's Apple Account was deleted, or the operator removed the account here.
  case accountRemoved = "account removed"
  /// The operator ended it.
  case byOperator = "ended by the operator"

  /// - Parameter stored: a reason as a store has it. One that only a newer version knows is read as an operator's: that
  ///   the session has ended must not be missed for it.
  package init(stored: String) { self = Self(rawValue: stored) ?? .byOperator }
}
