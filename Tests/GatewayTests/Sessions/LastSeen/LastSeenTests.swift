import FoundationEssentials
import Logging
import Operations
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

@Suite("The last use of sessions")
struct LastSeenTests {
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
    await rig.sessions.markStale(snapshot.account.subject)
    #expect(try await rig.decide(request, loop: 1).identity != nil)
    rig.clock.advance(101)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity == nil) }
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

  @Test("Before the store is closed writes end: none begins, and one that is refused then is no failure of the store")
  func ended() async throws {
    let rig = try await GateRig()
    let lines = RecordedLines()
    let batch = LastSeenBatch(
      loops: rig.loops, store: rig.store, storeHealth: rig.storeHealth,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["sessions"]) })
    let (held, release) = AsyncStream<Never>.makeStream()
    rig.store.state.withLock { state in
      state.lastSeenFailure = StoreError(code: .closed, message: "by order of the test")
      state.beforeLastSeenResult = { for await _ in held {} }
    }
    for (number, name) in ["001.anna", "002.ben"].enumerated() {
      let (_, cookie) = try rig.signIn(name)
      _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
      rig.clock.advance(1)
      _ = try await rig.decideOnce(Asked(fields: ["Cookie: \(cookie)"]))
      batch.writeSoon()
      guard number == 0 else { continue }
      try await eventually("the first write") { rig.store.state.withLock { $0.lastSeenWrites } == 1 }
    }
    batch.end()
    release.finish()
    await batch.settle()
    #expect(rig.store.state.withLock { $0.lastSeenWrites } == 1)
    #expect(rig.metrics.storeFailures.total("touch") == 0 && !rig.storeHealth.isUnavailable)
    await batch.reportUnwritten()
    #expect(
      lines.take() == ["last-seen times not stored at shutdown, sessions in use may be over at the next start 2"])
    try await rig.stop()
  }

  @Test("A session that the cache has dropped is not kept in memory for its last use, which is written all the same")
  func dropped() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.memory = 64 << 10
    let rig = try await GateRig(settings)
    var handles: [PublicSessionID] = []
    var entries: [GateRig.CachedEntry] = []
    for number in 0..<60 {
      let (snapshot, cookie) = try rig.signIn("001.\(number)")
      rig.clock.advance(1)
      rig.storeHealth.answered(at: rig.clock.milliseconds)
      #expect(try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])).identity != nil)
      handles.append(snapshot.session.handle)
      let entry = try await rig.cachedEntry(of: snapshot.session.handle)
      #expect(entry.entry != nil)
      entries.append(entry)
    }
    let kept = entries.count { $0.entry != nil }
    #expect(kept > 0 && kept * 1_600 < settings.session.memory)
    #expect(entries[0].entry == nil)
    await rig.lastSeen.write()
    #expect(Set(rig.store.state.withLock { $0.lastSeenUpdates }.map(\.handle)) == Set(handles))
    try await rig.stop()
  }

  /// Has a loop's cache drop a session for those of others.
  private func drop(_ handle: PublicSessionID, _ rig: GateRig, for others: String) async throws {
    for number in 0..<60 {
      let (_, cookie) = try rig.signIn("\(others).\(number)")
      _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
    }
    #expect(try await rig.cachedEntry(of: handle).entry == nil)
  }

  @Test("A session that the cache has dropped is idle by its last use, also by one that the store did not take")
  func droppedUnwritten() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.memory = 64 << 10
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let (handle, request) = (snapshot.session.handle, Asked(fields: ["Cookie: \(cookie)"]))
    rig.store.state.withLock { $0.lastSeenFailure = StoreError(code: .readOnly, message: "by order of the test") }
    for number in 2...3 {
      rig.clock.advance(60)
      rig.storeHealth.answered(at: rig.clock.milliseconds)
      #expect(try await rig.decide(request).identity != nil, "the store may be read, and she is using the session")
      await rig.lastSeen.write()
      #expect(rig.lastSeen.unwrittenUse(of: handle) == rig.clock.now)
      try await drop(handle, rig, for: "00\(number)")
    }
    let use = rig.clock.now
    rig.clock.advance(101)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(request).identity == nil)
    // The next attempt is under way.
    let (held, release) = AsyncStream<Never>.makeStream()
    await rig.lastSeen.settle()
    let writes = rig.store.state.withLock { state in
      state.lastSeenFailure = nil
      state.beforeLastSeenResult = { for await _ in held {} }
      return state.lastSeenWrites
    }
    rig.lastSeen.writeSoon()
    try await eventually("the next attempt") { rig.store.state.withLock { $0.lastSeenWrites } == writes + 1 }
    #expect(!rig.lastSeen.hasUnwritten && rig.lastSeen.unwrittenUse(of: handle) == use)
    release.finish()
    await rig.lastSeen.settle()
    #expect(rig.lastSeen.unwrittenUse(of: handle) == nil)
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.contains(LastSeenUpdate(handle: handle, seen: use)) })
    try await rig.stop()
  }

  @Test("The list of a user's sessions shows a last use that the store did not take, and the session is not idle by it")
  func listed() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    let (this, _) = try rig.signIn("001.anna")
    let (other, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { $0.lastSeenFailure = StoreError(code: .readOnly, message: "by order of the test") }
    rig.clock.advance(60)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])).identity != nil)
    let use = rig.clock.now
    await rig.lastSeen.write()
    rig.clock.advance(60)
    let listed = try await rig.sessions.list(of: this.session)
    #expect(listed.map(\.handle) == [this.session.handle, other.session.handle])
    #expect(listed.last?.lastSeen == use)
    try await rig.stop()
  }

  @Test("Ends of sessions are forgotten with the batches of last uses, though no session ends after them")
  func endsForgotten() async throws {
    let rig = try await GateRig()
    await rig.sessions.endInProcess((0..<100).map { _ in SessionIdentifier.random().handle })
    await rig.lastSeen.write()
    #expect(try await rig.recentEvents() == 100, "an answer of the store may be under way")
    rig.clock.advance(61)
    await rig.lastSeen.write()
    #expect(try await rig.recentEvents() == 0)
    try await rig.stop()
  }

  /// A batch of the loops' updates that is written one by one, an hour apart.
  private func slowBatch(_ rig: GateRig, _ lines: RecordedLines = RecordedLines()) -> LastSeenBatch {
    LastSeenBatch(
      loops: rig.loops, store: rig.store, storeHealth: rig.storeHealth,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["sessions", "error"]) },
      limits: LastSeenPace.Limits(atOnce: 1, portion: 1, longestSpacing: .seconds(3_600)))
  }

  /// Signs three users in, who then use their sessions.
  private func threeUses(_ rig: GateRig) async throws -> Set<PublicSessionID> {
    var handles: Set<PublicSessionID> = []
    for name in ["001.anna", "002.ben", "003.cleo"] {
      let (snapshot, cookie) = try rig.signIn(name)
      _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
      rig.clock.advance(1)
      _ = try await rig.decideOnce(Asked(fields: ["Cookie: \(cookie)"]))
      handles.insert(snapshot.session.handle)
    }
    return handles
  }

  @Test("A large batch is written in portions, an urgent update in between, and all of the rest at once at shutdown")
  func portions() async throws {
    let rig = try await GateRig()
    let lines = RecordedLines()
    let batch = slowBatch(rig, lines)
    let handles = try await threeUses(rig)
    let series = Task { await batch.write(every: .seconds(86_400)) }
    try await eventually("the first portion") { rig.store.state.withLock { $0.lastSeenUpdates.count == 1 } }
    let urgent = LastSeenUpdate(handle: SessionIdentifier.random().handle, seen: rig.clock.now)
    batch.writeSoon(urgent)
    try await eventually("the urgent update") { rig.store.state.withLock { $0.lastSeenUpdates.last == urgent } }
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.count } == 2)
    await batch.reportUnwritten()
    #expect(
      lines.take().contains { $0.hasPrefix("last-seen times not stored at shutdown") && $0.contains(" 2 ") },
      "should the process end now")
    await batch.write()
    await series.value
    let written = rig.store.state.withLock { $0.lastSeenUpdates }.map(\.handle)
    #expect(written.count == 4 && Set(written) == handles.union([urgent.handle]))
    #expect(rig.store.state.withLock { $0.lastSeenWrites } == 3)
    await batch.reportUnwritten()
    #expect(lines.take() == [])
    try await rig.stop()
  }

  @Test("The rest of a large batch, a portion of which the store did not take, is written with the next one")
  func portionFails() async throws {
    let rig = try await GateRig()
    let batch = slowBatch(rig)
    let handles = try await threeUses(rig)
    let series = Task { await batch.write(every: .seconds(86_400)) }
    try await eventually("the first portion") { rig.store.state.withLock { $0.lastSeenUpdates.count == 1 } }
    #expect(!batch.hasUnwritten)
    rig.store.state.withLock { $0.lastSeenFailure = StoreError(code: .busy, message: "by order of the test") }
    await batch.write()
    await series.value
    #expect(batch.hasUnwritten && rig.store.state.withLock { $0.lastSeenUpdates.count } == 1)
    rig.store.state.withLock { $0.lastSeenFailure = nil }
    await batch.write()
    let written = rig.store.state.withLock { $0.lastSeenUpdates }.map(\.handle)
    #expect(!batch.hasUnwritten && written.count == 3 && Set(written) == handles)
    try await rig.stop()
  }

  @Test("The use of a session after a long gap is written at once, and the uses of others with the next batch")
  func urgent() async throws {
    var settings = try GatewaySettings.forTests()
    settings.session.idleTimeout = .seconds(100)
    let rig = try await GateRig(settings)
    let (anna, annasCookie) = try rig.signIn("001.anna")
    let (ben, bensCookie) = try rig.signIn("002.ben")
    rig.clock.advance(1)
    _ = try await rig.decide(Asked(fields: ["Cookie: \(annasCookie)"]))
    let annasUse = LastSeenUpdate(handle: anna.session.handle, seen: rig.clock.now)
    rig.clock.advance(59)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
    _ = try await rig.decide(Asked(fields: ["Cookie: \(bensCookie)"]))
    let bensUse = LastSeenUpdate(handle: ben.session.handle, seen: rig.clock.now)
    try await eventually("the use after the gap to be written") {
      rig.store.state.withLock { !$0.lastSeenUpdates.isEmpty }
    }
    await rig.lastSeen.settle()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates } == [bensUse])
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates } == [bensUse, annasUse])
    try await rig.stop()
  }
}
