import Foundation
import TemporaryDirectoryTesting
import Testing

// Apple's server-to-server notifications.
//
// - Each type does what it says, for either client ID, on every replica, WebSockets closed.
// - Repetitions do nothing; what is older than the latest authorization ends nothing.
// - What Apple did not sign is refused, in floods too, for one fetch of the keys; large bodies are not read.
// - While the store is away the answer is 503, and Apple's next attempt is carried out.
// - With notifications.relay_url the application is told, signed, until it takes it, over restarts.

@SystemActor
@Suite(
  "Apple's notifications", .serialized,
  SiteTrait {
    try Site(upstream: StreamingApplication.answer) { $0["admin", "token_file"] = "\"admin.token\"" }
  })
struct NotificationTests {
  private let site: Site

  init() throws {
    site = try Site.current
    try site.apple.forgetRequests()
    try site.apple.behave()
  }

  /// Posts what Apple would.
  private func post(_ order: [String: Any], to gateway: GatewayProcess? = nil) throws -> HTTPResponse {
    let token = try site.apple.mint(["client_id": GatewayConfiguration.clientID].merging(order) { $1 })
    return try (gateway ?? site.gateway).client.post("/.auth/notifications", json: ["payload": token])
  }

  private func isSignedIn(_ visitor: Visitor) throws -> Bool {
    try visitor.fetch(site.own("session")).status == 200
  }

  private func account(of user: String) throws -> [String: Any] {
    let result = try ServerProcess.run(
      Machine.binary("cordon"),
      ["accounts", "find", "--json", "--config", site.gateway.file, "--subject", try site.apple.subject(of: user)])
    guard let list = try JSONSerialization.jsonObject(with: Data(result.standardOutput.utf8)) as? [[String: Any]] else {
      throw HarnessError.malformed(result.standardOutput + result.standardError)
    }
    return list.first ?? [:]
  }

  @Test(
    "Withdrawn consent and a deleted account end every session, close WebSockets, and leave no token",
    arguments: ["consent-revoked", "account-deleted", "account-delete"])
  func ends(type: String) throws {
    let (first, second, ben) = (try site.signedIn(), try site.signedIn(), try site.signedIn(as: "ben"))
    let webSocket = try site.gateway.webSocket(of: first, site)
    #expect(try isSignedIn(second))
    let response = try post(["user": "anna", "notification": type])
    #expect(response.status == 200)
    #expect(try !isSignedIn(first))
    #expect(try !isSignedIn(second))
    try webSocket.waitForClose()
    #expect(try isSignedIn(ben))
    // Nothing is left to ask Apple with; of a deleted account nothing is left at all.
    #expect(try account(of: "anna").isEmpty == (type != "consent-revoked"))
    try site.gateway.waitForLog("\"event\":\"notification\"")
    try site.gateway.waitForLog("\"effect\":\"carried_out\"")
    let reported = type == "account-delete" ? "account-deleted" : type
    let metrics = try site.gateway.admin.get("/metrics").text
    #expect(metrics.contains("cordon_notifications_total{type=\"\(reported)\",outcome=\"carried_out\"}"))
  }

  @Test("Mail forwarding is noted on the account, and nobody is signed out")
  func forwarding() throws {
    // A user of this test's own: Apple keeps the choice to hide the address, or not to.
    let visitor = Visitor()
    try visitor.signIn(site, as: "eleni", hideEmail: true)
    #expect(try account(of: "eleni")["mail_forwarding"] == nil)
    #expect(try post(["user": "eleni", "notification": "email-disabled"]).status == 200)
    #expect(try isSignedIn(visitor))
    #expect(try account(of: "eleni")["mail_forwarding"] as? Bool == false)
    #expect(try visitor.open(site.own("account")).text.contains("but at present forwards no mail to you"))
    // A late retry of what happened before changes nothing.
    #expect(try post(["user": "eleni", "notification": "email-enabled", "seconds_ago": 30]).status == 200)
    #expect(try account(of: "eleni")["mail_forwarding"] as? Bool == false)
    #expect(try post(["user": "eleni", "notification": "email-enabled"]).status == 200)
    #expect(try account(of: "eleni")["mail_forwarding"] as? Bool == true)
    #expect(try visitor.open(site.own("account")).text.contains("It forwards mail to you"))
  }

