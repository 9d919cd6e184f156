/// How the application is told in signed form who the user is (`[assertion]` of the configuration).
package struct AssertionSettings: Sendable, Equatable {
  /// Absolute paths of P-256 private keys in PEM: the first signs, the public halves of all are published. Without any,
  /// nothing is signed.
  package var keyFiles: [String] = []
  /// `aud`: what the application calls itself, and compares.
  package var audience = ""
  /// Whether each request of a signed-in user carries `X-Identity-Assertion`. Default: true.
  package var sendsHeader = true
  /// From an assertion's making to its `exp`. One is made anew after ``AssertionMint/renewal``, so that what arrives
  /// has some of it left. Default: five minutes.
  package var lifetime = Duration.seconds(300)
  /// What it tells beside `sub`; a claim that the account does not have is left out.
  package var claims = ["email", "email_verified", "name"]

  package init() {}

  /// Whether anything is signed.
  package var isOn: Bool { !keyFiles.isEmpty }

  /// Claims that an assertion has in any case, with a meaning of their own.
  package static let registeredClaims: Set<String> = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "sid"]
}
