import AccessPolicy
import FoundationEssentials
import HTTPTypes
import Operations
import Pages
import Sessions
import Synchronization
import Testing

@testable import DataPlane
@testable import Gateway

// Exchanges under way, as the gate judges them again: by the session's times, the account's check, the store, and the
// configuration of now.
@Suite("The review of open exchanges")
struct OpenExchangeTests {
  private func open(_ rig: GateRig, _ cookie: String, _ target: String = "/x") async throws -> OpenExchange {
    try await rig.open(Asked(target: target, fields: ["Cookie: \(cookie)"]))
  }

  @Test("An exchange goes on for as long as its session does")
  func lifetime() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(40 * 86_400)
    let rig = try await GateRig(settings)
    let (anna, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    #expect(try await rig.review(exchange))
    rig.clock.advance(29 * 86_400)
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.lastVerified = rig.clock.now }
    await rig.sessions.markStale(anna.account.subject)
    await rig.follow()
    #expect(try await rig.review(exchange, isActive: true))
    rig.clock.advance(2 * 86_400)
    await rig.follow()
    #expect(try await !rig.review(exchange, isActive: true))
    try await rig.stop()
  }

  @Test("Activity keeps a session in use; without it the session is idle, unless the store knows better")
  func idle() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(600)
    let rig = try await GateRig(settings)
    let (anna, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    for _ in 0..<3 {
      rig.clock.advance(400)
      await rig.follow()
      #expect(try await rig.review(exchange, isActive: true))
    }
    rig.clock.advance(700)
    await rig.follow()
    // Used on another replica.
    rig.store.state.withLock { $0.sessions[anna.session.handle]?.lastSeen = rig.clock.now }
    #expect(try await rig.review(exchange))
    rig.clock.advance(700)
    await rig.follow()
    #expect(try await !rig.review(exchange))
    try await rig.stop()
  }

  @Test("Activity while the session is being looked up keeps it in use, too")
  func activityDuringLookUp() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(600)
    let rig = try await GateRig(settings)
    let (anna, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    // The store takes it for idle.
    rig.clock.advance(700)
    await rig.follow()
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await rig.reviewOnce(exchange, isActive: true) == nil, "it is looked up")
    rig.clock.advance(400)
    await rig.follow()
    #expect(try await rig.review(exchange))
    rig.clock.advance(400)
    await rig.follow()
    #expect(try await !rig.review(exchange))
    try await rig.stop()
  }

  @Test("A session that has ended in the store, or is unknown there, ends its exchanges")
  func ended() async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    #expect(try await rig.review(exchange))
    rig.store.state.withLock { $0.sessions[anna.session.handle] = nil }
    #expect(try await rig.review(exchange), "nobody has said so yet")
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await rig.ending(of: exchange) == .signInRequired)
    try await rig.stop()
  }

  @Test("While the store is away exchanges go on for the outage grace, and no longer")
  func outage() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    #expect(try await rig.review(exchange))
    let cursor = await rig.follow()
    rig.store.state.withLock { $0.isAway = true }
    _ = await rig.changes.follow(cursor)
    #expect(try await rig.review(exchange))
    rig.clock.advance(Double(rig.settings.store.outageGrace.components.seconds) + 1)
    #expect(try await rig.ending(of: exchange) == .unverifiable)
    try await rig.stop()
  }

  @Test("Another configuration judges exchanges again: by route, rule and secret")
  func configuration() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let (closed, fine) = (try await open(rig, cookie, "/closed/x"), try await open(rig, cookie, "/x"))
    try await rig.apply(try .forTests(routes: [RouteSettings(path: "/closed/", access: .deny)]))
    #expect(try await rig.ending(of: closed) == .closed)
    #expect(try await rig.review(fine))
    try await rig.apply(try .forTests(), secrets: "ba")
    #expect(try await rig.review(fine))
    try await rig.apply(try .forTests(), secrets: "b")
    #expect(try await rig.ending(of: fine) == .signInRequired)
    try await rig.stop()
  }

  @Test("An exchange ends when its cookie no longer counts on its host: a host that becomes an alias, and back")
  func scope() async throws {
    let name = "wiki.example.com"
    var asHost = try GatewaySettings.forTests()
    asHost.routing.sites = [
      SiteSettings(host: HostSettings(origin: try PublicOrigin(parsing: "https://\(name)")), pages: PageSettings())
    ]
    var asAlias = try GatewaySettings.forTests()
    asAlias.publicAddress.hosts = [name]
    let identifier = SessionIdentifier.random()
    for (before, after) in [(asHost, asAlias), (asAlias, asHost)] {
      let rig = try await GateRig(before)
      let (_, cookie) = try rig.signIn("001.anna", identifier: identifier)
      let own = before.routing.sites.isEmpty ? cookie : rig.cookie(of: identifier, on: .host(name))
      let exchange = try await rig.open(Asked(host: name, fields: ["Cookie: \(own)"]))
      let elsewhere = try await open(rig, cookie)
      try await rig.apply(before)
      #expect(try await rig.review(exchange))
      try await rig.apply(after)
      #expect(try await rig.ending(of: exchange) == .signInRequired)
      #expect(try await rig.review(elsewhere), "that of public_url counts as before")
      try await rig.stop()
    }
  }

  @Test("Another configuration judges exchanges by their Destination as well")
  func destination() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    func open(_ destination: String) async throws -> OpenExchange {
      let fields = ["Cookie: \(cookie)", "Destination: \(destination)"]
      return try await rig.open(Asked(target: "/dav/a", method: "MOVE", fields: fields))
    }
    let closed = try await open("https://app.example.com/closed/a")
    let elsewhere = try await open("/other/a")
    let fine = try await open("/dav/b")
    for exchange in [closed, elsewhere, fine] { #expect(try await rig.review(exchange)) }
    var other = RouteSettings(path: "/other/")
    other.upstream = "other"
    try await rig.apply(try .forTests(routes: [RouteSettings(path: "/closed/", access: .deny), other]))
    #expect(try await !rig.review(closed))
    #expect(try await !rig.review(elsewhere), "it is the resource of another application")
    #expect(try await rig.review(fine))
    var restricted = RouteSettings(path: "/dav/b")
    restricted.conditions.denied.subjects = ["001.anna"]
    try await rig.apply(try .forTests(routes: [restricted]))
    #expect(try await !rig.review(fine))
    try await rig.stop()
  }

  @Test(
    "A request that may not continue gets the page of the reason, and is not told when to repeat itself",
    arguments: [
      (ExchangeEnding.signInRequired, 401, "sign_in_required"), (.forbidden, 403, "forbidden"),
      (.closed, 403, "closed"), (.outsideNetworks, 403, "network"), (.unverifiable, 503, "store_unavailable"),
    ])
  func answer(_ ending: ExchangeEnding, _ status: Int, _ error: String) async throws {
    let rig = try await GateRig()
    for credential in [ExchangeCredential(number: 0), .machineToken] {
      let response = try await rig.answer(to: ending, credential)
      #expect(response.head.status.code == status && response.head.headerFields[.retryAfter] == nil)
      #expect(String(decoding: response.body, as: UTF8.self).contains("\"\(error)\""))
      let challenges = response.head.headerFields[values: .wwwAuthenticate]
      let basic = credential.isMachineToken ? ["Basic realm=\"app.example.com\""] : []
      #expect(challenges == (status == 401 ? ["Bearer"] + basic : []))
    }
    try await rig.stop()
  }

  @Test(
    "A form whose session ends gets a page that says whether it was passed on, and a script the reason as before",
    arguments: [
      (ClientPreferences.BodyProgress.partial, "Your form was not sent completely"),
      (.whole, "Your form may have been processed"),
    ])
  func form(body: ClientPreferences.BodyProgress, heading: String) async throws {
    let rig = try await GateRig()
    func answer(
      _ ending: ExchangeEnding, _ accept: String, _ body: ClientPreferences.BodyProgress?
    ) async throws -> String {
      let preferences = ClientPreferences(accept: Array(accept.utf8), body: body)
      let response = try await rig.answer(to: ending, ExchangeCredential(number: 0), preferences)
      #expect(response.head.status == (ending == .signInRequired ? .unauthorized : .forbidden))
      return String(decoding: response.body, as: UTF8.self)
    }
    #expect(try await answer(.signInRequired, "text/html", body).contains("<h1>\(heading)</h1>"))
    #expect(try await answer(.signInRequired, "text/html", nil).contains("<h1>Please sign in</h1>"))
    #expect(try await answer(.signInRequired, "*/*", body).contains("\"sign_in_required\""))
    #expect(try await answer(.forbidden, "text/html", body).contains("<h1>This account does not have access</h1>"))
    try await rig.stop()
  }

  @Test("A request without a session goes on only while its Destination is public, too")
  func anonymousDestination() async throws {
    let open = RouteSettings(path: "/drop/", access: .public)
    let rig = try await GateRig(try .forTests(routes: [open]))
    let fields = ["Destination: /drop/b/x"]
    let exchange = try await rig.open(Asked(target: "/drop/a", method: "COPY", fields: fields))
    #expect(try await rig.review(exchange))
    try await rig.apply(try .forTests(routes: [open, RouteSettings(path: "/drop/b/", access: .signedIn)]))
    #expect(try await !rig.review(exchange))
    try await rig.stop()
  }

  @Test("An open exchange has its account checked once it is due, and ends with the grace")
  func revalidation() async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let exchange = try await open(rig, cookie)
    rig.clock.advance(30 * 3_600)
    await rig.follow()
    for _ in 0..<5 { #expect(try await rig.review(exchange)) }
    #expect(await rig.revalidator.queue.waitForEnd(of: anna.account.subject, by: .now + .seconds(120)))
    #expect(rig.store.state.withLock { $0.leases } == 1)
    #expect(try await rig.review(exchange), "Apple says that all is well")
    rig.apple.answer(.trouble)
    for hours in [30, 25, 25] {
      rig.clock.advance(Double(hours) * 3_600)
      await rig.follow()
      #expect(try await rig.review(exchange, isActive: true))
      _ = await rig.revalidator.queue.waitForEnd(of: anna.account.subject, by: .now + .seconds(120))
    }
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 0)
    rig.clock.advance(2)
    await rig.follow()
    #expect(try await !rig.review(exchange, isActive: true), "the grace is over")
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 1)
    try await rig.stop()
  }
}
