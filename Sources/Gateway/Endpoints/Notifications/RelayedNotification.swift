internal import AppleIdentity
internal import FoundationEssentials
internal import IdentityAssertion

/// A notification as it waits in the store for the application.
struct RelayedNotification: Codable, Equatable {
  let identifier: String
  let subject: String
  /// As Apple writes it, in the documented spelling.
  let type: String
  /// The time of the event, in milliseconds since 1970.
  let eventTime: Int64
  let email: String?
  let isPrivateEmail: Bool?
  let clientID: String
  /// Apple's own JWS.
  let payload: String

  init(_ notification: AppleNotification) {
    identifier = notification.identifier
    subject = notification.subject
    type = notification.kind.name
    eventTime = notification.eventTime.wallClock
    email = notification.email
    isPrivateEmail = notification.isPrivateEmail
    clientID = notification.audience
    payload = notification.payload
  }

  /// Reads the stored form; nil if it is of another version.
  init?(text: String) {
    guard let value = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
    self = value
  }

  /// The stored form. Never nil, because plain values can always be encoded.
  var text: String? {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The claims for the application, without issuer and times.
  var claims: [String: AssertionValue] {
    var event: [String: AssertionValue] = [
      "type": .text(type), "event_time": .integer(eventTime), "client_id": .text(clientID),
    ]
    event["email"] = email.map { .text($0) }
    event["is_private_email"] = isPrivateEmail.map { .truth($0) }
    return ["jti": .text(identifier), "sub": .text(subject), "event": .members(event)]
  }
}
