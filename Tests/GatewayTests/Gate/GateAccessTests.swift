import AccessPolicy
import FoundationEssentials
import Operations
import Sessions
import Synchronization
import Testing
import WebFormats

@testable import DataPlane
@testable import Gateway

// Groups, deny lists, bans, networks, ages and discarded tokens, as the gate decides by them.
@Suite("Access that is decided at run time, at the gate")
struct GateAccessTests {
  /// Settings with the group `staff`, which Anna belongs to, and a route that is for staff only.
  private static func settings(_ change: (inout GatewaySettings) -> Void = { _ in }) throws -> GatewaySettings {
    var staff = AccessLists()
    staff.groups = ["staff"]
    var settings = try GatewaySettings.forTests(routes: [
      RouteSettings(path: "/staff/", access: .lists(staff)), RouteSettings(path: "/open/", access: .public),
    ])
    settings.routing.groups = [
      GroupConfiguration(name: "staff", members: ["001.anna"]), GroupConfiguration(name: "bad"),
    ]
    settings.identity.headers = [.init(name: "X-User", claim: "sub"), .init(name: "X-Groups", claim: "groups")]
    change(&settings)
    return settings
  }

  private func ask(_ rig: GateRig, _ cookie: String, _ target: String, _ fields: [String] = []) async throws -> Decided
  {
    try await rig.decide(Asked(target: target, fields: ["Cookie: \(cookie)"] + fields))
  }

