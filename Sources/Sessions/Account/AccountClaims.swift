package import FoundationEssentials

/// The most recent data from Apple about a user: from identity tokens (Apple: "Authenticating users with Sign in
/// with Apple"), in notifications, and when the application went to another team.
package struct AccountClaims: Sendable, Equatable, Codable {
  /// `email`: absent or empty for some Work & School accounts; never an identifier.
  package var email: String?
  /// `email_verified`, sent by Apple as a Boolean or as text.
  package var emailVerified: Bool?
  /// `is_private_email`: an address of Apple's relay.
  package var isPrivateEmail: Bool?
  /// `real_user_status`: 0 unsupported, 1 unknown, 2 likely real. Native apps only, and only at the first sign-in.
  package var realUserStatus: Int?
  /// `org_id` of a Managed Apple Account.
  package var organizationID: String?
  /// `scopes` of a Managed Apple Account.
  package var scopes: [String]?
  /// `transfer_sub`, for the 60 days after an app changed its team.
  package var transferSubject: String?
  /// Whether Apple forwards mail; nil until Apple notified of it.
  package var mailForwarding: MailForwarding?
  /// For an application that is about to go to another team.
  package var preparedTransfer: PreparedTransfer?
  /// The user's identifier before the application was transferred to this team.
  package var formerSubject: Subject?
  /// Every other scalar claim by its name.
  package var other: [String: ClaimValue] = [:]

  /// No claims.
  package init() {}

  /// The e-mail address if Apple has verified it, or if `allowUnverified`; nil when it is empty, or holds control
  /// characters: no address does, and an application may read two lines.
  package func email(allowUnverified: Bool) -> String? {
    guard let email, !email.isEmpty, allowUnverified || emailVerified == true,
      email.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control && $0 != "\u{2028}" && $0 != "\u{2029}"
      })
    else { return nil }
    return email
  }

  /// Returns the claims after a sign-in with the token's claims `newer`: all are replaced, so that an organization that
  /// the user has left is removed, but the address (with its flags) and the real-user status stay if the token lacks
  /// them: Apple sends the first only to clients with the scope, the second only once. Claims that no token contains
  /// stay as well.
  package func afterSignIn(_ newer: AccountClaims) -> AccountClaims {
    var result = newer
    if newer.email.isEmptyOrNil {
      result.takeEmail(of: self)
    }
    result.realUserStatus = newer.realUserStatus ?? realUserStatus
    result.mailForwarding = mailForwarding
    result.preparedTransfer = preparedTransfer
    result.formerSubject = formerSubject
    return result
  }

  /// Returns the claims after a revalidation whose identity token has the claims `newer`: they replace stored ones, and
  /// missing ones keep their value, because Apple does not promise a full token on refresh. An address always comes
  /// with its own flags.
  package func afterCheck(_ newer: AccountClaims) -> AccountClaims {
    var result = self
    if !newer.email.isEmptyOrNil {
      result.takeEmail(of: newer)
    }
    result.realUserStatus = newer.realUserStatus ?? realUserStatus
    result.organizationID = newer.organizationID ?? organizationID
    result.scopes = newer.scopes ?? scopes
    result.transferSubject = newer.transferSubject ?? transferSubject
    result.other.merge(newer.other) { _, new in new }
    return result
  }

  /// Claims about the token rather than its user: each token has its own.
  private static let tokenClaims = ["iat", "exp"]

  /// These claims, with the claims about the token taken from another one.
  package func withTokenClaims(of newer: AccountClaims) -> AccountClaims {
    var result = self
    for name in Self.tokenClaims { result.other[name] = newer.other[name] }
    return result
  }

  /// Returns the claims after a notification about mail forwarding. It concerns an address of Apple's relay: any other
  /// address does not replace the verified one.
  package func afterForwarding(
    isOn: Bool, since: Date, email newEmail: String?, isPrivateEmail newFlag: Bool?
  ) -> AccountClaims {
    var result = newFlag == true || email.isEmptyOrNil ? withAddress(newEmail, isPrivate: newFlag) : self
    result.mailForwarding = MailForwarding(isOn: isOn, since: since.millisecondsSince1970)
    return result
  }

  /// Applies an address that Apple sent outside of an identity token. A changed address is verified only if it is one
  /// of Apple's relay; without an address nothing changes.
  func withAddress(_ newEmail: String?, isPrivate newFlag: Bool?) -> AccountClaims {
    guard let newEmail, !newEmail.isEmpty else { return self }
    var result = self
    if let email, email.utf8.elementsEqual(newEmail.utf8) {
      result.isPrivateEmail = newFlag ?? isPrivateEmail
    } else {
      result.email = newEmail
      result.isPrivateEmail = newFlag
      result.emailVerified = newFlag == true ? true : nil
    }
    return result
  }

  private mutating func takeEmail(of source: AccountClaims) {
    email = source.email
    emailVerified = source.emailVerified
    isPrivateEmail = source.isPrivateEmail
  }
}

/// Whether Apple forwards mail that is sent to a user's address of its relay.
package struct MailForwarding: Sendable, Hashable, Codable {
  /// Whether mail is forwarded.
  package let isOn: Bool
  /// When Apple says it was switched, in milliseconds since 1970.
  package let since: Int64

  /// The state that Apple reported.
  package init(isOn: Bool, since: Int64) {
    self.isOn = isOn
    self.since = since
  }
}

extension String? {
  fileprivate var isEmptyOrNil: Bool { self?.isEmpty ?? true }
}
