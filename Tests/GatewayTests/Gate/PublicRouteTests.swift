import AccessPolicy
import FoundationEssentials
import HTTPTypes
import Sessions
import Synchronization
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway

// Public routes: who is nobody there, and the review of exchanges that have no session.
@Suite("Public routes at the gate")
struct PublicRouteTests {
  private static func settings(_ change: (inout [RouteSettings]) -> Void = { _ in }) throws -> GatewaySettings {
    var app = RouteSettings(path: "/app/")
    app.conditions.denied.groups = ["bad"]
    var routes = [
      app, RouteSettings(path: "/app/open/", access: .public), RouteSettings(path: "/open/", access: .public),
    ]
    change(&routes)
    var settings = try GatewaySettings.forTests(routes: routes)
    settings.routing.groups = [GroupConfiguration(name: "bad")]
    settings.identity.headers = [.init(name: "X-User", claim: "sub")]
    return settings
  }

  private func ask(_ rig: GateRig, _ cookie: String, _ target: String) async throws -> Decided {
    try await rig.decide(Asked(target: target, fields: ["Cookie: \(cookie)"]))
  }

  @Test("A user whom a route denies is nobody on public routes below it, also in an open exchange")
  func deniedByRoute() async throws {
    let rig = try await GateRig(try Self.settings())
    let (anna, cookie) = try rig.signIn("001.anna")
    #expect(try await ask(rig, cookie, "/app/open/x").identity == "X-User: 001.anna\r\n")
    let open = try await rig.open(Asked(target: "/app/open/x", fields: ["Cookie: \(cookie)"]))
    #expect(try await rig.review(open))
    let bad = try #require(GroupName("bad"))
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.access.groups = [bad] }
    await rig.sessions.markStale(anna.account.subject)
    for _ in 0..<2 {
      guard case .forward(let identity, let session, _) = try await ask(rig, cookie, "/app/open/x") else {
        Issue.record("a public route refuses a denied user")
        return
      }
      #expect(identity.isEmpty && session == nil)
    }
    #expect(try await ask(rig, cookie, "/app/x").status == 403)
    #expect(try await ask(rig, cookie, "/open/x").identity == "X-User: 001.anna\r\n", "no list holds there")
    #expect(try await !rig.review(open), "it was forwarded with an identity")
    try await rig.stop()
  }

  @Test("verify answers a user whom a route denies without an identity below a public route")
  func verify() async throws {
    let rig = try await GateRig(try Self.settings())
    let (anna, cookie) = try rig.signIn("001.anna")
    let bad = try #require(GroupName("bad"))
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.access.groups = [bad] }
    for (path, user) in [("/app/open/x", nil), ("/open/x", "001.anna")] {
      let answer = try await rig.answer(
        Asked(
          target: "/.auth/verify", fields: ["Cookie: \(cookie)", "X-Original-URI: \(path)"], isFromProxy: true))
      #expect(answer.status == .ok && answer.headerFields[.init("X-User")!] == user, "\(path)")
    }
    try await rig.stop()
  }

  @Test("An open exchange without a session ends when a reload adds networks that its client is not in, or a sign-in")
  func anonymousExchanges() async throws {
    let rig = try await GateRig(try Self.settings())
    let inside = try await rig.open(Asked(target: "/open/x", address: "10.1.2.3"))
    let outside = try await rig.open(Asked(target: "/open/x", address: "192.0.2.1"))
    let forged = try await rig.open(
      Asked(target: "/open/x", fields: ["X-Forwarded-For: 10.1.2.3"], address: "10.1.2.3"))
    for exchange in [inside, outside, forged] { #expect(try await rig.review(exchange)) }
    try await rig.apply(try Self.settings { $0[2].networks = ["10.0.0.0/8"].compactMap { NetworkPrefix($0) } })
    #expect(try await rig.review(inside))
    #expect(try await rig.ending(of: outside) == .outsideNetworks)
    #expect(try await rig.ending(of: forged) == .outsideNetworks, "its address is not known")
    try await rig.apply(try Self.settings { $0[2].access = .signedIn })
    #expect(try await rig.ending(of: inside) == .signInRequired)
    try await rig.stop()
  }

  @Test("An account that was away longer than a day is revalidated before its first request where groups admit")
  func revalidatedFirst() async throws {
    var settings = try Self.settings()
    settings.routing.access.lists = AccessLists()
    settings.routing.access.lists?.groups = ["bad"]
    settings.routing.routes = []
    let rig = try await GateRig(settings, apple: FakeApple(.revoked))
    let (ben, cookie) = try rig.signIn("002.ben")
    // Nobody asked for anything here: what happened elsewhere is not known.
    rig.clock.advance(26 * 3_600)
    await rig.follow()
    let bad = try #require(GroupName("bad"))
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [bad] }
    #expect(try await ask(rig, cookie, "/x").status == 302)
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }

  @Test("An account that becomes due in use is revalidated beside its requests")
  func dueInUse() async throws {
    var settings = try Self.settings()
    settings.routing.access.lists = AccessLists()
    settings.routing.access.lists?.groups = ["bad"]
    let rig = try await GateRig(settings)
    let (ben, cookie) = try rig.signIn("002.ben")
    let bad = try #require(GroupName("bad"))
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [bad] }
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    rig.clock.advance(26 * 3_600)
    await rig.follow()
    #expect(try await rig.decideOnce(Asked(target: "/x", fields: ["Cookie: \(cookie)"])).identity != nil)
    #expect(await rig.revalidator.queue.waitForEnd(of: ben.account.subject, by: .now + .seconds(120)))
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }
}
