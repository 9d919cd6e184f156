import AccessPolicy
import DataPlane
import Sessions
import Synchronization
import Testing

@testable import Gateway

// From a head to a decision, in the order that security rests on: authority, path, our own pages, route, session, rule.
@Suite("The gate of an event loop")
struct LoopGateTests {
  private func rig(_ routes: [RouteSettings] = [], adjust: (inout GatewaySettings) -> Void = { _ in }) async throws
    -> GateRig
  {
    var settings = try GatewaySettings.forTests(routes: routes)
    adjust(&settings)
    return try await GateRig(settings)
  }

  @Test("A host that is not ours is 421, before anything else is looked at; the path of verify alone takes any")
  func authority() async throws {
    let rig = try await rig([RouteSettings(path: "/", access: .public)])
    #expect(try await rig.decide(Asked(host: "evil.example")).status == 421)
    #expect(try await rig.decide(Asked(target: "/.auth/sign-in", host: "evil.example")).status == 421)
    #expect(try await rig.decide(Asked(target: "/.auth/verify", host: "evil.example")).status == 401)
    #expect(try await rig.decide(Asked()).identity == "")
    try await rig.stop()
  }

  @Test("A path that cannot be read is 400, also where everybody may pass and under our own prefix")
  func paths() async throws {
    let rig = try await rig([RouteSettings(path: "/", access: .public)])
    for target in ["/%00", "/%zz", "/.auth/%00"] {
      #expect(try await rig.decide(Asked(target: target)).status == 400, "\(target)")
    }
    try await rig.stop()
  }

  @Test("Our own pages go to the control plane, what is none of them is 404, none goes to the application")
  func ownPages() async throws {
    let rig = try await rig([RouteSettings(path: "/", access: .public)])
    guard case .handle = try await rig.decide(Asked(target: "/.auth/sign-in")) else {
      Issue.record("sign-in is not ours")
      return
    }
    #expect(try await rig.decide(Asked(target: "/.auth/nothing")).status == 404)
    #expect(try await rig.decide(Asked(target: "/.authority")).identity == "", "that is the application's")
    try await rig.stop()
  }

  @Test("Without a session a navigation is sent to sign in, with where it wanted to go; a script gets 401")
  func stranger() async throws {
    let rig = try await rig()
    guard case .answer(302, let location?) = try await rig.decide(Asked(target: "/a?b=c")) else {
      Issue.record("not sent to sign in")
      return
    }
    #expect(location == "/.auth/sign-in?return_to=/a%3Fb%3Dc")
    #expect(try await rig.decide(Asked(fields: ["Accept: application/json"])).status == 401)
    #expect(try await rig.decide(Asked(fields: ["Sec-Fetch-Mode: cors"])).status == 401)
    for (destination, status) in [("document", 302), ("iframe", 302), ("empty", 302), ("embed", 401), ("object", 401)] {
      let fields = ["Accept: text/html", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: \(destination)"]
      #expect(try await rig.decide(Asked(fields: fields)).status == status, "\(destination)")
    }
    // A navigation that a service worker passes on in Firefox, and a script's request.
    let passedOn = ["Accept: text/html", "Sec-Fetch-Mode: same-origin", "Sec-Fetch-Dest: empty"]
    #expect(try await rig.decide(Asked(fields: passedOn + ["Upgrade-Insecure-Requests: 1"])).status == 302)
    #expect(try await rig.decide(Asked(fields: passedOn)).status == 401)
    for accept in [[], ["Accept: */*"]] {
      let download = accept + ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: empty"]
      #expect(try await rig.decide(Asked(fields: download)).status == 401, "it would save the sign-in page as the file")
    }
    #expect(try await rig.decide(Asked(method: "POST")).status == 401)
    try await rig.stop()
  }

  @Test(
    "A WebView of Android, which names its app in X-Requested-With, is sent to sign in; a script gets 401",
    arguments: [[], ["Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"]] as [[String]])
  func webView(metadata: [String]) async throws {
    let rig = try await rig()
    let page = ["Accept: text/html"] + metadata
    for app in ["com.example.app", "org.telegram.messenger", ""] {
      let fields = page + ["X-Requested-With: \(app)"]
      #expect(try await rig.decide(Asked(fields: fields)).status == 302, "\(app)")
    }
    for script in ["XMLHttpRequest", "xmlhttprequest", "XMLHttpRequest, XMLHttpRequest"] {
      let fields = page + ["X-Requested-With: \(script)"]
      #expect(try await rig.decide(Asked(fields: fields)).status == 401, "\(script)")
    }
    // The metadata of a script in a WebView say what it is.
    let script = ["Accept: text/html", "Sec-Fetch-Mode: cors", "X-Requested-With: com.example.app"]
    #expect(try await rig.decide(Asked(fields: script)).status == 401)
    try await rig.stop()
  }

  @Test("A good cookie is looked up once, and then passes at once with the user's header lines")
  func signedIn() async throws {
    let rig = try await rig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decideOnce(request).isWaiting)
    guard case .forward(let identity, let session, false) = try await rig.decide(request) else {
      Issue.record("not forwarded")
      return
    }
    #expect(identity.contains("X-Forwarded-User: 001.anna\r\n"))
    #expect(session == ConnectionKey(snapshot.session.handle))
    let lookUps = rig.store.state.withLock { $0.lookUps }
    for _ in 0..<5 { #expect(try await rig.decideOnce(request).identity == identity) }
    #expect(rig.store.state.withLock { $0.lookUps } == lookUps, "remembered")
    #expect(try await rig.decideOnce(request, loop: 1).isWaiting, "each loop asks for itself")
    try await rig.stop()
  }

  @Test("A cookie that we did not sign is nobody's, and the store is not asked about it")
  func forged() async throws {
    let rig = try await rig()
    let (_, cookie) = try rig.signIn("001.anna")
    let stranger = try SessionKeyring.forTests("z").signedCookie(for: .random(), on: .publicURL)
    for forged in [
      "\(CookieNames.standard.session)=\(stranger)", String(cookie.dropLast()) + (cookie.last == "A" ? "B" : "A"),
    ] {
      #expect(try await rig.decideOnce(Asked(fields: ["Cookie: \(forged)", "Accept: */*;q=0"])).status != nil)
    }
    #expect(rig.store.state.withLock { $0.lookUps } == 0)
    // The true one counts, whatever stands before it.
    let both = Asked(fields: ["Cookie: \(CookieNames.standard.session)=\(stranger); \(cookie)"])
    #expect(try await rig.decide(both).identity?.contains("001.anna") == true)
    try await rig.stop()
  }

  @Test("A session is over at its end, and after the idle time without a request; each request puts that off")
  func times() async throws {
    let rig = try await rig { $0.session.idleTimeout = .seconds(3_600) }
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for _ in 0..<3 {
      #expect(try await rig.decide(request).identity != nil)
      rig.clock.advance(3_000)
      await rig.lastSeen.write()
      // The store has been heard of lately.
      rig.storeHealth.answered(at: rig.clock.milliseconds)
    }
    rig.clock.advance(3_601)
    #expect(try await rig.decide(request).identity == nil)
    try await rig.stop()
  }

  @Test("Deny refuses whoever it is; a rule lets in whom it names")
  func rules() async throws {
    var lists = AccessLists()
    lists.subjects = ["001.anna"]
    let rig = try await rig([
      RouteSettings(path: "/closed/", access: .deny), RouteSettings(path: "/anna/", access: .lists(lists)),
    ])
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    #expect(try await rig.decide(Asked(target: "/closed/x", fields: ["Cookie: \(anna)"])).status == 403)
    #expect(try await rig.decide(Asked(target: "/anna/x", fields: ["Cookie: \(anna)"])).identity != nil)
    #expect(try await rig.decide(Asked(target: "/anna/x", fields: ["Cookie: \(ben)"])).status == 403)
    #expect(try await rig.decide(Asked(target: "/anna/x")).status == 302)
    try await rig.stop()
  }

  @Test("A public route forwards the identity of a signed-in user, too, and does not wait for the store")
  func publicRoute() async throws {
    let rig = try await rig([RouteSettings(path: "/", access: .public)])
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(request).identity?.contains("001.anna") == true)
    rig.store.state.withLock { $0.isAway = true }
    let (_, other) = try rig.signIn("002.ben")
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(other)"])).identity == "", "served, as nobody")
    try await rig.stop()
  }

