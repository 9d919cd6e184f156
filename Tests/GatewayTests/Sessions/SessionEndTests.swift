import FoundationEssentials
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Between the loops' memories and the store: what has ended is dead everywhere before it is answered.
@Suite("The end of sessions")
struct SessionEndTests {
  @Test("When the end of a session is answered, it is dead in the store and on every loop")
  func end() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let (_, other) = try rig.signIn("002.ben")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 {
      #expect(try await rig.decide(request, loop: loop).identity != nil)
      #expect(try await rig.decide(Asked(fields: ["Cookie: \(other)"]), loop: loop).identity != nil)
    }
    #expect(
      try await rig.sessions.end(.one(snapshot.session.handle), because: .signedOut) == [snapshot.session.handle])
    for loop in 0..<2 {
      #expect(try await rig.decide(request, loop: loop).identity == nil)
      #expect(try await rig.decideOnce(Asked(fields: ["Cookie: \(other)"]), loop: loop).identity != nil, "another's")
    }
    #expect(rig.metrics.sessionsEnded.total("signed_out") == 1)
    #expect(try await rig.sessions.end(.one(snapshot.session.handle), because: .signedOut) == [], "it is over already")
    try await rig.stop()
  }

  @Test("A session that is in use ends with its lifetime, though it is cached")
  func lifetime() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(40 * 86_400)
    let rig = try await GateRig(settings)
    let (anna, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    rig.clock.advance(30 * 86_400 - 2)
    rig.store.state.withLock { $0.accounts[anna.account.subject]?.lastVerified = rig.clock.now }
    await rig.follow()
    #expect(try await rig.decide(request).identity != nil)
    rig.clock.advance(1)
    #expect(try await rig.decideOnce(request).identity != nil)
    rig.clock.advance(1)
    #expect(try await rig.decide(request).identity == nil)
    try await rig.stop()
  }

  @Test("A session that the store has lost ends like any other, alone and with all of its user's")
  func endOfLost() async throws {
    let rig = try await GateRig()
    let (anna, annasCookie) = try rig.signIn("001.anna")
    let (ben, bensCookie) = try rig.signIn("002.ben")
    let requests = [annasCookie, bensCookie].map { Asked(fields: ["Cookie: \($0)"]) }
    for (request, loop) in [(requests[0], 0), (requests[0], 1), (requests[1], 0), (requests[1], 1)] {
      #expect(try await rig.decide(request, loop: loop).identity != nil)
    }
    // As after a failover that lost the sign-ins.
    rig.store.state.withLock { $0.sessions = [:] }
    #expect(try await rig.sessions.end(.one(anna.session.handle), because: .signedOut) == [])
    #expect(try await rig.sessions.end(.all(of: ben.account.subject), because: .byOperator) == [])
    for (request, loop) in [(requests[0], 0), (requests[0], 1), (requests[1], 0), (requests[1], 1)] {
      #expect(try await rig.decide(request, loop: loop).identity == nil)
    }
    try await rig.stop()
  }

  @Test(
    "A notification of withdrawn consent ends sessions that the store has lost, with or without the account",
    arguments: [false, true])
  func notificationAboutLost(keepsAccount: Bool) async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    // As after a failover that lost the sign-in.
    rig.store.state.withLock { state in
      state.sessions = [:]
      if !keepsAccount { state.accounts = [:] }
    }
    let outcome = try await rig.sessions.carryOut(
      AccountNotification(
        identifier: "1", subject: anna.account.subject, occurred: rig.clock.now, change: .consentRevoked, message: nil))
    let expected: NotificationOutcome = keepsAccount ? .carriedOut(ended: []) : .unknownSubject
    #expect(outcome == expected)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    try await rig.stop()
  }

  @Test("An end that the store could not write is not answered as one, and changes nothing")
  func endWithoutStore() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.store.state.withLock { $0.isAway = true }
    await #expect(throws: StoreError.self) {
      try await rig.sessions.end(.one(snapshot.session.handle), because: .signedOut)
    }
    #expect(try await rig.decideOnce(request).identity != nil)
    #expect(rig.metrics.storeFailures.total("end") == 1)
    try await rig.stop()
  }
}
