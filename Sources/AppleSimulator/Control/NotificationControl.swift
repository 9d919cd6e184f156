import HTTPTypes
import Hummingbird

/// The address for notifications, and sending one on request.
struct NotificationControl: Sendable {
  let apple: SimulatedApple

  func add(to router: Router<BasicRequestContext>) {
    router.put("/simulator/notification-url") { request, _ in
      let order: Address = try await ControlRoutes.body(of: request)
      _ = try NotificationSender.Target(order.url)
      apple.withState { state, _ in state.notificationURL = order.url }
      return try Response.json(order)
    }
    router.delete("/simulator/notification-url") { _, _ in
      apple.withState { state, _ in state.notificationURL = nil }
      return Response(status: .noContent)
    }
    router.post("/simulator/notifications") { request, _ in
      let order: NotificationOrder = try await ControlRoutes.body(of: request)
      return try Response.json(try send(order))
    }
    router.get("/simulator/notifications") { _, _ in
      try Response.json(["notifications": apple.withState { state, _ in state.deliveries }])
    }
  }

  private func send(_ order: NotificationOrder) throws -> NotificationDelivery {
    let delivery = try apple.withState { state, now in
      let client = try state.registeredClient(order.clientID)
      guard let user = state.user(order.user) else { throw ControlError(message: "there is no user \(order.user)") }
      guard let url = order.url ?? state.notificationURL else {
        throw ControlError(message: "say where to: url, or PUT /simulator/notification-url before")
      }
      _ = try NotificationSender.Target(url)
      let event = NotificationEvent(
        kind: order.type, user: user, client: client, consent: state.presentConsent(of: user, to: client),
        time: now - (order.secondsAgo ?? 0))
      return state.deliver(
        try state.token(try event.claims, as: order.token ?? TokenOrder()), clientID: client.clientID, to: url)
    }
    NotificationSender(apple: apple).send(delivery)
    return delivery
  }

  private struct Address: Codable {
    var url: String
  }
}

private struct NotificationOrder: Decodable {
  var clientID: String?
  var user: String
  var type: NotificationEvent.Kind
  /// The age of the event in seconds. Default: 0.
  var secondsAgo: Double?
  /// Default: that of `PUT /simulator/notification-url`.
  var url: String?
  /// The differences from a genuine one.
  var token: TokenOrder?

  enum CodingKeys: String, CodingKey {
    case user, type, url, token
    case clientID = "client_id"
    case secondsAgo = "seconds_ago"
  }
}

extension SimulatorState {
  /// The consent of a user to a client; without one, the account's own name and address.
  func presentConsent(of user: SimulatedUser, to client: SimulatedClient) -> Consent {
    consents[Consent.Key(userID: user.id, clientID: client.clientID)]
      ?? Consent(firstName: user.firstName, lastName: user.lastName, hidesEmail: false, scopes: ["name", "email"])
  }
}