  @Test("A WebSocket opens only from our own origin")
  func webSocket() async throws {
    let rig = try await rig([RouteSettings(path: "/", access: .public)])
    let upgrade = ["Connection: Upgrade", "Upgrade: websocket"]
    #expect(try await rig.decide(Asked(fields: upgrade)).status == 403)
    #expect(try await rig.decide(Asked(fields: upgrade + ["Origin: https://evil.example"])).status == 403)
    let ours = "Origin: https://app.example.com"
    #expect(try await rig.decide(Asked(fields: upgrade + [ours, ours])).status == 403)
    guard case .forward(_, _, true) = try await rig.decide(Asked(fields: upgrade + [ours])) else {
      Issue.record("not opened")
      return
    }
    try await rig.stop()
  }

  @Test("verify answers for another proxy's path, which only a trusted proxy can name")
  func verify() async throws {
    let rig = try await rig([
      RouteSettings(path: "/open/", access: .public), RouteSettings(path: "/closed/", access: .deny),
    ])
    let (_, cookie) = try rig.signIn("001.anna")
    func verify(_ uri: String, _ fields: [String] = [], trusted: Bool = true) async throws -> Int? {
      try await rig.decide(
        Asked(target: "/.auth/verify", fields: ["X-Original-URI: \(uri)"] + fields, isFromProxy: trusted)
      ).status
    }
    #expect(try await verify("/open/x") == 200)
    #expect(try await verify("/open/x", trusted: false) == 401)
    #expect(try await verify("/x") == 401)
    #expect(try await verify("/x", ["Cookie: \(cookie)"]) == 200)
    #expect(try await verify("/closed/x", ["Cookie: \(cookie)"]) == 403)
    #expect(try await verify("/open/x", ["X-Forwarded-Uri: /x"]) == 403, "two paths are none")
    try await rig.stop()
  }

  @Test("After a reload memory stays: routes and headers are the new ones, and the store is not asked again")
  func reload() async throws {
    let rig = try await rig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.store.state.withLock { $0.isAway = true }
    var next = rig.settings
    next.identity.headers = [.init(name: "X-New", claim: "sub")]
    next.routing.routes = [RouteSettings(path: "/closed/", access: .deny)]
    try await rig.apply(next, secrets: "ba")
    #expect(try await rig.decideOnce(request).identity == "X-New: 001.anna\r\n")
    #expect(try await rig.decideOnce(Asked(target: "/closed/", fields: ["Cookie: \(cookie)"])).status == 403)
    try await rig.apply(next, secrets: "b")
    #expect(try await rig.decideOnce(request).status == 302, "the secret of the cookie was taken away")
    try await rig.apply(next, secrets: "ba")
    #expect(try await rig.decideOnce(request).isWaiting, "and is looked up again when it is back")
    try await rig.stop()
  }
}
