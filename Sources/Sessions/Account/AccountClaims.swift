/// What Apple's identity tokens last said of a user, in words of our own
/// (Apple: "Authenticating users with Sign in with Apple", the identity token's claims).
public struct AccountClaims: Sendable, Equatable, Codable {
  /// `email`: absent or empty for some Work & School accounts; never an identifier.
  public var email: String?
  /// `email_verified`, sent by Apple as a Boolean or as text.
  public var emailVerified: Bool?
  /// `is_private_email`: an address of Apple's relay.
  public var isPrivateEmail: Bool?
  /// `real_user_status`: 0 unsupported, 1 unknown, 2 likely real. Native apps only, and only at the first sign-in.
  public var realUserStatus: Int?
  /// `org_id` of a Managed Apple Account.
  public var organizationID: String?
  /// `scopes` of a Managed Apple Account.
  public var scopes: [String]?
  /// `transfer_sub`, for the 60 days after an app changed its team.
  public var transferSubject: String?
  /// Every other scalar claim by its name.
  public var other: [String: ClaimValue] = [:]

  public init() {}

  /// The e-mail address if Apple has verified it, or if `allowUnverified`; nil when it is empty.
  public func email(allowUnverified: Bool) -> String? {
    guard let email, !email.isEmpty, allowUnverified || emailVerified == true else { return nil }
    return email
  }

  /// After a sign-in whose token said `newer`: everything is replaced, so that an organization that was left is gone, but
  /// the address (with its flags) and the real-user status stay when the token is silent on them: Apple sends the one
  /// only to clients that asked for the scope, the other only once.
  public func afterSignIn(_ newer: AccountClaims) -> AccountClaims {
    var result = newer
    if newer.email.isEmptyOrNil {
      result.takeEmail(of: self)
    }
    result.realUserStatus = newer.realUserStatus ?? realUserStatus
    return result
  }

  /// After a check whose answer carried a token that said `newer`: what it says replaces, what it is silent on stays,
  /// because Apple does not promise a full token on refresh. An address always comes with its own flags.
  public func afterCheck(_ newer: AccountClaims) -> AccountClaims {
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

  private mutating func takeEmail(of source: AccountClaims) {
    email = source.email
    emailVerified = source.emailVerified
    isPrivateEmail = source.isPrivateEmail
  }
}

extension String? {
  fileprivate var isEmptyOrNil: Bool { self?.isEmpty ?? true }
}
