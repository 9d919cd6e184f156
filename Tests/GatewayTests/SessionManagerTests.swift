import FoundationEssentials
import Logging
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Between the loops' memories and the store: what has ended is dead everywhere before it is answered.
@Suite("The sessions of a process")
struct SessionManagerTests {
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

  @Test("Sessions that end or change elsewhere are followed, from the last change that was read")
  func follow() async throws {
    let rig = try await GateRig()
    let (anna, annasCookie) = try rig.signIn("001.anna")
    let (ben, bensCookie) = try rig.signIn("002.ben")
    let requests = [annasCookie, bensCookie].map { Asked(fields: ["Cookie: \($0)"]) }
    for request in requests { _ = try await rig.decide(request) }
    var cursor = await rig.follow()
    // Another replica ends one session, and changes the other's account.
    rig.store.state.withLock { state in
      state.sessions[anna.session.handle] = nil
      state.accounts[ben.account.subject]?.claims.email = "new@example.com"
      state.changes = [.ended(anna.session.handle, .byOperator), .accountChanged(ben.account.subject)]
    }
    cursor = await rig.changes.follow(cursor)
    #expect(cursor?.text == "2")
    #expect(try await rig.decide(requests[0]).identity == nil)
    #expect(try await rig.decideOnce(requests[1]).isWaiting, "looked up again")
    rig.store.state.withLock { $0.isAway = true }
    #expect(await rig.changes.follow(cursor) == cursor, "the store is away: from here another time")
    try await rig.stop()
  }

