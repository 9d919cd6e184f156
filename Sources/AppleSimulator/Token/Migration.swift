/// `POST /auth/usermigrationinfo`: the transfer of the users of an app to another team (Apple, "Transferring your apps
/// and users to another team" and "Bringing new apps and users into your team").
struct Migration: Sendable {
  let apple: SimulatedApple

  /// The lifetime of transfer identifiers, in seconds (Apple: 60 days).
  static let lifetime: Double = 60 * 86_400

  /// The team that gives away sends `sub` and `target` (the other Team ID) and gets `transfer_sub`; the team that takes
  /// over sends `transfer_sub` and gets its own `sub` and address for the user.
  func answer(to form: SubmittedForm, authorization: String?) async throws -> JSONValue {
    let client = try apple.client(of: form)
    return try apple.withState { state, now in
      let token = authorization.flatMap { $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil }
      guard let access = token.flatMap({ state.accessTokens[$0] }), access.expires > now,
        access.scope == "user.migration", access.clientID == client.clientID
      else { throw EndpointRefusal(.invalidRequest, reason: "no valid Bearer token with scope user.migration") }
      if let transferSubject = form["transfer_sub"] {
        if let ends = client.transferEnds, now >= ends {
          throw EndpointRefusal(.invalidRequest, reason: "the transfer was more than 60 days ago")
        }
        return try Self.takeOver(transferSubject, client: client, state: state)
      }
      guard let subject = form["sub"], let target = form["target"] else {
        throw EndpointRefusal(.invalidRequest, reason: "neither transfer_sub, nor sub and target")
      }
      guard let user = state.users.first(where: { $0.subject(forTeam: client.teamID) == subject }) else {
        throw EndpointRefusal(.invalidRequest, reason: "sub is not a user of this team")
      }
      return .object(["transfer_sub": .string(user.transferSubject(toTeam: target))])
    }
  }

  private static func takeOver(
    _ transferSubject: String, client: SimulatedClient, state: SimulatorState
  ) throws -> JSONValue {
    guard let user = state.users.first(where: { $0.transferSubject(toTeam: client.teamID) == transferSubject })
    else { throw EndpointRefusal(.invalidRequest, reason: "transfer_sub is not meant for this team") }
    var answer: [String: JSONValue] = ["sub": .string(user.subject(forTeam: client.teamID))]
    if let email = user.email {
      let consents = state.consents.filter { $0.key.userID == user.id }
      let hidesEmail = consents.contains { $0.value.hidesEmail }
      answer["email"] = .string(hidesEmail ? user.relayAddress(forTeam: client.teamID) : email)
      answer["is_private_email"] = .bool(hidesEmail)
    }
    return .object(answer)
  }
}
