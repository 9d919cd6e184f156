import Cryptography

/// The claims about a user in an identity token (Apple, "Authenticating users with Sign in with
/// Apple", table of claims).
struct IdentityTokenClaims: Sendable {
  /// Apple's own issuer, whatever address the simulator listens on.
  static let issuer = "https://appleid.apple.com"

  let client: SimulatedClient
  let user: SimulatedUser
  let consent: Consent
  let switches: SimulatorSwitches
  let now: Double
  let authenticatedAt: Double
  var nonce: String?
  /// Hashed into `c_hash` of the token that the browser carries.
  var code: String?
  /// Hashed into `at_hash` of the token that the token endpoint answers.
  var accessToken: String?
  var isNative = false

  /// The claims, by name.
  var members: [String: JSONValue] {
    var claims: [String: JSONValue] = [
      "iss": .string(Self.issuer),
      "aud": .string(client.clientID),
      "iat": Self.seconds(now),
      "exp": Self.seconds(now + switches.identityTokenLifetime),
      "auth_time": Self.seconds(authenticatedAt),
      "sub": .string(user.subject(forTeam: client.teamID)),
    ]
    if switches.nonceSupported { claims["nonce_supported"] = true }
    if let nonce { claims["nonce"] = .string(nonce) }
    if let code { claims["c_hash"] = .string(Self.halfHash(code)) }
    if let accessToken { claims["at_hash"] = .string(Self.halfHash(accessToken)) }
    if isNative { claims["real_user_status"] = .integer(user.realUserStatus) }
    if let transferSubject = user.transferSubject {
      claims["transfer_sub"] = .string(transferSubject)
    } else if let ends = client.transferEnds, now < ends {
      claims["transfer_sub"] = .string(user.transferSubject(toTeam: client.teamID))
    }
    if let organizationID = user.organizationID { claims["org_id"] = .string(organizationID) }
    if consent.scopes.contains("email"), let email = consent.email(of: user, teamID: client.teamID) {
      claims["email"] = .string(email)
      claims["email_verified"] = flag(user.emailVerified || consent.hidesEmail)
      claims["is_private_email"] = flag(consent.hidesEmail)
    }
    return claims.overlaid(with: user.claims)
  }

  /// Whole seconds since 1970. A lifetime from a configuration can be anything, and must not trap.
  static func seconds(_ time: Double) -> JSONValue {
    .integer(Int64(exactly: time.rounded(.down)) ?? Int64.max)
  }

  /// Apple has sent both a Boolean and its name in a string; the switch chooses.
  private func flag(_ value: Bool) -> JSONValue {
    switches.flagsAsStrings ? .string(value ? "true" : "false") : .bool(value)
  }

  /// The left half of the SHA-256 (OpenID Connect Core, section 3.3.2.11).
  static func halfHash(_ text: String) -> String {
    base64URL(SHA256.hash(text.utf8).prefix(16))
  }
}
