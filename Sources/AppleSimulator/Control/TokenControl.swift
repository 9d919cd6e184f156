import HTTPTypes
import Hummingbird

/// Control of keys and tokens: rotate keys, mint invalid tokens, and simulate a native app.
struct TokenControl: Sendable {
  let apple: SimulatedApple

  func add(to router: Router<BasicRequestContext>) {
    router.post("/simulator/keys/rotate") { request, _ in
      let order: RotationOrder = try await ControlRoutes.body(of: request)
      let keyIDs = apple.withState { state, _ in
        if order.dropOld == true { state.publishedKeys = [] }
        state.publishedKeys.append(state.nextKey)
        state.nextKey += 1
        return state.publishedKeys.map { SigningKeySource.shared.key(at: $0).keyID }
      }
      return try Response.json(["keys": keyIDs])
    }
    router.post("/simulator/mint") { request, _ in
      let order: MintOrder = try await ControlRoutes.body(of: request)
      return try Response.json(["token": try mint(order)])
    }
    router.post("/simulator/native") { request, _ in
      let order: NativeOrder = try await ControlRoutes.body(of: request)
      return try Response.json(try authorizeNatively(order))
    }
  }

  private func mint(_ order: MintOrder) throws -> String {
    try apple.withState { state, now in
      let client = try state.registeredClient(order.clientID)
      guard let user = order.user.map({ state.user($0) }) ?? state.users.first else {
        throw ControlError(message: "there is no such user")
      }
      let consent = state.presentConsent(of: user, to: client)
      var claims: [String: JSONValue]
      if let kind = order.notification {
        claims = try NotificationEvent(
          kind: kind, user: user, client: client, consent: consent, time: now - (order.secondsAgo ?? 0)
        ).claims
      } else {
        var identity = IdentityTokenClaims(
          client: client, user: user, consent: consent, switches: state.switches, now: now, authenticatedAt: now)
        identity.nonce = order.nonce
        identity.code = order.code
        identity.isNative = client.kind == .native
        claims = identity.members
      }
      return try state.token(claims, as: order.token ?? TokenOrder())
    }
  }

  /// The data that an iPhone passes to the app: both tokens, and the name the first time.
  private func authorizeNatively(_ order: NativeOrder) throws -> NativeAnswer {
    try apple.withState { state, now in
      let client = try state.registeredClient(order.clientID)
      guard let user = state.user(order.user) else { throw ControlError(message: "there is no such user") }
      let scopes = order.scopes ?? ["name", "email"]
      let (consent, isFirst) = state.agree(
        user: user, clientID: client.clientID, account: .existing(id: user.id, firstName: nil, lastName: nil),
        hidesEmail: order.hideEmail ?? false, scopes: scopes)
      let code = state.issueCode(
        TokenOwner(userID: user.id, clientID: client.clientID), redirectURI: nil, nonce: order.nonce, now: now)
      var claims = IdentityTokenClaims(
        client: client, user: user, consent: consent, switches: state.switches, now: now, authenticatedAt: now)
      claims.nonce = order.nonce
      claims.code = code
      claims.isNative = true
      return NativeAnswer(
        identityToken: try state.identityToken(claims.members, at: .authorize), authorizationCode: code,
        user: isFirst ? try consent.userField(of: user, scopes: scopes, teamID: client.teamID) : nil)
    }
  }
}

extension SimulatorState {
  /// A client by its identifier, or the only one that there is.
  func registeredClient(_ id: String?) throws -> SimulatedClient {
    let found = if let id { clients[id] } else { clients.count == 1 ? clients.first?.value : nil }
    guard let found else { throw ControlError(message: "client_id is not registered, or left out of several") }
    return found
  }
}

private struct RotationOrder: Decodable {
  var dropOld: Bool?

  enum CodingKeys: String, CodingKey {
    case dropOld = "drop_old"
  }
}

private struct MintOrder: Decodable {
  var clientID: String?
  var user: String?
  var nonce: String?
  var code: String?
  /// Mint a notification of this kind instead of an identity token.
  var notification: NotificationEvent.Kind?
  /// The age of the notified event in seconds. Default: 0.
  var secondsAgo: Double?
  var token: TokenOrder?

  enum CodingKeys: String, CodingKey {
    case user, nonce, code, notification, token
    case clientID = "client_id"
    case secondsAgo = "seconds_ago"
  }
}

private struct NativeOrder: Decodable {
  var clientID: String?
  var user: String
  var nonce: String?
  var scopes: [String]?
  var hideEmail: Bool?

  enum CodingKeys: String, CodingKey {
    case user, nonce, scopes
    case clientID = "client_id"
    case hideEmail = "hide_email"
  }
}

private struct NativeAnswer: Encodable {
  let identityToken: String
  let authorizationCode: String
  let user: String?

  enum CodingKeys: String, CodingKey {
    case user
    case identityToken = "identity_token"
    case authorizationCode = "authorization_code"
  }
}
