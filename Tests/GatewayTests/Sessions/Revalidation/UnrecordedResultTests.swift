import AppleIdentity
import FoundationEssentials
import Logging
import Operations
import Secrets
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

// The store fails at the moment at which Apple's answer about an account is to be recorded: the lease is used up, and
// the answer must not be lost.
@Suite("Results of revalidations that the store does not take")
struct UnrecordedResultTests {
  private let store = MemoryStore()
  private let clock = TestClock()
  private let apple = FakeApple(.revoked)
  private let lines = RecordedLines()
  private let keyring: SessionKeyring
  private let storeHealth: StoreHealth
  private let checks: Revalidator
  private let revalidations: RequestRevalidations
  private let storeCheck: StoreCheck

  init() throws {
    keyring = try .forTests()
    let (clock, lines, store, loops) = (clock, lines, store, ProcessSessions())
    let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
    let unrecorded = UnrecordedResults(limit: 3)
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    storeHealth = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics, logger: silent, now: clock.milliseconds)
    checks = Revalidator(
      Revalidator.Dependencies(
        apple: try apple.provider(clock), keyring: keyring, audit: AuditTrail(.silent, keyring: keyring),
        interval: .seconds(86_400)),
      store: store, storeHealth: storeHealth, unrecorded: unrecorded, metrics: metrics,
      health: HealthMonitor(checks: []),
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["accounts"]) }, clock: { clock.now })
    let lastSeen = LastSeenBatch(loops: loops, store: store, storeHealth: storeHealth, logger: silent)
    let sessions = SessionManager(
      store: store, loops: loops, storeHealth: storeHealth, unrecorded: unrecorded, lastSeen: lastSeen,
      settings: SessionSettings(secretFiles: []), metrics: metrics, clock: { clock.milliseconds })
    revalidations = RequestRevalidations(checks, sessions: sessions)
    storeCheck = StoreCheck(
      store: store, storeHealth: storeHealth, lastSeen: lastSeen, revalidations: revalidations
    ) { clock.milliseconds }
  }

  /// Somebody whose last check is two days ago.
  private func due(_ name: String = "001.anna") throws -> SessionSnapshot {
    let subject = try #require(Subject(name))
    let token = try keyring.seal(RefreshToken("r"), of: subject, clientID: "web")
    return try store.signIn(name, .random(), at: clock.now.addingTimeInterval(-2 * 86_400), token: token)
  }

  /// Has these operations of the store fail, and no others.
  private func fail(_ operations: String..., code: StoreError.Code = .busy) {
    store.state.withLock { state in
      state.failures = Dictionary(
        uniqueKeysWithValues: operations.map { ($0, StoreError(code: code, message: "locked, by order of the test")) })
    }
  }

  private func account(of snapshot: SessionSnapshot) -> Account? {
    store.state.withLock { $0.accounts[snapshot.account.subject] }
  }

  private func isSignedIn(_ snapshot: SessionSnapshot) -> Bool {
    store.state.withLock { $0.sessions[snapshot.session.handle] != nil }
  }

  /// Checks the store, and waits until what it has begun is over.
  private func check() async {
    await storeCheck.run()
    await checks.recorder.beginPass {}.value
  }

  @Test("A revocation is recorded when the store is back, and the audit does not claim it before")
  func revoked() async throws {
    let recorded = try RecordedAudit(keyring)
    checks.apply(
      Revalidator.Dependencies(
        apple: try apple.provider(clock), keyring: keyring, audit: recorded.trail, interval: .seconds(86_400)))
    let anna = try due()
    fail("record")
    let outcome = await checks.run(anna)
    #expect(outcome.ended.isEmpty && outcome.unrecordedRevocation?.revokes(anna.session) == true)
    await check()
    #expect(isSignedIn(anna) && revalidations.hasUnrecorded)
    fail()
    clock.advance(120)
    await check()
    #expect(!isSignedIn(anna) && !revalidations.hasUnrecorded && apple.calls == 1)
    #expect(account(of: anna)?.lastAnswer == .revoked)
    let audited = try recorded.lines().map { line in
      line.firstMatch(of: /"(?:verdict|reason)":"([a-z_]+)"/).map { String($0.1) } ?? line
    }
    #expect(audited == ["failed", "revoked", "revoked"])
    #expect(lines.take().filter { $0.hasPrefix("recording the result of a revalidation failed") }.count == 1)
  }

  @Test("A confirmation that is recorded late counts from Apple's answer")
  func good() async throws {
    apple.answer(.good)
    let (anna, answered) = (try due(), clock.now)
    fail("record", code: .unavailable)
    _ = await checks.run(anna)
    #expect(account(of: anna)?.failingSince(at: answered) != nil)
    fail()
    clock.advance(600)
    await check()
    #expect(account(of: anna)?.lastVerified == answered && account(of: anna)?.failingSince(at: clock.now) == nil)
    #expect(apple.calls == 1)
  }

  @Test("A lease that could not be released because of the store is released later, so that Apple is asked that day")
  func released() async throws {
    apple.answer(.notSent)
    let anna = try due()
    fail("releaseLease")
    _ = await checks.run(anna)
    #expect(account(of: anna)?.lastAsked == clock.now)
    fail()
    await check()
    #expect(account(of: anna)?.lastAsked == anna.account.lastAsked)
    clock.advance(2)
    apple.answer(.good)
    _ = await checks.run(anna)
    #expect(apple.calls == 2 && account(of: anna)?.lastAnswer == .good)
  }

  @Test("A sign-in since the lease wins: its session is not refused, and the late revocation ends nothing")
  func signedInSince() async throws {
    let anna = try due()
    fail("record")
    let outcome = await checks.run(anna)
    clock.advance(60)
    let token = try keyring.seal(RefreshToken("new"), of: anna.account.subject, clientID: "web")
    let again = try store.signIn("001.anna", .random(), at: clock.now, token: token)
    #expect(outcome.unrecordedRevocation?.revokes(again.session) == false)
    fail()
    await check()
    #expect(isSignedIn(again) && account(of: again) == again.account && !revalidations.hasUnrecorded)
  }

  @Test("A newer answer that another replica has recorded wins over a late one")
  func askedAgainElsewhere() async throws {
    let anna = try due()
    fail("record")
    _ = await checks.run(anna)
    fail()
    clock.advance(86_400)
    let outcome = try await store.acquireLease(
      of: anna.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    guard case .granted(let newer) = outcome else { throw RigError.noSubject }
    _ = try await store.record(.good(claims: nil, token: nil), of: newer, at: clock.now)
    let expected = account(of: anna)
    await check()
    #expect(isSignedIn(anna) && account(of: anna) == expected && !revalidations.hasUnrecorded)
  }

  @Test("A revocation that the circuit breaker holds back ends nothing, whether the store takes it or not")
  func held() async throws {
    for number in 0..<2 { _ = await checks.run(try due("user.\(number)")) }
    fail("record")
    let third = try due("user.2")
    #expect(await checks.run(third).unrecordedRevocation == nil && !revalidations.hasUnrecorded)
    fail()
    await check()
    #expect(isSignedIn(third))
  }

  @Test("Of more results than are kept the oldest is dropped, with a line in the log")
  func bounded() async throws {
    let snapshots = try (0..<4).map { try due("user.\($0)") }
    for (number, snapshot) in snapshots.enumerated() {
      // Without a success between, the third would be kept.
      fail()
      apple.answer(.good)
      _ = await checks.run(try due("other.\(number)"))
      fail("record")
      apple.answer(.revoked)
      _ = await checks.run(snapshot)
    }
    #expect(lines.take().filter { $0.hasPrefix("dropping the result of a revalidation") }.count == 1)
    fail()
    await check()
    #expect(snapshots.map { isSignedIn($0) } == [true, false, false, false])
  }

  @Test("A result whose record is damaged is dropped at the second attempt, with a line in the log")
  func damagedRecord() async throws {
    let anna = try due()
    fail("record")
    _ = await checks.run(anna)
    fail("record", code: .damagedRow)
    await check()
    #expect(!revalidations.hasUnrecorded)
    #expect(lines.take().filter { $0.hasPrefix("dropping the result of a revalidation") }.count == 1)
  }

  @Test("A revocation is kept whatever else the store answers, and recorded once it can be")
  func keptRevocation() async throws {
    let anna = try due()
    fail("record")
    _ = await checks.run(anna)
    fail("record", code: .internalError)
    await check()
    #expect(revalidations.hasUnrecorded && isSignedIn(anna))
    fail()
    clock.advance(120)
    await check()
    #expect(!revalidations.hasUnrecorded && !isSignedIn(anna))
  }

  @Test("A stop tries once more, and logs how many results are left")
  func shutdown() async throws {
    let (anna, ben) = (try due(), try due("002.ben"))
    fail("record")
    for snapshot in [anna, ben] { _ = await checks.run(snapshot) }
    _ = lines.take()
    await revalidations.finish(by: .now + .seconds(120))
    #expect(
      lines.take() == ["results of revalidations not recorded at shutdown, these accounts count as not confirmed 2"])
    fail()
    await revalidations.finish(by: .now + .seconds(120))
    #expect(lines.take() == [] && !isSignedIn(anna) && !isSignedIn(ben))
  }

  @Test("Of two results for one account the later is kept, and the end of the earlier does not remove it")
  func table() async throws {
    var table = UnrecordedResultTable(limit: 2)
    var results: [UnrecordedResult] = []
    for name in ["001.anna", "002.ben", "003.cleo"] {
      let subject = try due(name).account.subject
      let outcome = try await store.acquireLease(
        of: subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
      guard case .granted(let lease) = outcome else { throw RigError.noSubject }
      results.append(
        UnrecordedResult(
          lease: lease, content: .notAsked, answeredAt: clock.now, audit: AuditTrail(.silent, keyring: keyring)))
    }
    func names() -> [String] {
      var number = 0
      var names: [String] = []
      while let entry = table.first(after: number) {
        number = entry.number
        names.append(entry.result.lease.subject.text)
      }
      return names
    }
    var dropped = [table.keep(results[0]), table.keep(results[1])]
    let earlier = try #require(table.first(after: 0))
    dropped.append(table.keep(results[0]))
    #expect(dropped.compactMap { $0 }.isEmpty)
    #expect(names() == ["002.ben", "001.anna"])
    table.remove(earlier)
    #expect(names() == ["002.ben", "001.anna"], "a later one of the account has taken its place")
    let oldest = table.keep(results[2])
    #expect(oldest?.lease.subject.text == "002.ben")
    #expect(names() == ["001.anna", "003.cleo"])
    let first = try #require(table.first(after: 0))
    table.remove(first)
    #expect(names() == ["003.cleo"])
  }
}

