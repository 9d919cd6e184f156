/// Apple's error object: `{"error": …}`, now and then with an undocumented description.
package struct OAuthError: Error, Sendable, Equatable {
  /// Apple's error code (RFC 6749, 5.2).
  package let code: Code
  /// `error_description`, made fit for a log. For the operator only; no decision depends on it.
  package let description: String?
  /// The seconds by which our clock is ahead of Apple's, or behind (negative), if that explains the refusal of our
  /// credentials.
  package let clockDifference: Int?

  /// Creates an error.
  package init(code: Code, description: String?, clockDifference: Int? = nil) {
    self.code = code
    self.description = description
    self.clockDifference = clockDifference
  }

  /// The documented codes.
  package enum Code: String, Sendable, CaseIterable {
    /// A parameter is missing or wrong, the redirect URI say.
    case invalidRequest = "invalid_request"
    /// Team, key, client ID or clock is wrong.
    case invalidClient = "invalid_client"
    /// The code or the refresh token is invalid, expired or revoked.
    case invalidGrant = "invalid_grant"
    /// The key is not enabled for this client.
    case unauthorizedClient = "unauthorized_client"
    /// A `grant_type` that Apple does not know.
    case unsupportedGrantType = "unsupported_grant_type"
    /// A scope that Apple does not know.
    case invalidScope = "invalid_scope"
  }

  /// The meaning of Apple's error.
  package var message: String {
    "Apple answered \(code.rawValue)" + (description.map { ": \($0)" } ?? "")
  }

  /// The settings that the operator should check after the refresh of a token: it has neither redirect URI nor scopes.
  package var refreshRemedy: String {
    switch code {
    case .invalidRequest:
      "check apple.client_id and apple.native_client_ids, and whether apple.proxy or another proxy changes requests; "
        + "otherwise please report it"
    case .invalidScope: "this should not happen: please report it"
    case .invalidClient, .unauthorizedClient, .invalidGrant, .unsupportedGrantType: remedy
    }
  }

  /// The remedy for a clock that makes our secrets invalid; nil if the clock is right, or Apple sent no time.
  private var clockRemedy: String? {
    guard let clockDifference else { return nil }
    let fault =
      clockDifference > 0
      ? "\(clockDifference) s ahead of Apple's, so that our client secrets are not valid yet"
      : "\(-clockDifference) s behind Apple's, so that our client secrets have expired"
    return "our clock is \(fault): set it (timedatectl set-ntp true)"
  }

  /// The settings that the operator should check after the exchange of a code.
  package var remedy: String {
    switch code {
    case .invalidClient:
      clockRemedy ?? "check apple.client_id, apple.team_id, apple.key_id and the .p8 file, and the system's clock"
    case .unauthorizedClient: "check that the key is enabled for Sign in with Apple and belongs to this client ID"
    case .invalidGrant: "the code or token was used before, has expired, or was revoked"
    case .invalidRequest: "check that the redirect URI is registered with the Services ID exactly as it is sent"
    case .invalidScope: "check apple.scopes"
    case .unsupportedGrantType: "this should not happen: please report it"
    }
  }
}
