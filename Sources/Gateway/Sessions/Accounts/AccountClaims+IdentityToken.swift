internal import AppleIdentity
internal import Sessions

extension AccountClaims {
  /// The claims of an identity token.
  init(_ claims: IdentityClaims) {
    self.init()
    email = claims.email
    emailVerified = claims.isEmailVerified
    isPrivateEmail = claims.isPrivateEmail
    realUserStatus = claims.realUserStatus
    organizationID = claims.organizationID
    scopes = claims.scopes.map { $0.split(separator: " ").map(String.init) }
    transferSubject = claims.transferSubject
    for (name, text) in claims.values where !Self.named.contains(name) && !text.isEmpty { other[name] = .text(text) }
  }

  /// Claims with a property of their own (`aud` is the session's), and claims that only bind the token to one sign-in.
  private static let named: Set<String> = [
    "email", "email_verified", "is_private_email", "real_user_status", "org_id", "scopes", "transfer_sub", "sub", "aud",
    "nonce", "c_hash", "at_hash",
  ]
}
