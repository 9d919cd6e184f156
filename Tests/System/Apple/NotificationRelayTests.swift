import Foundation
import TemporaryDirectoryTesting
import Testing

// Notifications handed on to the application.
//
// - Signed, with Apple's own token beside; to an audience that no identity assertion has.
// - Until it is answered 2xx: refusals, silence, an application that is away; over a restart of the gateway.
// - Repetitions and what is outdated are not handed on.
// - A message that is damaged in the store keeps no other from being handed on.

@SystemActor
@Suite("Notifications handed on", .serialized)
struct NotificationRelayTests {
  private let key: AssertionKeyFile
  private let receiver: RawUpstream
  private let answer: Watched<String>
  private let site: Site

  init() throws {
    let (key, answer) = (try AssertionKeyFile(), Watched("204 No Content"))
    let receiver = try RawUpstream { _, connection in
      try connection.send(RawUpstream.response(answer.current))
    }
    self.key = key
    self.answer = answer
    self.receiver = receiver
    site = try Site(adjust: { configuration in
      configuration["assertion", "key_files"] = "[\"\(key.path)\"]"
      configuration["assertion", "audience"] = "\"orders\""
      configuration["notifications", "relay_url"] = "\"http://127.0.0.1:\(receiver.port)/hooks/apple?source=cordon\""
    })
  }

  private func notify(_ order: [String: Any]) throws -> String {
    let token = try site.apple.mint(["client_id": GatewayConfiguration.clientID].merging(order) { $1 })
    #expect(try site.gateway.client.post("/.auth/notifications", json: ["payload": token]).status == 200)
    return token
  }

  private func claims(_ request: RawUpstream.Request) throws -> [String: Any] {
    let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: String]
    return try JWTParts(try #require(body?["notification"])).claims
  }

  @Test("The application is told in signed form, with Apple's own token beside it")
  func signed() throws {
    defer { site.stop() }
    _ = try site.signedIn()
    let payload = try notify(["user": "anna", "notification": "consent-revoked"])
    let seen = try receiver.waitForRequest()
    #expect(seen.method == "POST" && seen.target == "/hooks/apple?source=cordon")
    #expect(seen.fields["Content-Type"] == "application/json")
    let body = try #require(try JSONSerialization.jsonObject(with: Data(seen.body)) as? [String: String])
    #expect(body["payload"] == payload)
    let token = try #require(body["notification"])
    let claims = try JWTParts(token).claims
    #expect(claims["sub"] as? String == (try site.apple.subject(of: "anna")))
    #expect(claims["aud"] as? String == "orders/notifications")
    let event = try #require(claims["event"] as? [String: Any])
    #expect(event["type"] as? String == "consent-revoked")
    #expect(event["client_id"] as? String == GatewayConfiguration.clientID)
    #expect(event["event_time"] as? Int64 != nil)
    // The example takes it as what it is, and not as an identity assertion.
    let verifier = AssertionTests.Verifier.node
    let asNotification = try verifier.run(site, token, audience: "orders/notifications")
    #expect(asNotification.exit == .code(0), "\(asNotification.standardError)")
    #expect(try verifier.run(site, token).exit == .code(1))
  }

  @Test("A notification is tried again until the application takes it, and then no more; repetitions are not handed on")
  func retries() throws {
    defer { site.stop() }
    answer.update { $0 = "500 Internal Server Error" }
    let payload = try notify(["user": "ben", "notification": "account-deleted"])
    let first = try claims(try receiver.waitForRequest())
    #expect(
      try site.gateway.client.post("/.auth/notifications", json: ["payload": payload]).status == 200, "a repetition")
    answer.update { $0 = "200 OK" }
    try poll("its delivery") {
      let metrics = try site.gateway.admin.get("/metrics").text
      return metrics.contains("cordon_notification_relays_total{outcome=\"delivered\"} 1\n") ? () : nil
    }
    // On a busy machine there may have been more than two.
    let attempts = receiver.requests.count
    #expect(attempts >= 2)
    for attempt in receiver.requests { #expect(try claims(attempt)["jti"] as? String == first["jti"] as? String) }
    // The next one shows that nothing of the first is left.
    _ = try notify(["user": "eve", "notification": "account-deleted"])
    let subject = try site.apple.subject(of: "eve")
    _ = try poll("the next notification") {
      try receiver.requests.map(claims).first { $0["sub"] as? String == subject }
    }
    #expect(receiver.requests.count == attempts + 1)
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_notification_relays_total{outcome=\"delivered\"} 2"), "\(metrics)")
  }

  @Test("A message that is damaged in the store keeps no other from being handed on, and the log names it")
  func damaged() throws {
    defer { site.stop() }
    answer.update { $0 = "500 Internal Server Error" }
    _ = try notify(["user": "ben", "notification": "account-deleted"])
    let first = try claims(try receiver.waitForRequest())
    let program = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1], timeout=30)
      database.execute("UPDATE messages SET text = CAST(x'ff' AS TEXT), due = 0")
      database.commit()
      """
    try site.gateway.waitForLog("notification delivery failed, retrying")
    let changed = try ServerProcess.run(
      Machine.program("python3", package: "python3"),
      ["-c", program, "\(site.gateway.directory.path)/cordon.db"])
    #expect(changed.exit == .code(0), "\(changed)")
    answer.update { $0 = "204 No Content" }
    _ = try notify(["user": "eve", "notification": "account-deleted"])
    let subject = try site.apple.subject(of: "eve")
    _ = try poll("the next notification") {
      try receiver.requests.map(claims).first { $0["sub"] as? String == subject }
    }
    try site.gateway.waitForLog("notification in the queue is damaged, delivering the others")
    try site.gateway.waitForLog(try #require(first["jti"] as? String))
  }

  @Test("Notifications that the application could not take are still delivered after a kill of the gateway")
  func survivesKill() throws {
    defer { site.stop() }
    receiver.stop()
    _ = try notify(["user": "anna", "notification": "account-deleted"])
    try site.gateway.killAndRestart()
    let back = try RawUpstream(port: receiver.port, RawUpstream.greet)
    defer { back.stop() }
    let seen = try back.waitForRequest("the notification after the restart", by: .seconds(60))
    #expect(try claims(seen)["sub"] as? String == (try site.apple.subject(of: "anna")))
  }
}
