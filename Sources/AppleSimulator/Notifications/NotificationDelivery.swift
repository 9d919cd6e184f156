/// A notification that is posted to a server, and how that went.
struct NotificationDelivery: Sendable, Encodable {
  /// One attempt: what was answered, or nothing for no answer in time.
  struct Attempt: Sendable, Encodable {
    /// By the simulator's clock, in seconds since 1970.
    let time: Double
    let status: Int?
  }

  let number: Int
  let clientID: String
  let url: String
  let payload: String
  var attempts: [Attempt] = []
  /// Whether it was answered 200.
  var isDelivered = false

  enum CodingKeys: String, CodingKey {
    case number, url, payload, attempts
    case clientID = "client_id"
    case isDelivered = "delivered"
  }
}

extension SimulatorState {
  /// Notes a notification that is about to be posted.
  mutating func deliver(_ payload: String, clientID: String, to url: String) -> NotificationDelivery {
    let delivery = NotificationDelivery(
      number: (deliveries.last?.number ?? 0) + 1, clientID: clientID, url: url, payload: payload)
    if deliveries.count >= 5_000 { deliveries.removeFirst(2_500) }
    deliveries.append(delivery)
    return delivery
  }

  /// Notes how an attempt went.
  mutating func attempted(_ number: Int, status: Int?, at time: Double) {
    guard let index = deliveries.lastIndex(where: { $0.number == number }) else { return }
    deliveries[index].attempts.append(NotificationDelivery.Attempt(time: time, status: status))
    if status == 200 { deliveries[index].isDelivered = true }
  }
}
