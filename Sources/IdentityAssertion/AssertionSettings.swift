/// Settings of signed identity assertions (`[assertion]` of the configuration).
package struct AssertionSettings: Sendable, Equatable {
  /// Absolute paths of P-256 private keys in PEM: the first signs, the public halves of all are published. Without any,
  /// nothing is signed.
  package var keyFiles: [String] = []
  /// `aud`: what the application calls itself, and compares.
  package var audience = ""
  /// Whether each request of a signed-in user carries `X-Identity-Assertion`. Default: true.
  package var sendsHeader = true
  /// The lifetime of an assertion (`exp`). It is renewed after ``AssertionMint/renewal``, so that received ones are
  /// valid for some time. Default: five minutes.
  package var lifetime = Duration.seconds(300)
  /// Claims in addition to `sub`; missing claims are omitted.
  package var claims = ["email", "email_verified", "name"]

  package init() {}

  /// Whether anything is signed.
  package var isOn: Bool { !keyFiles.isEmpty }

  /// Claims that an assertion has in any case, with a meaning of their own.
  package static let registeredClaims: Set<String> = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "sid"]
}
