package import Secrets
internal import WebFormats

/// The client of Apple's revocation endpoint: `POST {base}/auth/revoke`.
///
/// For deleting an account, not for an ordinary sign-out: after a revocation Apple asks the user again.
/// Source: "Revoke tokens", developer.apple.com.
package struct RevocationClient: Sendable {
  private let call: AppleCall

  init(call: AppleCall) {
    self.call = call
  }

  /// - Parameter clientID: the client that the refresh token was given to.
  package func revoke(_ token: RefreshToken, clientID: String) async -> RevocationOutcome {
    let form = [(name: "token", value: token.exposed), (name: "token_type_hint", value: "refresh_token")]
    switch await call.post("/auth/revoke", clientID: clientID, form: form) {
    case .succeeded(let body):
      return Self.confirms(body) ? .revoked : .appleTrouble(.malformed(reason: Self.unexpectedBody))
    case .refused(let refusal, _): return .refused(refusal)
    case .trouble(let trouble): return .appleTrouble(trouble)
    case .notSent(let reason): return .notSent(reason: reason)
    case .noSecret(let problem): return .noSecret(problem)
    }
  }

  /// Whether the body of a 200 is one of Apple's: empty as documented, or an object that names no error. A page of
  /// something in between says nothing about the token, which is needed to revoke it again.
  private static func confirms(_ body: [UInt8]) -> Bool {
    if body.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) { return true }
    guard let object = try? AppleCall.object(of: body) else { return false }
    return object["error"] == nil
  }

  private static let unexpectedBody = "status 200 with something other than the empty body of a revocation"
}

/// The outcome of a revocation.
package enum RevocationOutcome: Sendable, Equatable {
  /// 200 with an empty body. Also the answer for a token that was invalid already.
  case revoked
  /// Our key, team or client ID is wrong, or the token is of another client. Nothing was revoked.
  case refused(OAuthError)
  /// The result is unknown; revoking again is harmless.
  case appleTrouble(AppleServiceError)
  /// Cannot have reached Apple.
  case notSent(reason: String)
  /// The client secret could not be made. An internal error.
  case noSecret(ClientSecretMintError)
}
