import AccessPolicy
import Sessions
import Testing

@testable import Gateway

// In a configuration with groups and lists, where a user may have been refused by all of them for a while. The user who
// was away comes back after a restart: no loop has the session in its cache.
@Suite("A revalidation that is due, where routes have lists")
struct DueRevalidationTests {
  private static func rig(_ apple: FakeApple = FakeApple()) async throws -> GateRig {
    var staff = AccessLists()
    staff.groups = ["staff"]
    var settings = try GatewaySettings.forTests(routes: [
      RouteSettings(path: "/staff/", access: .lists(staff)), RouteSettings(path: "/open/", access: .public),
    ])
    settings.routing.groups = [GroupConfiguration(name: "staff", members: ["001.anna"])]
    return try await GateRig(settings, apple: apple)
  }

  /// A session of before the restart, and the end of its absence.
  private static func away(_ rig: GateRig, for hours: Double) async throws -> (Subject, cookie: String) {
    let (anna, cookie) = try rig.signIn("001.anna")
    rig.clock.advance(hours * 3_600)
    await rig.follow()
    return (anna.account.subject, "Cookie: \(cookie)")
  }

  /// Decides on a request, which may wait for nothing but the look-up of its session.
  private static func decideAfterLookUp(_ rig: GateRig, _ request: Asked, loop: Int = 0) async throws -> Decided {
    let first = try await rig.decideOnce(request, loop: loop)
    guard case .suspend(let lookUp) = first else { return first }
    await lookUp()
    return try await rig.decideOnce(request, loop: loop)
  }

  @Test("On a public route the first request goes on at once with its identity, and one revalidation is made")
  func publicRoute() async throws {
    let rig = try await Self.rig()
    let (anna, cookie) = try await Self.away(rig, for: 26)
    let (answered, answer) = AsyncStream.makeStream(of: Void.self)
    rig.apple.holdAnswer { for await _ in answered {} }
    let request = Asked(target: "/open/x", fields: [cookie])
    for loop in [0, 1, 0, 1] {
      #expect(try await Self.decideAfterLookUp(rig, request, loop: loop).identity?.contains("001.anna") == true)
    }
    // Another route waits for that revalidation, and starts none of its own.
    #expect(try await rig.decideOnce(Asked(target: "/staff/x", fields: [cookie])).isWaiting)
    answer.finish()
    #expect(await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120)))
    #expect(try await Self.decideAfterLookUp(rig, Asked(target: "/staff/x", fields: [cookie])).identity != "")
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }

  @Test("One loop's knowledge that an account has become due in use holds for a connection on another")
  func otherLoop() async throws {
    let rig = try await Self.rig()
    let (anna, identifier) = try rig.signIn("001.anna")
    let request = Asked(target: "/staff/x", fields: ["Cookie: \(identifier)"])
    #expect(try await rig.decide(request).identity?.contains("001.anna") == true)
    rig.clock.advance(26 * 3_600)
    await rig.follow()
    let (answered, answer) = AsyncStream.makeStream(of: Void.self)
    rig.apple.holdAnswer { for await _ in answered {} }
    for loop in [1, 0] {
      #expect(try await Self.decideAfterLookUp(rig, request, loop: loop).identity?.contains("001.anna") == true)
    }
    answer.finish()
    #expect(await rig.revalidator.queue.waitForEnd(of: anna.account.subject, by: .now + .seconds(120)))
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }

  @Test("An overdue account is nobody on a public route until the revalidation that its request starts is made")
  func overdueOnPublicRoute() async throws {
    let rig = try await Self.rig()
    let (anna, cookie) = try await Self.away(rig, for: 80)
    let request = Asked(target: "/open/x", fields: [cookie])
    #expect(try await Self.decideAfterLookUp(rig, request).identity == "", "forwarded without an identity")
    #expect(await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120)))
    #expect(try await rig.decide(request).identity?.contains("001.anna") == true)
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }

  @Test("Cut off from Apple, a user whom another gateway has confirmed is somebody on a public route again")
  func confirmedElsewhereOnPublicRoute() async throws {
    let rig = try await Self.rig(FakeApple(.notSent))
    let (ben, _) = try rig.signIn("002.ben")
    let (anna, cookie) = try await Self.away(rig, for: 26)
    let request = Asked(target: "/open/x", fields: [cookie])
    // The second one loads the session of which an attempt has failed.
    for _ in 0..<2 {
      #expect(try await Self.decideAfterLookUp(rig, request).identity?.contains("001.anna") == true)
      #expect(await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120)))
    }
    rig.clock.advance(49 * 3_600)
    await rig.follow()
    // Somebody else's attempt begins a pause.
    _ = await rig.revalidator.run(ben)
    let calls = rig.apple.calls
    let elsewhere = try await rig.store.acquireLease(
      of: anna, preferring: "web", interval: .seconds(86_400), now: rig.clock.now)
    guard case .granted(let lease) = elsewhere else {
      Issue.record("the lease was not released")
      return
    }
    _ = try await rig.store.record(.good(claims: nil, token: nil), of: lease, at: rig.clock.now)
    #expect(try await Self.decideAfterLookUp(rig, request).identity == "")
    #expect(await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120)))
    #expect(try await rig.decide(request).identity?.contains("001.anna") == true)
    #expect(rig.apple.calls == calls)
    try await rig.stop()
  }

  @Test("An overdue account that Apple does not confirm starts one attempt on public routes, and stays nobody there")
  func unconfirmedOnPublicRoute() async throws {
    let rig = try await Self.rig(FakeApple(.revoked))
    let (anna, cookie) = try await Self.away(rig, for: 80)
    let request = Asked(target: "/open/x", fields: [cookie])
    for _ in 0..<5 {
      #expect(try await Self.decideAfterLookUp(rig, request).identity == "")
      #expect(await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120)))
    }
    #expect(rig.apple.calls == 1)
    try await rig.stop()
  }
}
