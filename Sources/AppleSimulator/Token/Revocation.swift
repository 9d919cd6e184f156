/// `POST /auth/revoke` (Apple, "Revoke tokens").
struct Revocation: Sendable {
  let apple: SimulatedApple

  /// Ends a token and the authorization behind it: the next sign-in asks the user again, and sends the name again.
  ///
  /// A token that is invalid already is not an error.
  func revoke(_ form: SubmittedForm) async throws {
    let client = try apple.client(of: form)
    guard let token = form["token"] else { throw EndpointRefusal(.invalidRequest, reason: "token is missing") }
    if let hint = form["token_type_hint"], !["refresh_token", "access_token"].contains(hint) {
      throw EndpointRefusal(.invalidRequest, reason: "token_type_hint is neither refresh_token nor access_token")
    }
    try apple.withState { state, _ in
      guard let owner = state.refreshTokens[token]?.owner ?? state.accessTokens[token]?.owner else { return }
      guard owner.clientID == client.clientID else {
        throw EndpointRefusal(.invalidClient, reason: "the token was issued to another client")
      }
      state.revoke(userID: owner.userID, clientID: owner.clientID)
    }
  }
}
