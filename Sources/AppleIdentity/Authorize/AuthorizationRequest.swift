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
  ///   - locale: the language of Apple's page, like `de_DE`; left out if it is not of that form.
  package init(
    settings: AppleSettings, redirectURI: String, state: String, nonce: String, locale: String? = nil
  ) {
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
    if let locale, Self.isLocale(locale) {
      parameters.append(("locale", locale))
    }
    url = "\(settings.baseURL)/auth/authorize?\(PercentEncoding.query(parameters))"
  }

  /// Two letters, an underscore, two letters: the form of every locale that Apple lists.
  private static func isLocale(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.count == 5 && bytes[2] == UInt8(ascii: "_")
      && bytes[..<2].allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
      && bytes[3...].allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}
