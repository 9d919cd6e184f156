internal import Secrets
internal import WebFormats

/// The request of a native app after Apple's sign-in sheet: JSON with `identity_token`, `authorization_code`, the raw
/// `nonce` and, the first time ever, `user`.
///
/// Nothing in it is verified. Source: "Authenticating users with Sign in with Apple", developer.apple.com.
package struct NativeSignInRequest: Sendable, Equatable {
  /// The token that the sheet gave to the app.
  package let identityToken: UnverifiedIdentityToken
  /// The code that the sheet gave to the app, to be exchanged within five minutes.
  package let code: AuthorizationCode
  /// The raw nonce of the app, which may have sent only its SHA-256 to Apple.
  package let nonce: String
  /// The name as the app submitted it, sanitized. `user` is an object as the web's, or the text of one.
  package let user: SubmittedUser?

  /// The longest text that is read, in bytes.
  package static let maximumBytes = 32 * 1024

  /// Reads an app's JSON. Unknown members are ignored; a repeated member refuses the whole.
  package init(json: some Collection<UInt8>) throws(NativeSignInError) {
    let members: [String: StrictJSON]
    do throws(StrictJSONError) {
      members = try StrictJSON.object(json, maximumBytes: Self.maximumBytes, maximumDepth: 4)
    } catch {
      throw .unreadable(error.reason)
    }
    identityToken = UnverifiedIdentityToken(
      try Self.text("identity_token", of: members, maximumBytes: IdentityTokenVerifier.maximumBytes))
    code = AuthorizationCode(try Self.text("authorization_code", of: members, maximumBytes: 2048))
    nonce = try Self.text("nonce", of: members, maximumBytes: 512)
    user =
      switch members["user"] {
      case .object(let user): SubmittedUser(user)
      case .string(let text): try? SubmittedUser(json: text.utf8)
      default: nil
      }
  }

  /// A required member: printable ASCII without spaces.
  private static func text(
    _ name: String, of members: [String: StrictJSON], maximumBytes: Int
  ) throws(NativeSignInError) -> String {
    guard let text = members[name]?.text, !text.isEmpty else { throw .missing(name) }
    guard text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .malformed(name)
    }
    return text
  }
}

/// The reason why an app's request could not be used. Always the sender's fault.
package enum NativeSignInError: Error, Sendable, Equatable {
  /// Not JSON, not an object, too long or too deep.
  case unreadable(String)
  /// A member is missing.
  case missing(String)
  /// Too long, or with invalid characters.
  case malformed(String)
}
