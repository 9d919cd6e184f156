package import FoundationEssentials
internal import Secrets
package import Sessions

/// A sign-in for the tests that a store has beside the contract.
package enum TestSignIn {
  /// The time of each of them: a whole second, because stores keep milliseconds.
  package static let time = Scenario.noon

  /// The sign-in of a user of this name in a browser, for a day, with a refresh token.
  package static func of(_ name: String) throws -> SignIn {
    let subject = try Scenario.subject(name)
    let keyring = try SessionKeyring(secrets: [SessionSecret(Array(repeating: 7, count: 32))])
    var claims = AccountClaims()
    claims.email = "\(name)@example.com"
    return SignIn(
      session: Session(.random(), of: subject, clientID: Scenario.web, now: time, lifetime: .seconds(86_400)),
      name: PersonName(given: name, family: nil), claims: claims,
      token: try keyring.seal(RefreshToken("r.\(name)"), of: subject, clientID: Scenario.web))
  }
}
