import AccessPolicy
import FoundationEssentials
import HTTPTypes
import Logging
import Operations
import Sessions
import Synchronization
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway

// Requests of machines: judged by their token alone, which is loaded once and ends everywhere.
@Suite("Machine tokens at the gate")
struct MachineTokenTests {
  private func rig(
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
    adjust: (inout GatewaySettings) -> Void = { _ in }
  ) async throws -> GateRig {
    var settings = try GatewaySettings.forTests(routes: Self.routes)
    settings.routing.groups = [GroupConfiguration(name: "machines"), GroupConfiguration(name: "staff")]
    adjust(&settings)
    return try await GateRig(settings, logger: logger)
  }

  private static func lists(_ groups: String...) -> RouteSettings.Access {
    var lists = AccessLists()
    lists.groups = groups
    return .lists(lists)
  }

  /// Machines may pass `/api/`; `/staff/` takes tokens of another group, `/people/` none, `/in/` admits by session.
  private static var routes: [RouteSettings] {
    var api = RouteSettings(path: "/api/", access: lists("machines"))
    api.tokens = true
    var staff = RouteSettings(path: "/staff/", access: lists("staff"))
    staff.tokens = true
    var signedIn = RouteSettings(path: "/in/", access: .signedIn)
    signedIn.tokens = true
    return [
      api, staff, signedIn, RouteSettings(path: "/people/", access: lists("machines")),
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/closed/", access: .deny),
    ]
  }

  private func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

  private func basic(_ token: String) -> String {
    "Authorization: Basic " + String(decoding: Base64.encode(Array("token:\(token)".utf8)), as: UTF8.self)
  }

  @Test("A token passes where its group is admitted, with its name as the only identity, and goes no further")
  func admitted() async throws {
    let rig = try await rig()
    let (token, stored) = try await rig.issueToken("backup", group: "machines")
    for credential in [bearer(token), basic(token), bearer(token).replacingOccurrence(of: "Bearer", with: "bEARER")] {
      let passed = try await rig.forwarded(Asked(target: "/api/x", fields: [credential]))
      let identity = try #require(passed.identity)
      #expect(identity.contains("X-Forwarded-User: token:backup\r\n"), "\(identity)")
      #expect(!identity.contains("Email") && !identity.contains("Name"), "\(identity)")
      #expect(passed.dropsAuthorization)
      #expect(passed.session == ConnectionKey(stored.handle))
    }
    try await rig.stop()
  }

