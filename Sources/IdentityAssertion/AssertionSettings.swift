/// Settings of signed identity assertions (`[assertion]` of the configuration).
package struct AssertionSettings: Sendable, Equatable {
  /// Absolute paths of P-256 private keys in PEM: the first signs, the public halves of all are published. Without any,
  /// nothing is signed.
  package var keyFiles: [String] = []
  /// `aud`: the identifier that the application expects.
  package var audience = ""
  /// Whether each request of a signed-in user carries `X-Identity-Assertion`. Default: true.
  package var sendsHeader = true
  /// The lifetime of an assertion (`exp`). It is renewed after ``AssertionMint/renewal``, so that received ones are
  /// valid for some time. Default: five minutes.
  package var lifetime = Duration.seconds(300)
  /// Claims in addition to `sub`; missing claims are omitted.
  package var claims = ["email", "email_verified", "name"]

  /// The defaults: nothing is signed.
  package init() {}

  /// Whether anything is signed.
  package var isOn: Bool { !keyFiles.isEmpty }

  /// Reserved claim names of JWTs and of assertions.
  package static let registeredClaims: Set<String> = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "sid"]
}
