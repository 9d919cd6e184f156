package import FoundationEssentials
internal import WebFormats

/// A notification from Apple about one of our users. Only ``NotificationVerifier`` creates one.
///
/// Apple repeats it until it is answered 200, so processing is idempotent, and an event that is older than the user's
/// latest authorization has no effect.
///
/// Source: "Processing changes for Sign in with Apple accounts", developer.apple.com.
package struct AppleNotification: Sendable, Equatable {
  /// `jti`: the same in every repetition.
  package let identifier: String
  /// The client ID that it is for: the App ID as often as the Services ID.
  package let audience: String
  /// The event.
  package let kind: Kind
  /// The user.
  package let subject: String
  /// When it happened.
  package let eventTime: Date
  /// With the e-mail events only.
  package let email: String?
  /// Whether the address is one of Apple's relay; nil where Apple does not say.
  package let isPrivateEmail: Bool?
  /// The JWS as Apple posted it, for a receiver that verifies it again.
  package let payload: String

  /// The events that Apple reports.
  package enum Kind: Sendable, Equatable {
    /// The user switched forwarding from a relay address on, or off.
    case emailEnabled, emailDisabled
    /// The user revoked the consent for the application.
    case consentRevoked
    /// The user deleted the Apple Account.
    case accountDeleted
    /// An unknown event, in printable ASCII.
    case other(String)

    init(_ type: String) {
      switch type {
      case "email-enabled": self = .emailEnabled
      case "email-disabled": self = .emailDisabled
      case "consent-revoked": self = .consentRevoked
      // The second spelling is undocumented, but reported.
      case "account-deleted", "account-delete": self = .accountDeleted
      default: self = .other(LogText.sanitized(type, maximumBytes: 64))
      }
    }

    /// As Apple writes it, in the documented spelling.
    package var name: String {
      switch self {
      case .emailEnabled: "email-enabled"
      case .emailDisabled: "email-disabled"
      case .consentRevoked: "consent-revoked"
      case .accountDeleted: "account-deleted"
      case .other(let name): name
      }
    }
  }

  fileprivate init(
    identifier: String, audience: String, event: [String: StrictJSON], payload: String
  ) throws(IdentityTokenError) {
    guard let type = event["type"]?.text, let subject = event["sub"]?.text, SignedClaims.isSubject(subject) else {
      throw .malformedClaim("events")
    }
    self.identifier = identifier
    self.audience = audience
    self.payload = payload
    kind = Kind(type)
    self.subject = subject
    eventTime = try Self.time(event["event_time"])
    let claims = IdentityClaims(payload: event)
    email = claims.email
    isPrivateEmail = claims.isPrivateEmail
  }

  /// The end of the year 9999.
  private static let latestMilliseconds = 253_402_300_799_999

  /// Milliseconds since 1970 are what Apple sends. Its page's example has seconds, and a time in 1970 would make every
  /// event older than the latest sign-in: a time before March 1973 in milliseconds is read as seconds. A time after the
  /// year 9999 or before 1970 is invalid. Digits in a string are accepted as well: Apple also writes Booleans so.
  private static func time(_ value: StrictJSON?) throws(IdentityTokenError) -> Date {
    let milliseconds: Double
    switch value {
    case .integer(let number): milliseconds = Double(number)
    case .number(let number): milliseconds = number
    case .string(let text):
      guard let number = DecimalDigits.parse(text.utf8, limit: latestMilliseconds) else {
        throw .malformedClaim("events")
      }
      milliseconds = Double(number)
    default: throw .malformedClaim("events")
    }
    guard milliseconds > 0, milliseconds <= Double(latestMilliseconds) else { throw .malformedClaim("events") }
    return Date(timeIntervalSince1970: milliseconds < 100_000_000_000 ? milliseconds : milliseconds / 1000)
  }
}

/// Verifies requests to the notification endpoint, which anybody can send.
package struct NotificationVerifier: Sendable {
  private let keySet: AppleKeySet
  private let clock: AppleClock
  private let audiences: [String]

  /// - Parameter audiences: all our client IDs, web and native.
  init(keySet: AppleKeySet, clock: @escaping AppleClock, audiences: [String]) {
    self.keySet = keySet
    self.clock = clock
    self.audiences = audiences
  }

  /// Reads `{"payload": "<JWS>"}`, at most 32 KiB, signed with one of the keys that sign identity tokens.
  ///
  /// There is no `exp` to check: a repetition may come late.
  package func verify(_ body: some Collection<UInt8>) async throws(IdentityTokenError) -> AppleNotification {
    guard let envelope = try? StrictJSON.object(body, maximumBytes: 32 * 1024, maximumDepth: 4),
      let token = envelope["payload"]?.text
    else { throw .malformed("envelope") }
    let signed = try await SignedClaims.verified(
      token, maximumBytes: IdentityTokenVerifier.maximumBytes, from: .anonymous, keySet: keySet)
    try signed.requireAppleAsIssuer()
    let audience = try signed.audience(among: audiences)
    _ = try signed.issuedAt(now: clock())
    guard let identifier = try signed.text("jti"), (1...255).contains(identifier.utf8.count) else {
      throw .missingClaim("jti")
    }
    return try AppleNotification(
      identifier: identifier, audience: audience, event: try Self.event(of: signed), payload: token)
  }

  /// The claim `events` is JSON text in a string; JSON itself is accepted as well, in case Apple fixes that. In either
  /// form it may be a list of one event, as the claim's name suggests. A list of several is not accepted: one `jti`
  /// stands for one event.
  private static func event(of signed: SignedClaims) throws(IdentityTokenError) -> [String: StrictJSON] {
    guard let claim = signed.values["events"], claim != .null else { throw .missingClaim("events") }
    var event = try parsed(claim)
    if let events = event.elements {
      guard events.count == 1 else { throw .malformedClaim("events") }
      event = try parsed(events[0])
    }
    guard let members = event.members else { throw .malformedClaim("events") }
    return members
  }

  /// The value of JSON text in a string; any other value as it is.
  private static func parsed(_ value: StrictJSON) throws(IdentityTokenError) -> StrictJSON {
    guard let text = value.text else { return value }
    do throws(StrictJSONError) {
      return try StrictJSON.value(Array(text.utf8), maximumBytes: 8192, maximumDepth: 4)
    } catch {
      throw .malformedClaim("events")
    }
  }
}
