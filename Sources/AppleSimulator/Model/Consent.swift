/// A user's authorization of a client, with its terms.
struct Consent: Sendable, Equatable {
  /// The name as the user edited it the first time.
  var firstName: String
  var lastName: String
  /// Whether the client gets the relay's address instead of the real one.
  var hidesEmail: Bool
  /// The scopes that were requested when it was given.
  var scopes: [String]

  /// The address that the client gets.
  func email(of user: SimulatedUser, teamID: String) -> String? {
    hidesEmail ? user.relayAddress(forTeam: teamID) : user.email
  }

  /// The user and the authorized client.
  struct Key: Hashable, Sendable {
    let userID: String
    let clientID: String
  }
}
