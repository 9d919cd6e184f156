/// The attributes of a signed-in user that rules depend on.
package struct Principal: Sendable, Equatable {
  /// Apple's `sub`.
  package var subject: String
  /// Apple's `sub` before the application came from another team: only deny lists that name it count.
  package var formerSubject: String?
  /// The address of the identity token; nil where there was none or an empty one (Work & School accounts).
  package var email: String?
  /// Apple's `email_verified`.
  package var isEmailVerified: Bool
  /// Apple's `is_private_email`: the address is a relay address because the user hid the real one.
  package var isPrivateEmail: Bool
  /// Apple's `org_id`, of a Managed Apple Account.
  package var organization: String?
  /// The user's groups (`GroupDirectory.membership`).
  package var membership = GroupMembership()

  /// A user without groups, until ``membership`` is set.
  package init(
    subject: String, email: String? = nil, isEmailVerified: Bool = false, isPrivateEmail: Bool = false,
    organization: String? = nil, formerSubject: String? = nil
  ) {
    self.subject = subject
    self.formerSubject = formerSubject
    self.email = email
    self.isEmailVerified = isEmailVerified
    self.isPrivateEmail = isPrivateEmail
    self.organization = organization
  }
}

/// The decision of rules on a user.
package enum AccessDecision: Sendable, Equatable {
  /// Every rule admits the user.
  case allowed
  /// A rule denies the user, for this reason.
  case denied(DenialReason)
}

/// The reason why rules deny a user; of several, the most helpful one.
package enum DenialReason: String, Sendable, Equatable {
  /// No list names the user.
  case notListed = "not-listed"
  /// A deny list names the user.
  case denyListed = "deny-listed"
  /// A claim of the identity token does not say what the route requires.
  case claimNotMet = "claim-not-met"
  /// A list names the address, but Apple does not say that it is verified.
  case emailNotVerified = "email-not-verified"
  /// The route is for those who hide the address, and this user does not.
  case emailShown = "email-shown"
  /// There are lists of addresses, none names the user, and the user hid the real address; or the route is
  /// not for those who do. Sharing it may help.
  case emailHidden = "email-hidden"
  /// There are lists of addresses, and the account has none.
  case emailMissing = "email-missing"
}