  @Test("A notification about another address than one of Apple's relay leaves the verified one where it is")
  func foreignAddress() throws {
    let visitor = try site.signedIn(as: "ben")
    let (subject, time) = (try site.apple.subject(of: "ben"), Int(Date().timeIntervalSince1970 + 1) * 1_000)
    let events = """
      {"type":"email-disabled","sub":"\(subject)","event_time":\(time),"email":"other@example.com",\
      "is_private_email":"false"}
      """
    #expect(
      try post(["user": "ben", "notification": "email-disabled", "token": ["claims": ["events": events]]]).status == 200
    )
    let account = try account(of: "ben")
    #expect(account["mail_forwarding"] as? Bool == false)
    #expect(account["email"] as? String == "ben@example.org" && account["email_verified"] as? Bool == true)
    let session = try visitor.fetch(site.own("session")).json()
    #expect(session["email"] as? String == "ben@example.org" && session["email_verified"] as? Bool == true)
  }

  @Test("A repetition does nothing, though the user has signed in since; nor does what is older than the sign-in")
  func repetitions() throws {
    let before = try site.signedIn()
    let token = try site.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "consent-revoked",
    ])
    func send() throws -> Int {
      try site.gateway.client.post("/.auth/notifications", json: ["payload": token]).status
    }
    #expect(try send() == 200)
    #expect(try !isSignedIn(before))
    let after = try site.signedIn()
    #expect(try send() == 200)
    // The same happening under another jti, as if Apple lost count.
    #expect(try post(["user": "anna", "notification": "consent-revoked", "seconds_ago": 3_600]).status == 200)
    #expect(try isSignedIn(after))
    try site.gateway.waitForLog("\"effect\":\"repeated\"")
    try site.gateway.waitForLog("\"effect\":\"outdated\"")
  }

  @Test("A notification that Apple did not sign, or not for us, is refused and ends nothing")
  func forged() throws {
    let anna = try site.signedIn()
    let orders: [[String: Any]] = [
      ["token": ["signature": "none"]], ["token": ["signature": "corrupt"]], ["token": ["signature": "wrong-key"]],
      ["token": ["signature": "unknown-key"]], ["token": ["signature": "hs256-public-key"]],
      ["token": ["claims": ["aud": "com.example.other"]]], ["token": ["claims": ["iss": "https://evil.example"]]],
      ["token": ["claims": ["jti": NSNull()]]], ["token": ["claims": ["events": "{"]]],
      ["token": ["payload": "{\"exp\":1e300}"]],
    ]
    for order in orders {
      let response = try site.surviving {
        try post(["user": "anna", "notification": "account-deleted"].merging(order) { $1 })
      }
      #expect(response.status == 400, "\(order): \(response.status)")
    }
    let bodies = [
      "", "{}", "[]", "{\"payload\":7}", "{\"payload\":\"a.b.c\"}", "payload=a.b.c",
      String(repeating: "[", count: 20_000),
    ]
    for body in bodies {
      let response = try site.surviving {
        try site.gateway.client.send("POST", "/.auth/notifications", body: Array(body.utf8))
      }
      #expect(response.status == 400, "\(body.prefix(40))")
    }
    // An identity token is not a notification, whoever signed it.
    let identity = try site.apple.mint(["client_id": GatewayConfiguration.clientID, "user": "anna"])
    #expect(try site.gateway.client.post("/.auth/notifications", json: ["payload": identity]).status == 400)
    #expect(try site.gateway.client.get("/.auth/notifications").status == 405)
    let large = try site.gateway.client.send(
      "POST", "/.auth/notifications", body: Array(repeating: 0x20, count: 40_000))
    #expect(large.status == 413)
    #expect(try isSignedIn(anna))
  }

  @Test("A thousand forged ones with unknown keys cost one fetch of the keys, and two lines in the log")
  func flood() throws {
    _ = try site.signedIn()
    let forged = try site.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "account-deleted",
      "token": ["signature": "unknown-key"],
    ])
    let parts = try JWTParts(forged)
    try site.apple.forgetRequests()
    func lines() -> Int {
      String(decoding: site.gateway.log, as: UTF8.self).components(separatedBy: "notification rejected").count - 1
    }
    let linesBefore = lines()
    let began = ContinuousClock.now
    var refusals = 0
    for number in 0..<1_000 {
      let token = try JWTParts.token(
        header: parts.header.merging(["kid": "K\(number)"]) { $1 }, claims: parts.claims, signature: parts.parts[2])
      let response = try site.gateway.client.post("/.auth/notifications", json: ["payload": token])
      // 503 while nobody looks whether Apple has such a key by now.
      if response.status == 400 { refusals += 1 } else { #expect(response.status == 503, "\(number)") }
    }
    // A minute later, as on a machine that is busy, Apple is asked again, and another line is logged: one for keys that
    // Apple does not have, and one for those about which it was not asked.
    let minutes = Int((ContinuousClock.now - began) / .seconds(60))
    #expect(refusals <= 1 + minutes)
    #expect(try site.apple.requests(at: "/auth/keys").count <= 1 + minutes)
    #expect(lines() - linesBefore <= 2 * (1 + minutes))
  }

  @Test("Apple's time of an event is compared with Apple's time of the sign-in, though our clock is ahead")
  func clockAhead() throws {
    let other = try Site(fakeClock: true)
    defer { other.stop() }
    try other.clock?.set(secondsAhead: 30)
    let anna = try other.signedIn()
    func post(_ type: String, secondsAgo: Int) throws -> Int {
      let token = try other.apple.mint([
        "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": type, "seconds_ago": secondsAgo,
      ])
      return try other.gateway.client.post("/.auth/notifications", json: ["payload": token]).status
    }
    #expect(try post("consent-revoked", secondsAgo: 3_600) == 200)
    #expect(try anna.fetch(other.own("session")).status == 200, "from before the sign-in")
    #expect(try post("consent-revoked", secondsAgo: 0) == 200)
    #expect(try anna.fetch(other.own("session")).status == 401)
    // A deletion counts however old it is.
    try anna.signIn(other)
    #expect(try post("account-deleted", secondsAgo: 3_600) == 200)
    #expect(try anna.fetch(other.own("session")).status == 401)
    let found = try ServerProcess.run(
      Machine.binary("cordon"),
      [
        "accounts", "find", "--json", "--config", other.gateway.file, "--subject", try other.apple.subject(of: "anna"),
      ])
    #expect(!found.standardOutput.contains("@"), "\(found.standardOutput)")
  }

  @Test("While our clock is behind, a notification is left for Apple to send again, and health has the reason")
  func clockBehind() throws {
    let other = try Site(fakeClock: true)
    defer { other.stop() }
    let anna = try other.signedIn()
    try other.clock?.set(secondsAhead: -300)
    let token = try other.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "consent-revoked",
    ])
    func post() throws -> Int {
      try other.gateway.client.post("/.auth/notifications", json: ["payload": token]).status
    }
    #expect(try post() == 503)
    #expect(try other.gateway.admin.get("/healthz").text.contains("clock is behind Apple's"))
    try other.clock?.set(secondsAhead: 0)
    #expect(try anna.fetch(other.own("session")).status == 200)
    #expect(try post() == 200)
    #expect(try anna.fetch(other.own("session")).status == 401)
  }

  @Test("A forged notification does not keep a key that Apple has just rotated from who signs in")
  func forgedDuringRotation() throws {
    let other = try Site()
    defer { other.stop() }
    _ = try other.signedIn()
    let forged = try other.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "account-deleted",
      "token": ["signature": "unknown-key"],
    ])
    #expect(try other.gateway.client.post("/.auth/notifications", json: ["payload": forged]).status == 400)
    try other.apple.rotateKeys(dropOld: true)
    #expect(try other.gateway.client.post("/.auth/notifications", json: ["payload": forged]).status == 503)
    let ben = Visitor()
    try ben.signIn(other, as: "ben")
    #expect(try ben.fetch(other.own("session")).status == 200)
  }

  @Test("An App ID's notification is taken as well as the Services ID's")
  func nativeAudience() throws {
    let other = try Site(adjust: { $0["apple", "native_client_ids"] = "[\"com.example.app\"]" })
    defer { other.stop() }
    let anna = try other.signedIn()
    let token = try other.apple.mint([
      "client_id": GatewayConfiguration.clientID, "user": "anna", "notification": "consent-revoked",
      "token": ["claims": ["aud": "com.example.app"]],
    ])
    #expect(try other.gateway.client.post("/.auth/notifications", json: ["payload": token]).status == 200)
    #expect(try anna.fetch(other.own("session")).status == 401)
  }

  @Test("Another replica refuses the sessions, and closes their WebSockets")
  func replicas() throws {
    var configuration = site.gateway.configuration
    configuration = try configuration.replica(store: "\(site.gateway.directory.path)/cordon.db")
    let replica = try GatewayProcess(configuration)
    defer { replica.stop() }
    let anna = try site.signedIn()
    let cookie = try #require(try anna.cookieHeader(for: site.origin + "/"))
    // The replica has its own port and the site's public name.
    func status() throws -> Int {
      try HTTPClient(port: replica.configuration.port, authority: site.gateway.client.authority)
        .get("/.auth/session", fields: [("Cookie", cookie)]).status
    }
    #expect(try status() == 200)
    let webSocket = try replica.webSocket(of: anna, site)
    #expect(try post(["user": "anna", "notification": "consent-revoked"]).status == 200)
    _ = try poll("the replica to refuse the session") { try status() == 401 ? true : nil }
    try webSocket.waitForClose()
  }

  @Test("While the store is away the answer is 503, and Apple's retry is carried out")
  func storeAway() throws {
    let other = try Site(upstream: RawUpstream.greet)
    defer { other.stop() }
    let anna = try other.signedIn()
    try other.apple.notify("\(other.origin)/.auth/notifications", retryAfter: 0.2)
    let database = "\(other.gateway.directory.path)/cordon.db"
    let lock = try DatabaseLock(database)
    try other.apple.revoke("anna")
    // Apple's first attempts meet a store that cannot be written.
    let failed = try poll("an attempt that was answered 503") {
      try other.apple.deliveries().first { $0.statuses.contains(503) }
    }
    #expect(!failed.isDelivered)
    lock.release()
    _ = try poll("the notification to be delivered") { try other.apple.deliveries().first { $0.isDelivered } }
    #expect(try anna.fetch(other.own("session")).status == 401)
  }
}
