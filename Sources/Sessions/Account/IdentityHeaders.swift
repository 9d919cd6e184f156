internal import WebFormats

/// Writes the request header fields that identify the user to the upstream, from an account and its session. Rendered
/// once per session, not per request.
package enum IdentityHeaders {
  /// The configured headers that have a value, in the order of the configuration. An empty claim gives no header.
  /// A value holds no control character, whatever the claim held.
  ///
  /// Claims: `sub`, `name`, `given_name`, `family_name`, `session_id` (the session's `PublicSessionID`, which is not
  /// what the cookie carries), `aud` (the client that the session was signed in with), `email` (only if Apple verified
  /// it, unless configured otherwise), `email_verified`, `is_private_email`, `real_user_status`, `org_id`, `scopes`
  /// (joined by spaces), `transfer_sub`, `former_sub` (what the user was called before the application came to this
  /// team), `mail_forwarding` (as Apple notified of it), `groups` (joined by commas), and any other claim by the name
  /// it has in the identity token.
  ///
  /// - Parameters:
  ///   - groups: the names of the user's groups, sorted.
  ///   - omitted: receives the name of each header whose template cannot be sent, and the reason.
  package static func render(
    account: Account, session: Session, groups: [String] = [], settings: IdentityHeaderSettings,
    omitted: (String, HeaderOmissionError) -> Void = { _, _ in }
  ) -> [(name: String, value: [UInt8])] {
    let claims = ClaimSource(
      account: account, session: session, groups: groups, allowsUnverifiedEmail: settings.allowUnverifiedEmail)
    return settings.headers.compactMap { header in
      switch header.value {
      case .claim(let claim):
        return claims.text(of: claim).map { (name: header.name, value: encoded($0, settings.encoding)) }
      case .template(let template):
        do throws(HeaderOmissionError) {
          return (
            name: header.name,
            value: try template.render(claims, encoding: HeaderTemplate.Encoding(settings.encoding))
          )
        } catch {
          omitted(header.name, error)
          return nil
        }
      }
    }
  }

  /// The claims that Apple or Cordon is known to send, for warnings about others.
  package static let knownClaims = [
    "sub", "email", "name", "given_name", "family_name", "groups", "session_id", "aud", "email_verified",
    "is_private_email", "real_user_status", "org_id", "scopes", "transfer_sub", "former_sub", "mail_forwarding", "iss",
    "iat", "exp", "auth_time", "nonce_supported",
  ]

  /// A claim as text, unencoded; nil if it is absent or empty.
  package static func claim(
    _ name: String, account: Account, session: Session, groups: [String] = [], allowUnverifiedEmail: Bool
  ) -> String? {
    let claims = account.claims
    let text: String? =
      switch name {
      case "sub": account.subject.text
      case "name": account.name?.text
      case "given_name": account.name?.given
      case "family_name": account.name?.family
      case "session_id": session.handle.text
      case "aud": session.clientID
      case "email": claims.email(allowUnverified: allowUnverifiedEmail)
      case "email_verified": claims.emailVerified.map { ClaimValue.truth($0).headerText }
      case "is_private_email": claims.isPrivateEmail.map { ClaimValue.truth($0).headerText }
      case "real_user_status": claims.realUserStatus.map { String($0) }
      case "org_id": claims.organizationID
      case "scopes": claims.scopes?.joined(separator: " ")
      case "transfer_sub": claims.transferSubject
      case "former_sub": claims.formerSubject?.text
      case "mail_forwarding": claims.mailForwarding.map { ClaimValue.truth($0.isOn).headerText }
      case "groups": groups.joined(separator: ",")
      default: claims.other[name]?.headerText
      }
    guard let text, !text.isEmpty else { return nil }
    return text
  }

  /// The bytes of a field value (RFC 9110, 5.5). Spaces at the ends are encoded too: a recipient would strip them.
  static func encoded(_ text: String, _ encoding: IdentityHeaderSettings.Encoding) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for index in bytes.indices {
      if goesAsItIs(bytes, index, encoding) {
        result.append(bytes[index])
      } else {
        PercentEncoding.append(bytes[index], to: &result)
      }
    }
    return result
  }

  private static func goesAsItIs(_ bytes: [UInt8], _ index: Int, _ encoding: IdentityHeaderSettings.Encoding) -> Bool {
    switch bytes[index] {
    case UInt8(ascii: " "): index != bytes.startIndex && index != bytes.endIndex - 1
    case UInt8(ascii: "%"): encoding == .utf8
    case 0x21...0x7E: true
    case 0x80...: encoding == .utf8 && !isC1Control(bytes, index)
    default: false
    }
  }

  /// Whether the byte is part of U+0080 to U+009F, which UTF-8 writes as C2 80 to C2 9F.
  private static func isC1Control(_ bytes: [UInt8], _ index: Int) -> Bool {
    if bytes[index] == 0xC2 { return index + 1 < bytes.endIndex && (0x80...0x9F).contains(bytes[index + 1]) }
    return index > bytes.startIndex && bytes[index - 1] == 0xC2 && (0x80...0x9F).contains(bytes[index])
  }
}
