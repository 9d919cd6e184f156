/// Everything that the simulated Apple knows, in memory.
struct SimulatorState: Sendable {
  var clients: [String: SimulatedClient] = [:]
  var users: [SimulatedUser]
  var switches: SimulatorSwitches

  var consents: [Consent.Key: Consent] = [:]
  var pending: [String: PendingAuthorization] = [:]
  var codes: [String: IssuedCode] = [:]
  var refreshTokens: [String: IssuedRefreshToken] = [:]
  var accessTokens: [String: IssuedAccessToken] = [:]
  /// Sign-ins and refreshes, by user.
  var checks: [String: [AccountCheck]] = [:]

  /// The indexes of the published keys in ``SigningKeySource``; the last one signs.
  var publishedKeys = [0, 1]
  var nextKey = 2

  var faults: [OrderedFault] = []
  var tampering: [OrderedTampering] = []
  var automaticAnswer: AutomaticAnswer?
  var requests: [SeenRequest] = []
  var nextRequestNumber = 1
  /// The address for notifications, if it is set.
  var notificationURL: String?
  var deliveries: [NotificationDelivery] = []

  /// The offset of the clock, in seconds.
  var clockOffset: Double = 0
  /// The additional offset of the clock for verification limits, in seconds.
  var checksOffset: Double = 0

  init(users: [SimulatedUser], switches: SimulatorSwitches) {
    self.users = users
    self.switches = switches
  }

  func user(_ id: String) -> SimulatedUser? {
    users.first { $0.id == id }
  }

  /// Ends every token and authorization of a user for one client, or for all.
  mutating func revoke(userID: String, clientID: String?) {
    func concerned(_ owner: TokenOwner) -> Bool {
      owner.userID == userID && (clientID == nil || owner.clientID == clientID)
    }
    refreshTokens = refreshTokens.filter { !concerned($0.value.owner) }
    accessTokens = accessTokens.filter { $0.value.owner.map { !concerned($0) } ?? true }
    codes = codes.filter { !concerned($0.value.owner) }
    consents = consents.filter { !concerned(TokenOwner(userID: $0.key.userID, clientID: $0.key.clientID)) }
  }

  /// Removes expired data, so that a long load test does not exhaust the memory.
  mutating func forgetExpired(now: Double) {
    guard pending.count + codes.count + accessTokens.count > 2_000 else { return }
    pending = pending.filter { $0.value.expires > now }
    codes = codes.filter { $0.value.expires > now }
    accessTokens = accessTokens.filter { $0.value.expires > now }
  }
}

/// The user and the client of a token.
struct TokenOwner: Hashable, Sendable {
  let userID: String
  let clientID: String
}

/// An authorization request that waits for the user's decision.
struct PendingAuthorization: Sendable {
  let request: SimulatedAuthorizationRequest
  let expires: Double
}

/// An authorization code: single use, five minutes.
struct IssuedCode: Sendable {
  let owner: TokenOwner
  /// As sent in the authorization request; a native app's code has none.
  let redirectURI: String?
  let nonce: String?
  let authenticatedAt: Double
  let expires: Double
  var isUsed = false
}

struct IssuedRefreshToken: Sendable {
  let owner: TokenOwner
  let authenticatedAt: Double
}

struct IssuedAccessToken: Sendable {
  /// Nothing for one of a team (`client_credentials`).
  let owner: TokenOwner?
  let clientID: String
  let scope: String?
  let expires: Double
}

/// A verification of an account, which Apple permits once a day.
struct AccountCheck: Sendable, Encodable {
  enum Kind: String, Sendable, Encodable {
    case signIn = "sign_in"
    case refresh
  }

  let kind: Kind
  let clientID: String
  let time: Double
  /// The HTTP status that it was answered with.
  let status: Int

  enum CodingKeys: String, CodingKey {
    case kind, time, status
    case clientID = "client_id"
  }
}
