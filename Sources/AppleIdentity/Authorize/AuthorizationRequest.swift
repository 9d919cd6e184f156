internal import WebFormats

/// The address that a browser is sent to for signing in: `GET {base}/auth/authorize`.
///
/// Source: "Sign in with Apple JS / Incorporating Sign in with Apple into other platforms", developer.apple.com.
package struct AuthorizationRequest: Sendable, Equatable {
  /// The complete address, percent-encoded. A space is `%20`, never `+`. It carries `state` and `nonce`, so it must
  /// not be logged.
  package let url: String

  /// - Parameters:
  ///   - redirectURI: the address that Apple sends the response to; identical in the code exchange.
  ///   - state: returned unchanged. The caller compares it before anything else.
  ///   - nonce: returned as a claim of the identity token; used once.
  package init(settings: AppleSettings, redirectURI: String, state: String, nonce: String) {
    var parameters: [(name: String, value: String)] = [
      ("client_id", settings.clientID),
      ("redirect_uri", redirectURI),
      ("response_type", settings.responseType.rawValue),
      ("response_mode", settings.responseMode.rawValue),
    ]
    if !settings.scopes.isEmpty {
      parameters.append(("scope", settings.scopes.map(\.rawValue).joined(separator: " ")))
    }
    parameters.append(("state", state))
    parameters.append(("nonce", nonce))
    url = "\(settings.baseURL)/auth/authorize?\(PercentEncoding.query(parameters))"
  }
}