// The same with event loops and their caches.
extension UnrecordedResultTests {
  @Test("Cached sessions end with Apple's answer, and are refused until it is recorded, however long that takes")
  func cachedSessions() async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let (ben, other) = try rig.signIn("002.ben")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    rig.clock.advance(26 * 3_600)
    await rig.follow()
    rig.apple.answer(.revoked)
    rig.store.state.withLock { $0.failures["record"] = StoreError(code: .busy, message: "locked") }
    for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
    await rig.revalidator.queue.waitForEnd(of: anna.account.subject, by: .now + .seconds(120))
    for _ in 0..<3 {
      for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).status == 302) }
      rig.clock.advance(120)
      await rig.follow()
    }
    rig.apple.answer(.good)
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(other)"])).identity?.contains("002.ben") == true)
    await rig.revalidator.queue.waitForEnd(of: ben.account.subject, by: .now + .seconds(120))
    #expect(rig.store.state.withLock { $0.sessions[anna.session.handle] != nil })
    rig.store.state.withLock { $0.failures = [:] }
    await rig.storeCheck.run()
    try await eventually("the record") {
      rig.store.state.withLock { $0.sessions[anna.session.handle] == nil } && !rig.revalidations.hasUnrecorded
    }
    #expect(try await rig.decide(request).status == 302)
    try await rig.stop()
  }
}
