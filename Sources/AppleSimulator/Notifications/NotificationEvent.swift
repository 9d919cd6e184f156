/// A server-to-server notification (Apple, "Processing changes for Sign in with Apple accounts").
struct NotificationEvent: Sendable {
  enum Kind: String, Sendable, Codable {
    case emailEnabled = "email-enabled"
    case emailDisabled = "email-disabled"
    case consentRevoked = "consent-revoked"
    case accountDeleted = "account-deleted"
    /// The other spelling, which was seen in production.
    case accountDelete = "account-delete"
  }

  let kind: Kind
  let user: SimulatedUser
  let client: SimulatedClient
  let consent: Consent
  /// Seconds since 1970; Apple sends milliseconds.
  let time: Double

  /// The claims of its token. `events` is a string that holds JSON: so Apple sends it.
  var claims: [String: JSONValue] {
    get throws {
      var event: [String: JSONValue] = [
        "type": .string(kind.rawValue), "sub": .string(user.subject(forTeam: client.teamID)),
        "event_time": IdentityTokenClaims.seconds(time * 1_000),
      ]
      if kind == .emailEnabled || kind == .emailDisabled {
        event["email"] = consent.email(of: user, teamID: client.teamID).map { .string($0) }
        event["is_private_email"] = .string(consent.hidesEmail ? "true" : "false")
      }
      return [
        "iss": .string(IdentityTokenClaims.issuer), "aud": .string(client.clientID),
        "iat": IdentityTokenClaims.seconds(time), "exp": IdentityTokenClaims.seconds(time + 86_400),
        "jti": .string(randomText(bytes: 16)),
        "events": .string(String(decoding: try encodeJSON(.object(event)), as: UTF8.self)),
      ]
    }
  }
}
