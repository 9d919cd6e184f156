import AppleIdentity
import FoundationEssentials
import Secrets
import Testing

@Suite("Apple's notifications")
struct NotificationTests {
  private let event = #"{"type":"consent-revoked","sub":"001234.abcdef.0789","event_time":1750000000123}"#

  /// A posted body; claims replaced by `nil` are left out.
  private func body(
    _ fixture: Fixture, event: String? = nil, _ changes: [String: String?] = [:], key: SigningKey? = nil
  ) throws -> [UInt8] {
    let key = key ?? fixture.appleKey
    let escaped = (event ?? self.event).split(separator: "\"", omittingEmptySubsequences: false).joined(
      separator: "\\\"")
    let now = Int(fixture.clock.time.timeIntervalSince1970)
    let claims = [
      "iss": #""https://appleid.apple.com""#, "aud": #""com.example.web""#, "iat": "\(now)", "jti": #""j-1""#,
      "events": "\"\(escaped)\"",
    ]
    let header = #"{"alg":"\#(key.algorithm)","kid":"\#(key.identifier)"}"#
    let token = try Fixture.signed(header: header, payload: Fixture.json(claims, changes), by: key)
    return Array(#"{"payload":"\#(token)"}"#.utf8)
  }

  private func rejection(_ fixture: Fixture, _ body: [UInt8]) async -> IdentityTokenError? {
    do throws(IdentityTokenError) {
      _ = try await fixture.provider.notifications.verify(body)
      return nil
    } catch {
      return error
    }
  }

  @Test("A notification says who, what and when")
  func honest() async throws {
    let fixture = try Fixture()
    let notification = try await fixture.provider.notifications.verify(try body(fixture))
    #expect(notification.identifier == "j-1")
    #expect(notification.audience == "com.example.web")
    #expect(notification.kind == .consentRevoked)
    #expect(notification.subject == "001234.abcdef.0789")
    #expect(notification.eventTime == Date(timeIntervalSince1970: 1_750_000_000.123))
    #expect(notification.email == nil)
  }

  @Test("A notification may be for our App ID, and for no other")
  func audiences() async throws {
    let fixture = try Fixture { $0.nativeClientIDs = ["com.example.app"] }
    #expect(await rejection(fixture, try body(fixture, ["aud": #""com.example.app""#])) == nil)
    #expect(await rejection(fixture, try body(fixture, ["aud": #""com.other""#])) == .wrongAudience)
  }

  @Test(
    "Notifications are of the documented kinds, of the one that is only logged, or of another",
    arguments: [
      ("email-enabled", .emailEnabled), ("email-disabled", .emailDisabled), ("consent-revoked", .consentRevoked),
      ("account-deleted", .accountDeleted), ("account-delete", .accountDeleted),
      ("account\\r\\nx", .other("account??x")),
    ] as [(String, AppleNotification.Kind)])
  func kinds(type: String, kind: AppleNotification.Kind) async throws {
    let fixture = try Fixture()
    let event = event.split(separator: "consent-revoked").joined(separator: type)
    // The event is JSON text in a JSON string.
    let escaped = event.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
    let notification = try await fixture.provider.notifications.verify(try body(fixture, event: escaped))
    #expect(notification.kind == kind)
  }

  @Test("Notifications of an address have either form of a Boolean, and may have an object as their event")
  func email() async throws {
    let fixture = try Fixture()
    for flag in ["true", #""true""#] {
      let event =
        #"{"type":"email-disabled","sub":"a","event_time":1,"email":"x@privaterelay.appleid.com","is_private_email":\#(flag)}"#
      for claims in [[:], ["events": event]] as [[String: String?]] {
        let notification = try await fixture.provider.notifications.verify(try body(fixture, event: event, claims))
        #expect(notification.email == "x@privaterelay.appleid.com")
        #expect(notification.isPrivateEmail == true)
      }
    }
  }

  @Test("Late notifications are accepted, because Apple retries; those from the future are not")
  func times() async throws {
    let fixture = try Fixture()
    let sent = try body(fixture)
    fixture.clock.advance(86_400)
    #expect(await rejection(fixture, sent) == nil)
    fixture.clock.advance(-86_461)
    #expect(await rejection(fixture, sent) == .issuedInFuture)
  }

  @Test("The time of an event is in milliseconds, or in seconds as in Apple's example")
  func seconds() async throws {
    let fixture = try Fixture()
    for (written, seconds) in [("1508184845", 1_508_184_845.0), ("1508184845123", 1_508_184_845.123)] {
      let event = #"{"type":"consent-revoked","sub":"a","event_time":\#(written)}"#
      let notification = try await fixture.provider.notifications.verify(try body(fixture, event: event))
      #expect(notification.eventTime == Date(timeIntervalSince1970: seconds))
    }
  }

  @Test("The time of an event may be digits in a string")
  func timeAsText() async throws {
    let fixture = try Fixture()
    for (written, seconds) in [("1508184845", 1_508_184_845.0), ("1508184845123", 1_508_184_845.123), ("1", 1.0)] {
      let event = #"{"type":"consent-revoked","sub":"a","event_time":"\#(written)"}"#
      let notification = try await fixture.provider.notifications.verify(
        try body(fixture, event: event, ["events": event]))
      #expect(notification.eventTime == Date(timeIntervalSince1970: seconds))
    }
  }

  @Test("An event may come in a list of one, and in no other list")
  func list() async throws {
    let fixture = try Fixture()
    func text(_ json: String) -> String {
      "\"" + json.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }
    for claim in ["[\(event)]", "[\(text(event))]", text("[\(event)]")] {
      let notification = try await fixture.provider.notifications.verify(try body(fixture, ["events": claim]))
      #expect(notification.kind == .consentRevoked && notification.subject == "001234.abcdef.0789")
    }
    let others = ["[]", "[\(event),\(event)]", "[[\(event)]]", "[1]"]
    for claim in others + others.map(text) + ["1", text("1"), text("null")] {
      #expect(await rejection(fixture, try body(fixture, ["events": claim])) == .malformedClaim("events"))
    }
    let impostor = SigningKey.elliptic(fixture.appleKey.identifier)
    let forged = try body(fixture, ["events": "[\(event)]"], key: impostor)
    #expect(await rejection(fixture, forged) == .signatureInvalid)
  }

  @Test("Notifications that Apple did not sign are refused")
  func forged() async throws {
    let fixture = try Fixture()
    let impostor = SigningKey.elliptic(fixture.appleKey.identifier)
    #expect(await rejection(fixture, try body(fixture, key: impostor)) == .signatureInvalid)
    #expect(await rejection(fixture, try body(fixture, ["iss": #""https://evil.example""#])) == .wrongIssuer)
  }

  @Test("Notifications are not identity tokens, and identity tokens are not notifications")
  func confusion() async throws {
    let fixture = try Fixture()
    let token = try fixture.token(["jti": #""j""#])
    let posted = Array(#"{"payload":"\#(token.exposed)"}"#.utf8)
    #expect(await rejection(fixture, posted) == .missingClaim("events"))
    let notification = try String(decoding: body(fixture).dropFirst(12).dropLast(2), as: UTF8.self)
    #expect(await fixture.rejection(UnverifiedIdentityToken(notification), nonce: .none) == .missingClaim("exp"))
  }

  @Test(
    "Notifications with an invalid event are refused",
    arguments: [
      "", "null", "[]", "{}", #"{"type":"consent-revoked"}"#, #"{"type":"consent-revoked","sub":"a"}"#,
      #"{"type":"consent-revoked","sub":"a b","event_time":1}"#, #"{"type":1,"sub":"a","event_time":1}"#,
      #"{"type":"x","sub":"a","event_time":1e300}"#, #"{"type":"x","sub":"a","event_time":""}"#,
      #"{"type":"x","sub":"a","event_time":"+1"}"#, #"{"type":"x","sub":"a","event_time":" 1"}"#,
      #"{"type":"x","sub":"a","event_time":"0"}"#, #"{"type":"x","sub":"a","event_time":"1e9"}"#,
      #"{"type":"x","sub":"a","event_time":"999999999999999"}"#,
      #"{"type":"x","sub":"a","event_time":"99999999999999999999"}"#, #"{"type":"x","sub":"a","event_time":true}"#,
      #"{"type":"x","sub":"a","event_time":-1}"#, #"{"type":"x","sub":"a","event_time":99999999999999999999}"#,
    ])
  func absurdEvents(event: String) async throws {
    let fixture = try Fixture()
    #expect(await rejection(fixture, try body(fixture, event: event)) == .malformedClaim("events"))
  }

  @Test("Notifications without a required claim are refused", arguments: ["iss", "aud", "iat", "jti", "events"])
  func missing(claim: String) async throws {
    let fixture = try Fixture()
    #expect(await rejection(fixture, try body(fixture, [claim: nil])) == .missingClaim(claim))
  }

  @Test("The identifier of a notification has 1 to 255 bytes", arguments: [0, 1, 255, 256])
  func identifier(count: Int) async throws {
    let fixture = try Fixture()
    let identifier = String(repeating: "j", count: count)
    let rejection = await rejection(fixture, try body(fixture, ["jti": "\"\(identifier)\""]))
    let expected: IdentityTokenError? = (1...255).contains(count) ? nil : .missingClaim("jti")
    #expect(rejection == expected)
  }

  @Test("The body of a notification has 32 KiB at most")
  func size() async throws {
    let fixture = try Fixture()
    func padded(to count: Int) throws -> [UInt8] {
      var bytes = try body(fixture)
      bytes.removeLast()
      bytes += Array(#","x":""#.utf8)
      bytes += [UInt8](repeating: UInt8(ascii: "x"), count: count - bytes.count - 2)
      bytes += Array(#""}"#.utf8)
      return bytes
    }
    #expect(await rejection(fixture, try padded(to: 32 * 1024 + 1)) == .malformed("envelope"))
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
    #expect(await rejection(fixture, try padded(to: 32 * 1024)) == nil)
  }

  @Test(
    "Notifications in another envelope are refused before any key is fetched",
    arguments: ["", "[]", "{}", #"{"payload":1}"#, "payload=x", String(repeating: "x", count: 40_000)])
  func envelope(text: String) async throws {
    let fixture = try Fixture()
    #expect(await rejection(fixture, Array(text.utf8)) == .malformed("envelope"))
    #expect(fixture.apple.requests(to: "/auth/keys").isEmpty)
  }
}