  @Test("Sessions that were cached before the feed was first read are looked up again: they may have ended before")
  func beforeFirstCursor() async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(request).identity != nil)
    // Another replica ends the session, and no change tells of it to a gateway that begins to read only now.
    rig.store.state.withLock { state in
      state.sessions[anna.session.handle] = nil
      state.changes = [.ended(anna.session.handle, .byOperator)]
    }
    let cursor = await rig.changes.follow(nil)
    #expect(cursor?.text == "1")
    #expect(try await rig.decide(request).identity == nil)
    try await rig.stop()
  }

  @Test("A damaged record of one user is no outage of the store")
  func damagedRow() async throws {
    let rig = try await GateRig()
    rig.storeHealth.didNotAnswer("find", StoreError(code: .damagedRow, message: "damaged"))
    #expect(!rig.storeHealth.isUnavailable && rig.metrics.storeFailures.total("find") == 1)
    rig.storeHealth.didNotAnswer("find", StoreError(code: .corrupt, message: "damaged"))
    #expect(rig.storeHealth.isUnavailable && rig.metrics.storeFailures.total("find") == 2)
    try await rig.stop()
  }

  @Test("Every session is looked up again if changes may be missing")
  func incomplete() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
    #expect(await rig.loops.count() == 2)
    rig.store.state.withLock { $0.gap = .forgotten }
    await rig.follow()
    #expect(await rig.loops.count() == 0)
    #expect(try await rig.decideOnce(request).isWaiting)
    try await rig.stop()
  }

  @Test("Results that were read before everything was looked up again are not believed")
  func readBefore() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { state in
      state.gap = .forgotten
      // Between the look-up and its answer the session ends elsewhere, and the news of it are lost.
      state.beforeAnswer = {
        rig.store.state.withLock { $0.sessions[snapshot.session.handle] = nil }
        await rig.follow()
      }
    }
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])).identity == nil)
    #expect(rig.store.state.withLock { $0.lookUps } == 2)
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

  @Test("While an invalidation has not reached every loop, no loop's cache is taken for the present state")
  func invalidating() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    let invalidations: [@Sendable () async -> Void] = [
      { await rig.sessions.forget(snapshot.account.subject) }, { await rig.loops.removeAll() },
    ]
    for invalidate in invalidations {
      #expect(try await rig.decide(request, loop: 1).identity != nil)
      // The first loop is busy: the invalidation has begun and waits for it, and so has not reached the second loop.
      let release = rig.hold(loop: 0)
      let invalidation = Task.immediate { await invalidate() }
      let cached = Task.immediate { await rig.loops.cached(snapshot.session.handle) }
      // By now the second loop has answered.
      #expect(try await rig.decideOnce(request, loop: 1).identity != nil)
      release()
      #expect(await cached.value?.isCurrent == false)
      await invalidation.value
      #expect(try await rig.decideOnce(request, loop: 1).isWaiting)
    }
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

  @Test("A session that one loop knows is known to the others without a question to the store")
  func loopsFirst() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    #expect(rig.store.state.withLock { $0.lookUps } == 1)
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
    await rig.sessions.forget(snapshot.account.subject)
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
    await rig.sessions.forget(snapshot.account.subject)
    rig.store.state.withLock { $0.isAway = true }
    rig.clock.advance(Double(rig.settings.store.outageGrace.components.seconds + 1))
    #expect(try await rig.decide(request).status == 503)
    try await rig.stop()
  }

  @Test("A session is idle when no loop has seen it for the idle time-out, whatever the store was told")
  func idleOnOneLoop() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
    for _ in 0..<3 {
      rig.clock.advance(90)
      rig.storeHealth.answered(at: rig.clock.milliseconds)
      #expect(try await rig.decide(request, loop: 0).identity != nil)
    }
    rig.store.state.withLock { $0.lastSeenUpdates = [] }
    #expect(try await rig.decide(request, loop: 1).identity != nil, "the other loop has seen it")
    // After a change of the account as well, which the store is asked about.
    await rig.sessions.forget(snapshot.account.subject)
    #expect(try await rig.decide(request, loop: 1).identity != nil)
    rig.clock.advance(101)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
    try await rig.stop()
  }

  @Test("Last-seen updates that the store did not take are written with the next batch, and a long gap at once")
  func lastSeenAgain() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    #expect(LastSeenBatch.interval(idleTimeout: rig.sessions.idleTimeout) == .seconds(25))
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.clock.advance(10)
    _ = try await rig.decideOnce(request)
    rig.store.state.withLock { $0.isAway = true }
    await rig.lastSeen.write()
    rig.store.state.withLock { $0.isAway = false }
    let first = LastSeenUpdate(handle: snapshot.session.handle, seen: rig.clock.now)
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates } == [first])
    rig.clock.advance(60)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    _ = try await rig.decideOnce(request)
    let second = LastSeenUpdate(handle: snapshot.session.handle, seen: rig.clock.now)
    try await eventually("the second use to be written") {
      rig.store.state.withLock { $0.lastSeenUpdates } == [first, second]
    }
    try await rig.stop()
  }

  @Test("Last uses that could not be written are written as soon as a check finds that the store can be written")
  func lastSeenAtRecovery() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    await rig.storeCheck.run()
    #expect(!rig.storeCheck.isDue)
    _ = try await rig.decide(request)
    rig.clock.advance(10)
    _ = try await rig.decideOnce(request)
    rig.store.state.withLock { $0.isAway = true }
    await rig.lastSeen.write()
    await rig.storeCheck.run()
    #expect(rig.storeCheck.isDue, "a check that failed is repeated at once")
    rig.store.state.withLock { $0.isAway = false }
    await rig.storeCheck.run()
    let seen = LastSeenUpdate(handle: snapshot.session.handle, seen: rig.clock.now)
    try await eventually("the last use to be written") { rig.store.state.withLock { $0.lastSeenUpdates } == [seen] }
    try await rig.stop()
  }

  @Test(
    "Last uses that the store did not take are written at the next check, though no check fails, and then ever later",
    arguments: [StoreError.Code.full, .busy, .denied])
  func lastSeenFails(code: StoreError.Code) async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    func writes() -> Int { rig.store.state.withLock { $0.lastSeenWrites } }
    await rig.storeCheck.run()
    _ = try await rig.decide(request)
    rig.clock.advance(1)
    _ = try await rig.decideOnce(request)
    rig.store.state.withLock { $0.lastSeenFailure = StoreError(code: code, message: "by order of the test") }
    await rig.lastSeen.write()
    #expect(writes() == 1)
    // The checks of a minute: each second if one is due.
    var moments: [Int] = []
    for second in 1...60 {
      rig.clock.advance(1)
      let before = writes()
      if rig.storeCheck.isDue { await rig.storeCheck.run() }
      await rig.lastSeen.settle()
      if writes() > before { moments.append(second) }
    }
    #expect((3...5).contains(moments.count) && moments[0] <= 5, "\(moments)")
    rig.store.state.withLock { $0.lastSeenFailure = nil }
    for _ in 0..<60 {
      rig.clock.advance(1)
      if rig.storeCheck.isDue { await rig.storeCheck.run() }
      await rig.lastSeen.settle()
    }
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.count } == 1)
    try await rig.stop()
  }

  @Test("While only the change feed fails, the store is checked as seldom as ever, and no last uses are written for it")
  func feedFails() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    await rig.storeCheck.run()
    var checks = 0
    for _ in 0..<45 {
      rig.clock.advance(1)
      _ = try await rig.decideOnce(request)
      rig.storeHealth.feedDidNotAnswer(StoreError(code: .denied, message: "no right to read changes"))
      if rig.storeCheck.isDue {
        checks += 1
        await rig.storeCheck.run()
      }
      await rig.lastSeen.settle()
    }
    #expect(checks == 9 && rig.store.state.withLock { $0.lastSeenWrites } == 0)
    #expect(!rig.storeHealth.isHealthy)
    try await rig.stop()
  }

  @Test("A session that looks idle is valid a second after another replica has written its last use")
  func idleElsewhere() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    rig.clock.advance(101)
    #expect(try await rig.decide(request).status == 302)
    let now = rig.clock.now
    rig.store.state.withLock { $0.sessions[snapshot.session.handle]?.lastSeen = now }
    rig.clock.advance(1)
    #expect(try await rig.decide(request).identity != nil)
    try await rig.stop()
  }

  @Test("Last uses of more sessions than are kept lose the oldest, and what is not stored at shutdown is logged")
  func lastSeenLost() async throws {
    let rig = try await GateRig()
    let lines = RecordedLines()
    let batch = LastSeenBatch(
      loops: rig.loops, store: rig.store, storeHealth: rig.storeHealth,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["sessions"]) }, maximumUnwritten: 2)
    var snapshots: [SessionSnapshot] = []
    for name in ["001.anna", "002.ben", "003.cleo"] {
      let (snapshot, cookie) = try rig.signIn(name)
      _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
      rig.clock.advance(1)
      _ = try await rig.decideOnce(Asked(fields: ["Cookie: \(cookie)"]))
      snapshots.append(snapshot)
    }
    rig.store.state.withLock { $0.isAway = true }
    await batch.write()
    await batch.reportUnwritten()
    #expect(
      lines.take() == ["last-seen times not stored at shutdown, sessions in use may be over at the next start 2"])
    rig.store.state.withLock { $0.isAway = false }
    await batch.write()
    await batch.reportUnwritten()
    #expect(lines.take() == [])
    let written = rig.store.state.withLock { $0.lastSeenUpdates }.map(\.handle)
    #expect(Set(written) == Set(snapshots.dropFirst().map(\.session.handle)))
    try await rig.stop()
  }

  @Test("Last uses that the store has not taken by the end of a shutdown are logged, those that wait behind as well")
  func lastSeenHangs() async throws {
    let rig = try await GateRig()
    let lines = RecordedLines()
    let batch = LastSeenBatch(
      loops: rig.loops, store: rig.store, storeHealth: rig.storeHealth,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["sessions", "error"]) })
    let (held, release) = AsyncStream<Never>.makeStream()
    rig.store.state.withLock { $0.beforeLastSeenResult = { for await _ in held {} } }
    for (number, name) in ["001.anna", "002.ben"].enumerated() {
      let (_, cookie) = try rig.signIn(name)
      _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
      rig.clock.advance(1)
      _ = try await rig.decideOnce(Asked(fields: ["Cookie: \(cookie)"]))
      guard number == 0 else { continue }
      batch.writeSoon()
      try await eventually("the first write") { rig.store.state.withLock { $0.lastSeenWrites } == 1 }
    }
    await batch.reportUnwritten()
    #expect(
      lines.take() == [
        "last-seen times not stored at shutdown, sessions in use may be over at the next start 2 "
          + "the session store did not answer in time"
      ])
    release.finish()
    await batch.settle()
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

  @Test("Last-seen updates of all loops are written once")
  func lastSeen() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
    rig.clock.advance(61)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    for _ in 0..<3 { _ = try await rig.decideOnce(request) }
    await rig.lastSeen.write()
    let seen = LastSeenUpdate(handle: snapshot.session.handle, seen: rig.clock.now)
    #expect(rig.store.state.withLock { $0.lastSeenUpdates } == [seen])
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates }.count == 1)
    try await rig.stop()
  }

  @Test(
    "A check that is due is made beside the request; one that is overdue is waited for, and ends the session at a no")
  func checks() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    rig.clock.advance(26 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decideOnce(request).identity != nil, "not waited for")
    try await eventually("a check") { rig.apple.calls == 1 }
    try await eventually("its answer to be written") { rig.store.state.withLock { $0.answers } == [.good] }
    await rig.revalidator.queue.waitForEnd(of: snapshot.account.subject, by: .now + .seconds(120))
    rig.apple.answer(.revoked)
    rig.clock.advance(80 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    // One good check in the hour before: a revocation is believed.
    #expect(try await rig.decide(request).status == 302)
    #expect(rig.apple.calls == 2 && rig.store.state.withLock { $0.sessions.isEmpty })
    try await rig.stop()
  }
}

