import FoundationEssentials
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Sessions while the store is unavailable")
struct StoreOutageTests {
  @Test("A damaged record of one user is no outage of the store")
  func damagedRow() async throws {
    let rig = try await GateRig()
    rig.storeHealth.didNotAnswer("find", StoreError(code: .damagedRow, message: "damaged"))
    #expect(!rig.storeHealth.isUnavailable && rig.metrics.storeFailures.total("find") == 1)
    rig.storeHealth.didNotAnswer("find", StoreError(code: .corrupt, message: "damaged"))
    #expect(rig.storeHealth.isUnavailable && rig.metrics.storeFailures.total("find") == 2)
    try await rig.stop()
  }

  @Test("A store that takes longer to fail than its failure is remembered is asked once for a request, answered 503")
  func slowFailure() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { state in
      state.isAway = true
      state.beforeFailure = { rig.clock.advance(5) }
    }
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])).status == 503)
    try await rig.stop()
  }

  @Test("While the store is away memory goes on for the outage grace, no longer, and nobody else gets in")
  func outage() async throws {
    var settings = try GatewaySettings.forTests()
    settings.store.outageGrace = .seconds(600)
    let rig = try await GateRig(settings)
    let (_, known) = try rig.signIn("001.anna")
    let (_, unknown) = try rig.signIn("002.ben")
    let request = Asked(fields: ["Cookie: \(known)"])
    _ = try await rig.decide(request)
    rig.store.state.withLock { $0.isAway = true }
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(unknown)"])).status == 503)
    rig.clock.advance(599)
    #expect(try await rig.decideOnce(request).identity != nil)
    rig.clock.advance(2)
    #expect(try await rig.decide(request).status == 503)
    rig.store.state.withLock { $0.isAway = false }
    // That the store did not answer is remembered for a second.
    rig.clock.advance(2)
    #expect(try await rig.decide(request).identity != nil)
    try await rig.stop()
  }

  @Test("A user who goes on asking while the store is away is not idle when it is back, one who does not is")
  func usedMeanwhile() async throws {
    var settings = try GatewaySettings.forTests()
    settings.store.outageGrace = .seconds(60)
    settings.session.idleTimeout = .seconds(600)
    let rig = try await GateRig(settings)
    let (_, patient) = try rig.signIn("001.anna")
    let (_, absent) = try rig.signIn("002.ben")
    for cookie in [patient, absent] { _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])) }
    rig.store.state.withLock { $0.isAway = true }
    for _ in 0..<4 {
      rig.clock.advance(300)
      #expect(try await rig.decide(Asked(fields: ["Cookie: \(patient)"])).status == 503)
    }
    rig.store.state.withLock { $0.isAway = false }
    rig.clock.advance(2)
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(patient)"])).identity != nil)
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(absent)"])).identity == nil)
    try await rig.stop()
  }

  @Test("A clock that is wrong for a moment of an outage does not cost the cached sessions", arguments: [601, -30])
  func clockStep(seconds: Double) async throws {
    var settings = try GatewaySettings.forTests()
    settings.store.outageGrace = .seconds(600)
    let rig = try await GateRig(settings)
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.store.state.withLock { $0.isAway = true }
    rig.clock.advance(seconds)
    for _ in 0..<2 { #expect(try await rig.decide(request).status == 503) }
    let asked = rig.store.state.withLock { $0.lookUps }
    #expect(try await rig.decideOnce(request).status == 503, "not asked for at each request")
    #expect(rig.store.state.withLock { $0.lookUps } == asked)
    rig.clock.advance(-seconds)
    #expect(try await rig.decideOnce(request).identity != nil)
    try await rig.stop()
  }

  @Test("An account that changed serves as it was while the store is away, and as it is when the store is back")
  func staleServes() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.store.state.withLock { state in
      state.accounts[snapshot.account.subject]?.claims.email = "new@example.com"
      state.accounts[snapshot.account.subject]?.claims.emailVerified = true
    }
    await rig.sessions.markStale(snapshot.account.subject)
    rig.store.state.withLock { $0.isAway = true }
    for loop in 0..<2 {
      let identity = try #require(try await rig.decide(request, loop: loop).identity)
      #expect(!identity.contains("new@example.com"))
      #expect(try await rig.decideOnce(request, loop: loop).identity != nil, "not asked for at each request")
    }
    rig.store.state.withLock { $0.isAway = false }
    rig.clock.advance(2)
    // Following the store is what notices that it answers again.
    await rig.follow()
    for loop in 0..<2 {
      #expect(try await rig.decide(request, loop: loop).identity?.contains("new@example.com") == true)
    }
    // No longer than the grace.
    await rig.sessions.markStale(snapshot.account.subject)
    rig.store.state.withLock { $0.isAway = true }
    rig.clock.advance(Double(rig.settings.store.outageGrace.components.seconds + 1))
    #expect(try await rig.decide(request).status == 503)
    try await rig.stop()
  }

  @Test("Other settings hold for the outage that comes")
  func apply() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    var settings = rig.settings
    settings.store.outageGrace = .seconds(10)
    settings.session.idleTimeout = .seconds(77)
    rig.sessions.apply(settings.session)
    rig.storeHealth.apply(settings.store)
    #expect(rig.sessions.idleTimeout == .seconds(77))
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    await rig.follow()
    rig.store.state.withLock { $0.isAway = true }
    rig.clock.advance(11)
    #expect(try await rig.decide(request).status == 503)
    try await rig.stop()
  }

  @Test("A store that must not be used by this version is not answered from memory, until following says otherwise")
  func refusedByStore() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(request).identity != nil)
    rig.store.state.withLock { $0.isTooNew = true }
    let cursor = await rig.follow()
    #expect(rig.storeHealth.isRefused)
    // A look-up that was under way meanwhile brings no trust back.
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).status == 503)
    rig.store.state.withLock { $0.isTooNew = false }
    rig.clock.advance(2)
    #expect(try await rig.decide(request).status == 503)
    _ = await rig.changes.follow(cursor)
    rig.clock.advance(2)
    #expect(try await rig.decide(request).identity != nil)
    try await rig.stop()
  }
}
