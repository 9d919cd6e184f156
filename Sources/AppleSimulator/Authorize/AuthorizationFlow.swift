import FoundationEssentials

/// The flow from a valid request through the user's decision to the response.
struct AuthorizationFlow: Sendable {
  let apple: SimulatedApple

  /// The time that the user has to decide, in seconds.
  private static let decisionTimeout: Double = 3_600
  /// The lifetime of a code, in seconds (Apple: five minutes).
  static let codeLifetime: Double = 300

  /// Validates a request and keeps it until the user decides.
  ///
  /// - Returns: the data for the page.
  func begin(query: SubmittedForm) throws(AuthorizationRefusal) -> Choice {
    let result: Result<Choice, AuthorizationRefusal> = apple.withState { state, now in
      do throws(AuthorizationRefusal) {
        let request = try SimulatedAuthorizationRequest(
          query: query, clients: state.clients, allowingLoopback: state.switches.allowsLoopbackRedirects)
        let ticket = randomText(bytes: 16)
        state.forgetExpired(now: now)
        state.pending[ticket] = PendingAuthorization(request: request, expires: now + Self.decisionTimeout)
        let known = state.users.map(\.id).filter {
          state.consents[Consent.Key(userID: $0, clientID: request.clientID)] != nil
        }
        return .success(
          Choice(
            ticket: ticket, request: request, users: state.users, knownUserIDs: Set(known),
            automatic: state.automaticAnswer))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Carries out what the user decided.
  func finish(ticket: String, decision: UserDecision) throws -> AuthorizationAnswer {
    try apple.withState { state, now in
      guard let pending = state.pending.removeValue(forKey: ticket), pending.expires > now else {
        throw AuthorizationRefusal.page(
          code: "invalid_request", message: "This page has been answered already, or is too old.")
      }
      guard case .proceed(let account, let hidesEmail) = decision else {
        return pending.request.refusal("user_cancelled_authorize")
      }
      let user = try state.admit(account)
      return try state.authorize(
        pending.request, user: user, account: account, hidesEmail: hidesEmail, now: now)
    }
  }

  /// The content of the page.
  struct Choice: Sendable {
    let ticket: String
    let request: SimulatedAuthorizationRequest
    let users: [SimulatedUser]
    /// The users who authorized the client before: they are not asked for a name again.
    let knownUserIDs: Set<String>
    /// The decision that a test has ordered in advance.
    let automatic: AutomaticAnswer?
  }
}

/// A decision that a test orders in advance, so that no page is shown (`PUT /simulator/answer`).
struct AutomaticAnswer: Sendable, Codable {
  /// The handle of a user; none cancels.
  var user: String?
  var hideEmail: Bool?

  enum CodingKeys: String, CodingKey {
    case user
    case hideEmail = "hide_email"
  }

  var decision: UserDecision {
    guard let user else { return .cancel }
    return .proceed(.existing(id: user, firstName: nil, lastName: nil), hidesEmail: hideEmail ?? false)
  }
}

/// The user's decision.
enum UserDecision: Sendable, Equatable {
  case cancel
  case proceed(Account, hidesEmail: Bool)

  enum Account: Sendable, Equatable {
    /// A name of nothing is the account's own.
    case existing(id: String, firstName: String?, lastName: String?)
    case new(email: String?, firstName: String, lastName: String)
  }
}

extension SimulatorState {
  /// The user of a decision; a new one gets an account.
  fileprivate mutating func admit(_ account: UserDecision.Account) throws -> SimulatedUser {
    switch account {
    case .existing(let id, _, _):
      guard let user = user(id) else {
        throw AuthorizationRefusal.page(code: "invalid_request", message: "There is no such user.")
      }
      return user
    case .new(let email, let firstName, let lastName):
      if let email, let user = users.first(where: { $0.email == email }) { return user }
      let user = SimulatedUser(
        id: "new-\(users.count + 1)", firstName: firstName, lastName: lastName, email: email)
      users.append(user)
      return user
    }
  }

  fileprivate mutating func authorize(
    _ request: SimulatedAuthorizationRequest, user: SimulatedUser, account: UserDecision.Account, hidesEmail: Bool,
    now: Double
  ) throws -> AuthorizationAnswer {
    guard let client = clients[request.clientID] else {
      throw AuthorizationRefusal.page(code: "invalid_client", message: "Invalid client id.")
    }
    let (consent, isFirst) = agree(
      user: user, clientID: client.clientID, account: account, hidesEmail: hidesEmail, scopes: request.scopes)
    let code = issueCode(
      TokenOwner(userID: user.id, clientID: client.clientID), redirectURI: request.redirectURI,
      nonce: request.nonce, now: now)

    let tampering = takeTampering(at: .authorize)
    var fields: [SubmittedForm.Field] = []
    if let text = request.state { fields.append(SubmittedForm.Field(name: "state", value: text)) }
    fields.append(SubmittedForm.Field(name: "code", value: code))
    if request.wantsIdentityToken {
      var claims = IdentityTokenClaims(
        client: client, user: user, consent: consent, switches: switches, now: now, authenticatedAt: now)
      claims.nonce = request.nonce
      claims.code = code
      let identityToken = try token(claims.members, as: tampering?.token ?? TokenOrder())
      fields.append(SubmittedForm.Field(name: "id_token", value: identityToken))
    }
    if isFirst, let json = try consent.userField(of: user, scopes: request.scopes, teamID: client.teamID) {
      fields.append(SubmittedForm.Field(name: "user", value: json))
    }
    for (name, value) in (tampering?.fields ?? [:]).sorted(by: { $0.key < $1.key }) {
      fields.removeAll { $0.name == name }
      if let text = value.text { fields.append(SubmittedForm.Field(name: name, value: text)) }
    }
    return AuthorizationAnswer(redirectURI: request.redirectURI, mode: request.responseMode, fields: fields)
  }

  /// Notes that a user authorizes a client. Name and e-mail choice are those of the first time.
  mutating func agree(
    user: SimulatedUser, clientID: String, account: UserDecision.Account, hidesEmail: Bool, scopes: [String]
  ) -> (consent: Consent, isFirst: Bool) {
    let key = Consent.Key(userID: user.id, clientID: clientID)
    if var known = consents[key] {
      known.scopes += scopes.filter { !known.scopes.contains($0) }
      consents[key] = known
      return (known, false)
    }
    var consent = Consent(
      firstName: user.firstName, lastName: user.lastName, hidesEmail: hidesEmail && user.email != nil,
      scopes: scopes)
    if case .existing(_, let firstName, let lastName) = account {
      consent.firstName = firstName ?? user.firstName
      consent.lastName = lastName ?? user.lastName
    }
    consents[key] = consent
    return (consent, true)
  }

  /// A new authorization code.
  mutating func issueCode(_ owner: TokenOwner, redirectURI: String?, nonce: String?, now: Double) -> String {
    let code = "c\(randomText(bytes: 24)).0.\(randomText(bytes: 16))"
    codes[code] = IssuedCode(
      owner: owner, redirectURI: redirectURI, nonce: nonce, authenticatedAt: now,
      expires: now + AuthorizationFlow.codeLifetime)
    return code
  }
}

extension Consent {
  /// The `user` field: unsigned JSON that the browser carries, only the first time, and only what was asked for.
  func userField(of user: SimulatedUser, scopes: [String], teamID: String) throws -> String? {
    var members: [String: JSONValue] = [:]
    if scopes.contains("name") {
      members["name"] = .object(["firstName": .string(firstName), "lastName": .string(lastName)])
    }
    if scopes.contains("email"), let email = email(of: user, teamID: teamID) { members["email"] = .string(email) }
    guard !members.isEmpty else { return nil }
    return String(decoding: try encodeJSON(.object(members)), as: UTF8.self)
  }
}
