/// The grants of `POST /auth/token` (Apple, "Generate and validate tokens").
struct TokenGrants: Sendable {
  let apple: SimulatedApple

  /// The answer to a form.
  func answer(to form: SubmittedForm) async throws -> JSONValue {
    let client = try apple.client(of: form)
    switch form["grant_type"] {
    case nil:
      throw EndpointRefusal(.invalidRequest, reason: "grant_type is missing")
    case "authorization_code":
      return try exchange(form, client: client)
    case "refresh_token":
      return try refresh(form, client: client)
    case "client_credentials":
      return try grantTeamAccess(form, client: client)
    default:
      throw EndpointRefusal(.unsupportedGrantType)
    }
  }

  // MARK: authorization_code

  private func exchange(_ form: SubmittedForm, client: SimulatedClient) throws -> JSONValue {
    guard let code = form["code"] else { throw EndpointRefusal(.invalidRequest, reason: "code is missing") }
    return try apple.withState { state, now in
      let issued = try Self.use(code, redirectURI: form["redirect_uri"], client: client, state: &state, now: now)
      state.checks[issued.owner.userID, default: []].append(
        AccountCheck(kind: .signIn, clientID: client.clientID, time: now + state.checksOffset, status: 200))
      let refreshToken = Self.newRefreshToken()
      let grant = IssuedRefreshToken(owner: issued.owner, authenticatedAt: issued.authenticatedAt)
      state.refreshTokens[refreshToken] = grant
      var answer = try Self.tokens(
        of: grant, client: client, nonce: issued.nonce, withIdentityToken: true, state: &state, now: now)
      answer["refresh_token"] = .string(refreshToken)
      return .object(answer)
    }
  }

  /// Consumes a code.
  private static func use(
    _ code: String, redirectURI: String?, client: SimulatedClient, state: inout SimulatorState, now: Double
  ) throws(EndpointRefusal) -> IssuedCode {
    guard let issued = state.codes[code], issued.expires > now else {
      throw EndpointRefusal(.invalidGrant, description: "The code has expired or has been revoked.")
    }
    guard issued.owner.clientID == client.clientID else {
      throw EndpointRefusal(
        .invalidGrant, description: "client_id mismatch. The code was not issued to \(client.clientID).")
    }
    guard !issued.isUsed else {
      throw EndpointRefusal(.invalidGrant, description: "The code has already been used.")
    }
    if let expected = issued.redirectURI {
      guard let redirectURI else {
        throw EndpointRefusal(.invalidRequest, reason: "redirect_uri is missing")
      }
      guard redirectURI.utf8.elementsEqual(expected.utf8) else {
        throw EndpointRefusal(
          .invalidGrant, description: "redirect_uri mismatch. The code was not issued to \(redirectURI).")
      }
    } else if redirectURI != nil {
      throw EndpointRefusal(.invalidGrant, reason: "a native code has no redirect_uri")
    }
    state.codes[code]?.isUsed = true
    return issued
  }

  // MARK: refresh_token

  private func refresh(_ form: SubmittedForm, client: SimulatedClient) throws -> JSONValue {
    guard let token = form["refresh_token"] else {
      throw EndpointRefusal(.invalidRequest, reason: "refresh_token is missing")
    }
    return try apple.withState { state, now in
      guard let issued = state.refreshTokens[token] else {
        throw EndpointRefusal(
          .invalidGrant, description: "The token has expired or has been revoked.")
      }
      guard issued.owner.clientID == client.clientID else {
        throw EndpointRefusal(
          .invalidGrant, description: "client_id mismatch. The token was not issued to \(client.clientID).")
      }
      let time = now + state.checksOffset
      let isThrottled = state.isThrottled(userID: issued.owner.userID, time: time)
      state.checks[issued.owner.userID, default: []].append(
        AccountCheck(kind: .refresh, clientID: client.clientID, time: time, status: isThrottled ? 429 : 200))
      if isThrottled { throw AccountThrottled() }
      var answer = try Self.tokens(
        of: issued, client: client, nonce: nil, withIdentityToken: state.switches.identityTokenOnRefresh,
        state: &state, now: now)
      if state.switches.rotatesRefreshTokens {
        let replacement = Self.newRefreshToken()
        state.refreshTokens[token] = nil
        state.refreshTokens[replacement] = issued
        answer["refresh_token"] = .string(replacement)
      }
      return .object(answer)
    }
  }

  // MARK: client_credentials

  /// The access token by which a team moves its users (Apple, "Transferring your apps and users to another team").
  private func grantTeamAccess(_ form: SubmittedForm, client: SimulatedClient) throws -> JSONValue {
    guard form["scope"] == "user.migration" else { throw EndpointRefusal(.invalidScope) }
    return apple.withState { state, now in
      let accessToken = "a\(randomText(bytes: 32))"
      state.accessTokens[accessToken] = IssuedAccessToken(
        owner: nil, clientID: client.clientID, scope: "user.migration", expires: now + 3_600)
      return .object([
        "access_token": .string(accessToken), "token_type": "Bearer", "expires_in": 3_600,
      ])
    }
  }

  // MARK: Common parts

  private static func newRefreshToken() -> String { "r\(randomText(bytes: 32)).0.\(randomText(bytes: 16))" }

  /// The access token, and the identity token if wanted.
  private static func tokens(
    of grant: IssuedRefreshToken, client: SimulatedClient, nonce: String?, withIdentityToken: Bool,
    state: inout SimulatorState, now: Double
  ) throws -> [String: JSONValue] {
    let owner = grant.owner
    let key = Consent.Key(userID: owner.userID, clientID: owner.clientID)
    guard let user = state.user(owner.userID), let consent = state.consents[key] else {
      throw EndpointRefusal(.invalidGrant, description: "The code has expired or has been revoked.")
    }
    state.forgetExpired(now: now)
    let accessToken = "a\(randomText(bytes: 32)).0.\(randomText(bytes: 16))"
    state.accessTokens[accessToken] = IssuedAccessToken(
      owner: owner, clientID: client.clientID, scope: nil, expires: now + 3_600)
    var answer: [String: JSONValue] = [
      "access_token": .string(accessToken), "token_type": "Bearer", "expires_in": 3_600,
    ]
    if withIdentityToken {
      var claims = IdentityTokenClaims(
        client: client, user: user, consent: consent, switches: state.switches, now: now,
        authenticatedAt: grant.authenticatedAt)
      claims.nonce = nonce
      claims.accessToken = accessToken
      claims.isNative = client.kind == .native
      answer["id_token"] = .string(try state.identityToken(claims.members, at: .token))
    }
    return answer
  }
}

/// The answer to a check that comes too soon: 429, with no error object that Apple documents.
struct AccountThrottled: Error {}

extension SimulatorState {
  /// Whether a refresh now exceeds the rate of checks.
  fileprivate func isThrottled(userID: String, time: Double) -> Bool {
    (checks[userID] ?? []).contains { check in
      guard check.status == 200, time - check.time < switches.throttleWindow else { return false }
      return switch switches.throttle {
      case .off: false
      case .refresh: check.kind == .refresh
      case .verification: true
      }
    }
  }
}
