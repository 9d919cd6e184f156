import HTTPTypes
import Hummingbird

/// Control of users: add, revoke, delete, change their mail forwarding.
///
/// Each action that Apple notifies servers of returns these notifications, one for each client concerned. They are
/// posted where an address is set for them; otherwise a test posts them itself.
struct UserControl: Sendable {
  let apple: SimulatedApple

  func add(to router: Router<BasicRequestContext>) {
    router.put("/simulator/users") { request, _ in
      let user: SimulatedUser = try await ControlRoutes.body(of: request)
      apple.withState { state, _ in
        state.users.removeAll { $0.id == user.id }
        state.users.append(user)
      }
      return try Response.json(user)
    }
    router.get("/simulator/users") { _, _ in
      try Response.json([
        "users": apple.withState { state, _ in state.users.map { UserSummary(user: $0, state: state) } }
      ])
    }
    router.post("/simulator/users/{id}/revoke") { request, context in
      let order: UserOrder = try await ControlRoutes.body(of: request)
      return try act(on: try context.parameters.require("id"), clientID: order.clientID) { state, user in
        state.revoke(userID: user.id, clientID: order.clientID)
        return .consentRevoked
      }
    }
    router.post("/simulator/users/{id}/delete") { _, context in
      try act(on: try context.parameters.require("id"), clientID: nil) { state, user in
        state.revoke(userID: user.id, clientID: nil)
        state.users.removeAll { $0.id == user.id }
        return .accountDeleted
      }
    }
    router.post("/simulator/users/{id}/forwarding") { request, context in
      let order: UserOrder = try await ControlRoutes.body(of: request)
      return try act(on: try context.parameters.require("id"), clientID: order.clientID) { _, _ in
        order.enabled ?? true ? .emailEnabled : .emailDisabled
      }
    }
  }

  private func act(
    on id: String, clientID: String?,
    _ body: (inout SimulatorState, SimulatedUser) -> NotificationEvent.Kind
  ) throws -> Response {
    let (notifications, deliveries) = try apple.withState { state, now in
      guard let user = state.user(id) else { throw ControlError(message: "there is no user \(id)") }
      let consents = state.consents.filter {
        $0.key.userID == id && (clientID == nil || $0.key.clientID == clientID)
      }
      let kind = body(&state, user)
      let summaries = try consents.sorted { $0.key.clientID < $1.key.clientID }.compactMap { key, consent in
        try state.clients[key.clientID].map { client in
          let event = NotificationEvent(kind: kind, user: user, client: client, consent: consent, time: now)
          return NotificationSummary(
            clientID: client.clientID, payload: try state.token(try event.claims, as: TokenOrder()))
        }
      }
      guard let url = state.notificationURL else { return (summaries, [NotificationDelivery]()) }
      return (summaries, summaries.map { state.deliver($0.payload, clientID: $0.clientID, to: url) })
    }
    for delivery in deliveries { NotificationSender(apple: apple).send(delivery) }
    return try Response.json(["notifications": notifications])
  }
}

private struct UserOrder: Decodable {
  var clientID: String?
  var enabled: Bool?

  enum CodingKeys: String, CodingKey {
    case enabled
    case clientID = "client_id"
  }
}

/// A notification, ready to be posted as `{"payload": …}`.
private struct NotificationSummary: Encodable {
  let clientID: String
  let payload: String

  enum CodingKeys: String, CodingKey {
    case payload
    case clientID = "client_id"
  }
}

/// A user as `GET /simulator/users` shows them: with the `sub` of each team that has a client.
private struct UserSummary: Encodable {
  let id: String
  let email: String?
  let subjects: [String: String]
  let relayAddresses: [String: String]
  let authorized: [String]

  init(user: SimulatedUser, state: SimulatorState) {
    let teams = Set(state.clients.values.map(\.teamID))
    id = user.id
    email = user.email
    subjects = Dictionary(uniqueKeysWithValues: teams.map { ($0, user.subject(forTeam: $0)) })
    relayAddresses = Dictionary(uniqueKeysWithValues: teams.map { ($0, user.relayAddress(forTeam: $0)) })
    authorized = state.consents.keys.filter { $0.userID == user.id }.map(\.clientID).sorted()
  }

  enum CodingKeys: String, CodingKey {
    case id, email, subjects, authorized
    case relayAddresses = "relay_addresses"
  }
}