  @Test("A token is loaded once on each loop, and its requests are neither noted nor checked with Apple")
  func cached() async throws {
    let rig = try await rig { $0.session.idleTimeout = .seconds(60) }
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let request = Asked(target: "/api/x", fields: [bearer(token)])
    #expect(try await rig.decideOnce(request).isWaiting)
    #expect(try await rig.decide(request).identity != nil)
    rig.clock.advance(100 * 86_400)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decideOnce(request).identity != nil, "no idle time, no lifetime")
    #expect(try await rig.decideOnce(Asked(target: "/api/y", fields: [basic(token)])).identity != nil, "the same token")
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.isEmpty })
    #expect(rig.apple.calls == 0)
    #expect(try await rig.decideOnce(request, loop: 1).isWaiting, "each loop asks for itself")
    #expect(try await rig.decide(request, loop: 1).identity != nil)
    #expect(rig.store.state.withLock { $0.lookUps } == 1, "another loop's knowledge is good enough")
    try await rig.stop()
  }

  @Test("A token is judged alone: 401 where tokens are not accepted, 403 where its group is not admitted")
  func refused() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let (undeclared, _) = try await rig.issueToken("old", group: "removed")
    let (_, cookie) = try rig.signIn("001.anna")
    for (target, credential, status) in [
      ("/staff/x", bearer(token), 403), ("/in/x", bearer(token), 403), ("/people/x", bearer(token), 401),
      ("/x", bearer(token), 401), ("/closed/x", bearer(token), 403), ("/api/x", bearer(undeclared), 403),
      ("/api/x", bearer(MachineTokenText.random(.random()).text), 401), ("/api/x", bearer("cdn_"), 401),
      ("/in/x", bearer("cdn_x"), 401), ("/x", basic("cdn_"), 401), ("/api/x", bearer(token + "x"), 401),
    ] {
      let request = Asked(
        target: target, fields: [credential, "Cookie: \(cookie)", "Accept: text/html", "Sec-Fetch-Mode: navigate"])
      #expect(try await rig.decide(request).status == status, "\(target) \(credential)")
    }
    let twice = Asked(target: "/api/x", fields: [bearer(token), bearer(token)])
    #expect(try await rig.decide(twice).status == 401)
    #expect(try await rig.decide(Asked(target: "/in/x", fields: ["Cookie: \(cookie)"])).identity != nil)
    try await rig.stop()
  }

  @Test("On a public route a token of any kind is nobody, and is not forwarded")
  func publicRoute() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let (_, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { $0.isAway = true }
    let unknown = MachineTokenText.random(.random()).text
    for credential in [bearer(token), basic(token), bearer(unknown), bearer("cdn_x"), bearer(token) + ", x"] {
      let passed = try await rig.forwarded(Asked(target: "/open/x", fields: [credential, "Cookie: \(cookie)"]))
      #expect(passed.identity == nil && passed.session == nil && passed.dropsAuthorization, "\(credential)")
    }
    let other = try await rig.forwarded(Asked(target: "/open/x", fields: ["Authorization: Bearer other"]))
    #expect(!other.dropsAuthorization, "the application's own")
    try await rig.stop()
  }

  @Test("An unknown token costs no look-up; a revoked one costs one in five seconds")
  func unknown() async throws {
    let rig = try await rig()
    let unknown = Asked(target: "/api/x", fields: [bearer(MachineTokenText.random(.random()).text)])
    for _ in 0..<10 { #expect(try await rig.decideOnce(unknown).status == 401) }
    #expect(rig.store.state.withLock { $0.lookUps } == 0)
    let (token, stored) = try await rig.issueToken("backup", group: "machines")
    _ = try await rig.store.revokeToken(stored.name, at: rig.clock.now)
    let revoked = Asked(target: "/api/x", fields: [bearer(token)])
    for _ in 0..<10 { #expect(try await rig.decide(revoked).status == 401) }
    #expect(rig.store.state.withLock { $0.lookUps } == 1)
    try await rig.stop()
  }

  @Test("A token ends at the moment that it expires")
  func expiry() async throws {
    let rig = try await rig()
    let end = rig.clock.now.addingTimeInterval(60)
    let (token, _) = try await rig.issueToken("backup", group: "machines", expires: end)
    let request = Asked(target: "/api/x", fields: [bearer(token)])
    #expect(try await rig.decide(request).identity != nil)
    rig.clock.advance(59)
    #expect(try await rig.decideOnce(request).identity != nil)
    rig.clock.advance(1)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).status == 401)
    try await rig.stop()
  }

  @Test("A token that another process revokes ends on every loop with the change feed, and its open exchanges with it")
  func revocation() async throws {
    let rig = try await rig()
    let (token, stored) = try await rig.issueToken("backup", group: "machines")
    let request = Asked(target: "/api/x", fields: [bearer(token)])
    let cursor = await rig.follow()
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    let open = try await rig.open(request)
    #expect(try await rig.review(open))
    _ = try await rig.store.revokeToken(stored.name, at: rig.clock.now)
    _ = await rig.changes.follow(cursor)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).status == 401) }
    #expect(try await !rig.review(open))
    try await rig.stop()
  }

  @Test("When too much has changed to be listed, the open exchanges of a token that still holds go on")
  func incompleteFeed() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let open = try await rig.open(Asked(target: "/api/x", fields: [bearer(token)]))
    rig.store.state.withLock { $0.gap = .forgotten }
    await rig.follow()
    #expect(try await rig.review(open), "it is looked up among the tokens")
    try await rig.stop()
  }

  @Test("An open exchange of a token ends at its expiry and when a reload no longer admits it, never for being idle")
  func openExchange() async throws {
    let rig = try await rig { $0.session.idleTimeout = .seconds(60) }
    let end = rig.clock.now.addingTimeInterval(7_200)
    let (token, _) = try await rig.issueToken("backup", group: "machines", expires: end)
    let open = try await rig.open(Asked(target: "/api/x", fields: [bearer(token)]))
    rig.clock.advance(3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.review(open, isActive: true))
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.isEmpty })
    var next = rig.settings
    try await rig.apply(next, secrets: "z")
    #expect(try await rig.review(open), "the session secrets are not the token's")
    next.routing.routes[0].tokens = false
    try await rig.apply(next, secrets: "z")
    #expect(try await !rig.review(open))
    try await rig.apply(rig.settings)
    let again = try await rig.open(Asked(target: "/api/x", fields: [bearer(token)]))
    #expect(try await rig.review(again))
    rig.clock.advance(3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await !rig.review(again))
    try await rig.stop()
  }

  @Test("While the store is away, a cached token serves for the outage grace; others get 503")
  func outage() async throws {
    let rig = try await rig { $0.store.outageGrace = .seconds(60) }
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let (other, _) = try await rig.issueToken("other", group: "machines")
    let request = Asked(target: "/api/x", fields: [bearer(token)])
    #expect(try await rig.decide(request).identity != nil)
    rig.store.state.withLock { $0.isAway = true }
    rig.clock.advance(30)
    #expect(try await rig.decide(request).identity != nil)
    #expect(try await rig.decide(request, loop: 1).identity != nil, "by the first loop's knowledge")
    #expect(try await rig.decide(Asked(target: "/api/x", fields: [bearer(other)])).status == 503)
    rig.clock.advance(31)
    #expect(try await rig.decide(request).status == 503)
    rig.clock.advance(-31)
    #expect(try await rig.decide(request).identity != nil, "the clock was wrong")
    try await rig.stop()
  }

  @Test("A look-up of tokens that fails alone, as by a lock on their table, is no outage that each check ends")
  func lookUpFails() async throws {
    for error in [
      StoreError(code: .busy, message: "locked"), StoreError(code: .denied, message: "no permission"),
      StoreError(code: .corrupt, message: "a table is missing"),
    ] {
      let lines = RecordedLines()
      let rig = try await rig(logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["operation"]) })
      let (token, _) = try await rig.issueToken("backup", group: "machines")
      rig.store.state.withLock { $0.failures["token"] = error }
      for _ in 0..<3 {
        rig.storeHealth.wrote(at: rig.clock.milliseconds)
        rig.storeHealth.feedAnswered(at: rig.clock.milliseconds)
        #expect(try await rig.decide(Asked(target: "/api/x", fields: [bearer(token)])).status == 503)
        #expect(!rig.storeHealth.isUnavailable, "\(error)")
        rig.clock.advance(2)
      }
      let written = lines.take().filter { $0.hasPrefix("session store") }
      #expect(written == Array(repeating: "session store operation failed token", count: 3), "\(error)")
      try await rig.stop()
    }
  }

  @Test("A token opens a WebSocket without an Origin; a foreign Origin is refused all the same")
  func webSocket() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let upgrade = [bearer(token), "Connection: Upgrade", "Upgrade: websocket"]
    guard case .forward(_, _, true) = try await rig.decide(Asked(target: "/api/x", fields: upgrade)) else {
      Issue.record("not opened")
      return
    }
    let foreign = Asked(target: "/api/x", fields: upgrade + ["Origin: https://evil.example"])
    #expect(try await rig.decide(foreign).status == 403)
    try await rig.stop()
  }

  @Test("verify judges a token as the forwarded request would be, and answers its identity")
  func verify() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let (_, cookie) = try rig.signIn("001.anna")
    func verify(_ path: String, _ credential: String) -> Asked {
      Asked(
        target: "/.auth/verify", fields: ["X-Original-URI: \(path)", credential, "Cookie: \(cookie)"],
        isFromProxy: true)
    }
    let passed = try await rig.answer(verify("/api/x", bearer(token)))
    #expect(passed.status == .ok && passed.headerFields[.init("X-Forwarded-User")!] == "token:backup")
    for (path, status) in [("/staff/x", 403), ("/in/x", 403), ("/people/x", 401), ("/closed/x", 403)] {
      #expect(try await rig.answer(verify(path, bearer(token))).status.code == status, "\(path)")
    }
    let open = try await rig.answer(verify("/open/x", bearer(token)))
    #expect(open.status == .ok && open.headerFields[.init("X-Forwarded-User")!] == nil)
    let unknown = try await rig.answer(verify("/api/x", bearer("cdn_x")))
    #expect(unknown.status == .unauthorized)
    #expect(unknown.headerFields[values: .wwwAuthenticate] == ["Bearer", #"Basic realm="app.example.com""#])
    try await rig.stop()
  }

  @Test("401 names Bearer, and Basic where tokens are accepted, but not to a browser, which would ask for a password")
  func challenge() async throws {
    let rig = try await rig()
    for (target, fields, challenges) in [
      ("/api/x", [], 2), ("/api/x", ["Accept: */*"], 2), ("/api/x", ["Sec-Fetch-Mode: cors"], 1),
      ("/api/x", [bearer("cdn_x")], 2), ("/api/x", [bearer("cdn_x"), "Sec-Fetch-Mode: navigate"], 1),
      ("/x", ["Accept: application/json"], 1), ("/.auth/session", [], 1), ("/people/x", [bearer("cdn_x")], 1),
    ] as [(String, [String], Int)] {
      let response = try await rig.answer(Asked(target: target, fields: fields, isOfBrowser: false))
      let found = response.headerFields[values: .wwwAuthenticate]
      #expect(response.status == .unauthorized && found.count == challenges, "\(target) \(fields) \(response)")
      #expect(found.first == "Bearer", "\(target) \(fields)")
    }
    for fields in [["Accept: text/html"], ["Sec-Fetch-Mode: navigate"]] {
      #expect(try await rig.decide(Asked(target: "/api/x", fields: fields)).status == 302, "a browser signs in")
    }
    try await rig.stop()
  }

  @Test("GET session describes a token, whatever cookie came along, and knows no other one")
  func session() async throws {
    let rig = try await rig()
    let (token, stored) = try await rig.issueToken("backup", group: "machines")
    let (_, cookie) = try rig.signIn("001.anna")
    let found = try await rig.response(
      Asked(target: "/.auth/session", fields: [bearer(token), "Cookie: \(cookie)"]))
    #expect(found.head.status == .ok)
    let began = stored.created.wallClock / 1_000
    #expect(
      String(decoding: found.body, as: UTF8.self)
        == #"{"began":\#(began),"groups":["machines"],"session_id":"\#(stored.handle.text)","sub":"token:backup"}"#)
    let unknown = Asked(target: "/.auth/session", fields: [bearer("cdn_x"), "Cookie: \(cookie)"])
    #expect(try await rig.decide(unknown).status == 401)
    try await rig.stop()
  }

  @Test("A page of ours that needs a session refuses a request with a token, whatever cookie came along")
  func ownPages() async throws {
    let rig = try await rig()
    let (token, _) = try await rig.issueToken("backup", group: "machines")
    let (_, cookie) = try rig.signIn("001.anna")
    for credential in [bearer(token), bearer("cdn_x")] {
      let asked = Asked(target: "/.auth/account", fields: [credential, "Cookie: \(cookie)"])
      #expect(try await rig.decide(asked).status == 401, "\(credential)")
    }
    guard case .handle = try await rig.decide(Asked(target: "/.auth/account", fields: ["Cookie: \(cookie)"])) else {
      Issue.record("the cookie alone is a session")
      return
    }
    try await rig.stop()
  }

  @Test("Requests with a token are counted by their outcome, each once")
  func counted() async throws {
    let rig = try await rig()
    let (token, stored) = try await rig.issueToken("backup", group: "machines")
    for (target, credential) in [
      ("/api/x", bearer(token)), ("/api/y", bearer(token)), ("/open/x", bearer(token)), ("/people/x", bearer(token)),
      ("/staff/x", bearer(token)), ("/api/x", bearer("cdn_x")),
    ] {
      _ = try await rig.decide(Asked(target: target, fields: [credential]))
    }
    _ = try await rig.store.revokeToken(stored.name, at: rig.clock.now)
    await rig.sessions.endInProcess([stored.handle])
    _ = try await rig.decide(Asked(target: "/api/x", fields: [bearer(token)]))
    let (other, _) = try await rig.issueToken("other", group: "machines")
    rig.store.state.withLock { $0.isAway = true }
    _ = try await rig.decide(Asked(target: "/api/x", fields: [bearer(other)]))
    let totals = MachineTokenRecorder.Outcome.allCases.map { ($0, rig.metrics.machineTokenRequests($0)) }
    for (outcome, total) in totals { #expect(total == (outcome == .admitted ? 2 : 1), "\(outcome)") }
    try await rig.stop()
  }
}

extension String {
  fileprivate func replacingOccurrence(of old: String, with new: String) -> String {
    guard let range = firstRange(of: old) else { return self }
    var changed = self
    changed.replaceSubrange(range, with: new)
    return changed
  }
}