// Two replicas: while one asks Apple, the other waits for the result.
extension SessionManagerTests {
  /// Two replicas with the same store; the first one asks Apple about a user and has no answer yet.
  private func replicas(
    after seconds: Double, _ answer: FakeApple.Answer, failingFirst: Bool
  ) async throws -> (first: GateRig, second: GateRig, request: Asked, asking: Task<Decided, any Error>, () -> Void) {
    let first = try await GateRig(longestWait: .seconds(120))
    let second = try await GateRig(longestWait: .seconds(120), store: first.store)
    let (_, cookie) = try first.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    func advance(_ seconds: Double) {
      for rig in [first, second] {
        rig.clock.advance(seconds)
        rig.storeHealth.answered(at: rig.clock.milliseconds)
      }
    }
    if failingFirst {
      advance(25 * 3_600)
      first.apple.answer(.trouble)
      _ = try await first.decide(request)
      try await eventually("the failed attempt") { first.store.state.withLock { $0.answers } == [.noGoodAnswer] }
      await first.revalidator.queue.waitForEnd(of: try #require(Subject("001.anna")), by: .now + .seconds(120))
    }
    advance(seconds)
    let (answers, release) = AsyncStream<Never>.makeStream()
    first.apple.answer(answer)
    first.apple.holdAnswer { for await _ in answers {} }
    let calls = first.apple.calls
    let asking = Task { try await first.decide(request) }
    try await eventually("the question to Apple") { first.apple.calls == calls + 1 }
    return (first, second, request, asking, { release.finish() })
  }

  @Test(
    "At the end of the grace, and after a long absence, a replica waits for Apple's answer to another one",
    arguments: [true, false], [FakeApple.Answer.good, .revoked, .trouble])
  func otherReplicaAsks(isGraceOver: Bool, answer: FakeApple.Answer) async throws {
    let (first, second, request, asking, release) = try await replicas(
      after: isGraceOver ? 49 * 3_600 : 80 * 3_600, answer, failingFirst: isGraceOver)
    // The first look loads the session.
    guard case .suspend(let load) = try await second.decideOnce(request) else { throw RigError.noSubject }
    await load()
    #expect(try await second.decideOnce(request).isWaiting, "neither admitted nor refused before the answer")
    let waiting = Task { try await second.decide(request) }
    release()
    let isAdmitted =
      switch answer {
      case .good: true
      case .trouble: !isGraceOver
      default: false
      }
    if isAdmitted {
      #expect(try await asking.value.identity != nil)
      #expect(try await waiting.value.identity != nil)
    } else {
      #expect(try await asking.value.status == 302)
      #expect(try await waiting.value.status == 302)
    }
    #expect(second.apple.calls == 0)
    for rig in [first, second] { try await rig.stop() }
  }
}

extension SessionManagerTests {
  @Test("Trouble at Apple after a long absence starts the grace, and all who ask at once wait for the one answer")
  func lateTrouble() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    rig.apple.answer(.trouble)
    rig.clock.advance(80 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).identity != nil)
    #expect(rig.apple.calls == 1)
    rig.clock.advance(47 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).identity != nil)
    try await eventually("the attempt of the 127th hour") { rig.apple.calls == 2 }
    rig.clock.advance(2 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).identity != nil, "the grace does not end between two attempts")
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 0)
    rig.clock.advance(23 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).status == 302, "the grace is over")
    for loop in [0, 1, 0] { #expect(try await rig.decide(request, loop: loop).status == 302) }
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 1, "once for a session, however often it is refused")
    try await rig.stop()
  }

  @Test("An overdue account for whose check there is no place goes on, and is tried again a moment later")
  func noPlace() async throws {
    let rig = try await GateRig(longestWait: .zero)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    _ = try await rig.decide(request)
    for number in 0..<1_024 {
      let other = try #require(Subject("other.\(number)"))
      #expect(await rig.revalidator.queue.acquireSlot(for: other, by: .now) == .begun)
    }
    rig.apple.answer(.revoked)
    rig.clock.advance(80 * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).identity != nil, "the limit is ours")
    #expect(rig.apple.calls == 0)
    for number in 0..<1_024 { rig.revalidator.queue.end(try #require(Subject("other.\(number)"))) }
    rig.clock.advance(1)
    // Nobody waits long here: the end of the session is seen a moment later.
    _ = try await rig.decide(request)
    try await eventually("the end of the session") { rig.store.state.withLock { $0.sessions.isEmpty } }
    #expect(rig.apple.calls == 1 && rig.store.state.withLock { $0.sessions[snapshot.session.handle] == nil })
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

/// Waits until something is so, for two minutes at most.
func eventually(_ what: String, _ condition: () -> Bool) async throws {
  let clock = ContinuousClock()
  let deadline = clock.now.advanced(by: .seconds(120))
  while !condition() {
    guard clock.now < deadline else { throw WaitedInVain(what: what) }
    await Task.yield()
  }
}

struct WaitedInVain: Error { let what: String }