  @Test("A member of a configured group passes with the claim groups, anybody else does not")
  func configuredGroup() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    #expect(try await ask(rig, anna, "/staff/x").identity == "X-User: 001.anna\r\nX-Groups: staff\r\n")
    #expect(try await ask(rig, ben, "/staff/x").status == 403)
    #expect(try await ask(rig, ben, "/x").identity == "X-User: 002.ben\r\n")
    try await rig.stop()
  }

  @Test("A refusal, and a sign-in on a public route, is marked where another reading of the path is why")
  func ambiguousPath() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, ben) = try rig.signIn("002.ben")
    for path in ["/STAFF/x", "/x%252F..%252Fstaff", "//host/staff/x"] {
      let label = try await rig.label(Asked(target: path, fields: ["Cookie: \(ben)"]))
      #expect(label.isOfAmbiguousPath && label.site == 0, "\(path)")
    }
    #expect(try await rig.label(Asked(target: "/open/x;y")).isOfAmbiguousPath)
    #expect(try await rig.label(Asked(target: "/open/x;y")).route == .signedIn)
    #expect(try await !rig.label(Asked(target: "/x;y")).isOfAmbiguousPath)
    #expect(try await !rig.label(Asked(target: "/x")).isOfAmbiguousPath)
    let refusal = try await rig.label(Asked(target: "/staff/x", fields: ["Cookie: \(ben)"]))
    #expect(!refusal.isOfAmbiguousPath && refusal.route == .rules)
    let verified = try await rig.label(
      Asked(target: "/.auth/verify", fields: ["Cookie: \(ben)", "X-Original-URI: /STAFF/x"], isFromProxy: true))
    #expect(verified.isOfAmbiguousPath && verified.route == .verify)
    #expect(!RequestLabel(number: -1).isOfAmbiguousPath)
    try await rig.stop()
  }

  @Test("A group that the store adds or takes away takes effect on requests and on an open exchange")
  func storedGroup() async throws {
    let rig = try await GateRig(try Self.settings())
    let (ben, cookie) = try rig.signIn("002.ben")
    let staff = try #require(GroupName("staff"))
    #expect(try await ask(rig, cookie, "/staff/x").status == 403)
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [staff] }
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await ask(rig, cookie, "/staff/x").identity?.contains("X-Groups: staff") == true)
    let exchange = try await rig.open(Asked(target: "/staff/x", fields: ["Cookie: \(cookie)"]))
    #expect(try await rig.review(exchange))
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [] }
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await !rig.review(exchange))
    #expect(try await ask(rig, cookie, "/staff/x").status == 403)
    try await rig.stop()
  }

  @Test("Other members of a configured group take effect on requests and on an open exchange")
  func changedMembers() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, anna) = try rig.signIn("001.anna")
    let (_, ben) = try rig.signIn("002.ben")
    let exchange = try await rig.open(Asked(target: "/staff/x", fields: ["Cookie: \(anna)"]))
    #expect(try await rig.review(exchange))
    try await rig.apply(
      GroupDirectory([GroupSettings(name: "staff", members: ["002.ben"]), GroupSettings(name: "bad")]))
    #expect(try await !rig.review(exchange))
    #expect(try await ask(rig, anna, "/staff/x").status == 403)
    #expect(try await ask(rig, ben, "/staff/x").identity == "X-User: 002.ben\r\nX-Groups: staff\r\n")
    try await rig.stop()
  }

  @Test("A denied user is refused everywhere and is nobody on a public route")
  func denied() async throws {
    let rig = try await GateRig(try Self.settings { $0.routing.access.conditions.denied.groups = ["bad"] })
    let (anna, cookie) = try rig.signIn("001.anna")
    #expect(try await ask(rig, cookie, "/open/x").identity?.contains("001.anna") == true)
    let open = try await rig.open(Asked(target: "/open/x", fields: ["Cookie: \(cookie)"]))
    let bad = try #require(GroupName("bad"))
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.access.groups = [bad] }
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await ask(rig, cookie, "/staff/x").status == 403)
    #expect(try await ask(rig, cookie, "/x").status == 403)
    guard case .forward(let identity, let session, _) = try await ask(rig, cookie, "/open/x") else {
      Issue.record("a public route refuses a denied user")
      return
    }
    #expect(identity.isEmpty && session == nil)
    #expect(try await !rig.review(open), "it was forwarded with an identity")
    try await rig.stop()
  }

  @Test("A session whose user is banned is none, until the ban ends")
  func banned() async throws {
    let rig = try await GateRig(try Self.settings())
    let (anna, cookie) = try rig.signIn("001.anna")
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    let ban = Ban(until: rig.clock.now.addingTimeInterval(60), reason: nil, since: rig.clock.now, by: "cli")
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.access.ban = ban }
    await rig.sessions.markStale(anna.account.subject)
    #expect(try await ask(rig, cookie, "/x").status == 302)
    #expect(try await ask(rig, cookie, "/open/x").identity == "")
    rig.clock.advance(120)
    await rig.follow()
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    try await rig.stop()
  }

  @Test("Networks are judged before signing in, by an address that is known")
  func networks() async throws {
    let settings = try Self.settings { settings in
      var inside = RouteSettings(path: "/inside/")
      inside.networks = ["10.0.0.0/8"].compactMap { NetworkPrefix($0) }
      settings.routing.routes.append(inside)
    }
    let rig = try await GateRig(settings)
    let (_, cookie) = try rig.signIn("001.anna")
    func ask(_ address: String, _ fields: [String] = [], trusted: Bool = false) async throws -> Int? {
      try await rig.decide(
        Asked(
          target: "/inside/x", fields: ["Cookie: \(cookie)"] + fields, isFromProxy: trusted, address: address)
      ).status
    }
    #expect(try await ask("10.1.2.3") == nil)
    #expect(try await ask("192.0.2.1") == 403)
    #expect(try await ask("unix") == 403)
    for field in ["X-Forwarded-For: 10.1.2.3", "Forwarded: for=10.1.2.3", "X-Real-IP: 10.1.2.3"] {
      #expect(try await ask("10.1.2.3", [field]) == 403, "\(field)")
    }
    #expect(try await ask("10.1.2.3", ["X-Forwarded-For: 10.1.2.3"], trusted: true) == nil)
    #expect(try await ask("10.1.2.3", ["Forwarded: for=192.0.2.1"], trusted: true) == 403)
    #expect(try await ask("10.1.2.3", trusted: true) == 403, "a proxy that does not say for whom")
    let stranger = try await rig.decide(Asked(target: "/inside/x", address: "192.0.2.1"))
    #expect(stranger.status == 403, "not sent to sign in")
    let exchange = try await rig.open(
      Asked(target: "/inside/x", fields: ["Cookie: \(cookie)"], address: "10.1.2.3"))
    #expect(try await rig.review(exchange))
    try await rig.apply(
      try Self.settings { settings in
        var inside = RouteSettings(path: "/inside/")
        inside.networks = ["10.2.0.0/16"].compactMap { NetworkPrefix($0) }
        settings.routing.routes.append(inside)
      })
    #expect(try await !rig.review(exchange))
    try await rig.stop()
  }

  @Test("The address of an open exchange whose peer spoke for another meets no network that a reload adds")
  func unknownAddressOfOpenExchange() async throws {
    let rig = try await GateRig(try Self.settings())
    let (_, cookie) = try rig.signIn("001.anna")
    let known = try await rig.open(Asked(fields: ["Cookie: \(cookie)"], address: "10.1.2.3"))
    let forged = try await rig.open(
      Asked(fields: ["Cookie: \(cookie)", "X-Forwarded-For: 10.9.9.9"], address: "10.1.2.3"))
    try await rig.apply(
      try Self.settings { $0.routing.access.networks = ["10.0.0.0/8"].compactMap { NetworkPrefix($0) } })
    #expect(try await rig.review(known))
    #expect(try await !rig.review(forged))
    try await rig.stop()
  }

  @Test("A sign-in older than max_age is repeated: a navigation is redirected, anything else gets 401")
  func maxAge() async throws {
    let settings = try Self.settings { settings in
      var fresh = RouteSettings(path: "/fresh/")
      fresh.maxAge = 3_600
      settings.routing.routes.append(fresh)
    }
    let rig = try await GateRig(settings)
    let (_, cookie) = try rig.signIn("001.anna")
    let exchange = try await rig.open(Asked(target: "/fresh/x", fields: ["Cookie: \(cookie)"]))
    rig.clock.advance(3_599)
    await rig.follow()
    #expect(try await ask(rig, cookie, "/fresh/x").identity != nil)
    rig.clock.advance(1)
    guard case .answer(302, let location?) = try await ask(rig, cookie, "/fresh/x?a=b") else {
      Issue.record("no redirect")
      return
    }
    #expect(location.hasPrefix("/.auth/") && location.contains("return_to=") && location.contains("fresh"))
    #expect(try await ask(rig, cookie, "/fresh/x", ["Sec-Fetch-Mode: cors"]).status == 401)
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    #expect(try await rig.review(exchange), "the age is judged per request")
    let (_, again) = try rig.signIn("001.anna")
    #expect(try await ask(rig, again, "/fresh/x").identity != nil)
    // A clock that was ahead when the user signed in dates it into the future: that proves nothing about its age.
    rig.clock.advance(-61)
    #expect(try await ask(rig, again, "/fresh/x").status == 302)
    rig.clock.advance(1)
    #expect(try await ask(rig, again, "/fresh/x").identity != nil)
    try await rig.stop()
  }

  @Test("A user whose token was discarded signs in again once admitted, and is never revalidated")
  func discardedToken() async throws {
    let rig = try await GateRig(try Self.settings { $0.routing.access.lists = AccessLists(groups: ["staff"]) })
    let (ben, cookie) = try rig.signIn("002.ben")
    let staff = try #require(GroupName("staff"))
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.isTokenDiscarded = true }
    #expect(try await ask(rig, cookie, "/x").status == 403)
    rig.clock.advance(3 * 86_400)
    await rig.follow()
    #expect(try await ask(rig, cookie, "/x").status == 403)
    #expect(rig.store.state.withLock { $0.leases } == 0)
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [staff] }
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await ask(rig, cookie, "/x").status == 302)
    #expect(try await ask(rig, cookie, "/x", ["Sec-Fetch-Mode: cors"]).status == 401)
    #expect(try await ask(rig, cookie, "/open/x").identity?.contains("002.ben") == true)
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.isTokenDiscarded = false }
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    try await rig.stop()
  }

  @Test("An account that nobody admits is not revalidated, and is before its first admitted request")
  func admittedNowhere() async throws {
    let rig = try await GateRig(try Self.settings { $0.routing.access.lists = AccessLists(groups: ["staff"]) })
    let (ben, cookie) = try rig.signIn("002.ben")
    let staff = try #require(GroupName("staff"))
    rig.clock.advance(26 * 3_600)
    await rig.follow()
    #expect(try await ask(rig, cookie, "/x").status == 403)
    #expect(rig.store.state.withLock { $0.leases } == 0)
    _ = await rig.lastSeen.write()
    rig.store.state.withLock { $0.accounts[ben.account.subject]?.access.groups = [staff] }
    await rig.sessions.markStale(ben.account.subject)
    #expect(try await rig.decideOnce(Asked(target: "/x", fields: ["Cookie: \(cookie)"])).isWaiting)
    #expect(try await ask(rig, cookie, "/x").identity != nil)
    #expect(rig.store.state.withLock { $0.leases } == 1)
    try await rig.stop()
  }
}

extension AccessLists {
  fileprivate init(groups: [String]) {
    self.init()
    self.groups = groups
  }
}
