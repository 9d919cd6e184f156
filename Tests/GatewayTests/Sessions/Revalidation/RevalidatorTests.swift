import AppleIdentity
import FoundationEssentials
import Logging
import Operations
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Asking Apple about an account, and what follows from each answer.
@Suite("The revalidation of an account")
struct RevalidatorTests {
  private let store = MemoryStore()
  private let clock = TestClock()
  private let apple = FakeApple()
  private let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
  private let health = HealthMonitor(checks: [])
  private let storeHealth: StoreHealth
  private let checks: Revalidator
  private let provider: AppleIdentityProvider
  private let keyring: SessionKeyring
  private let lines = RecordedLines()

  init() throws {
    keyring = try .forTests()
    let (clock, lines) = (clock, lines)
    provider = try apple.provider(clock)
    storeHealth = StoreHealth(
      StoreSettings(location: .sqlite(path: "/nowhere")), metrics: metrics,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: clock.milliseconds)
    checks = Revalidator(
      Revalidator.Dependencies(
        apple: provider, keyring: keyring, audit: AuditTrail(.silent, keyring: keyring),
        interval: .seconds(86_400)),
      store: store, storeHealth: storeHealth, unrecorded: UnrecordedResults(), metrics: metrics, health: health,
      logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["client", "error", "key"]) },
      clock: { clock.now })
  }

  /// Somebody whose last check is two days ago.
  private func due(_ name: String = "001.anna", sealedBy other: SessionKeyring? = nil) throws -> SessionSnapshot {
    let subject = try #require(Subject(name))
    let token = try (other ?? keyring).seal(RefreshToken("r"), of: subject, clientID: "web")
    return try store.signIn(name, .random(), at: clock.now.addingTimeInterval(-2 * 86_400), token: token)
  }

  private func answers() -> [RevalidationRecord.Kind] { store.state.withLock { $0.answers } }

  @Test("A good answer is recorded, and Apple is not asked again within the interval")
  func good() async throws {
    let snapshot = try due()
    let outcome = await checks.run(snapshot)
    #expect(outcome.ended.isEmpty && outcome.accountChanged)
    #expect(answers() == [.good] && apple.calls == 1 && metrics.checks.total("good") == 1)
    let again = await checks.run(snapshot)
    #expect(apple.calls == 1 && again.accountChanged, "what another learnt is taken over")
    clock.advance(86_399)
    _ = await checks.run(snapshot)
    #expect(apple.calls == 1)
    clock.advance(1)
    _ = await checks.run(snapshot)
    #expect(apple.calls == 2)
  }

  @Test("A revoked token ends the sessions that rest on it")
  func revoked() async throws {
    let snapshot = try due()
    apple.answer(.revoked)
    let outcome = await checks.run(snapshot)
    #expect(outcome.ended == [snapshot.session.handle] && answers() == [.revoked])
    #expect(metrics.sessionsEnded.total("revoked") == 1)
  }

  @Test(
    "Trouble at Apple, and a mistake of ours, end nothing and are not repeated within the interval",
    arguments: [(FakeApple.Answer.trouble, "unavailable"), (.ourMistake, "misconfigured")])
  func kept(answer: FakeApple.Answer, verdict: String) async throws {
    let snapshot = try due()
    apple.answer(answer)
    for _ in 0..<3 { #expect(await checks.run(snapshot).ended.isEmpty) }
    #expect(apple.calls == 1 && answers() == [.noGoodAnswer] && metrics.checks.total(verdict) == 1)
    #expect(store.state.withLock { $0.sessions.count } == 1)
  }

  @Test("A lease that the store grants late is acquired again: the interval counts from the request to Apple")
  func lateLease() async throws {
    let snapshot = try due()
    apple.answer(.trouble)
    store.state.withLock { [clock] state in state.afterLease = { clock.advance(5) } }
    _ = await checks.run(snapshot)
    #expect(apple.calls == 1)
    clock.advance(86_399)
    _ = await checks.run(snapshot)
    #expect(apple.calls == 1, "it is a day since the first lease, and less since the request")
    clock.advance(1)
    _ = await checks.run(snapshot)
    #expect(apple.calls == 2)
  }

  @Test("A revalidation that cannot reach Apple releases its lease, and is tried again after a pause")
  func notSent() async throws {
    let (anna, ben) = (try due(), try due("002.ben"))
    apple.answer(.notSent)
    _ = await checks.run(anna)
    #expect(store.state.withLock { $0.releasedLeases } == 1 && answers().isEmpty)
    _ = await checks.run(ben)
    #expect(apple.calls == 1, "within the pause nobody tries")
    clock.advance(2)
    apple.answer(.good)
    _ = await checks.run(anna)
    _ = await checks.run(ben)
    #expect(apple.calls == 3 && answers() == [.good, .good])
  }

  @Test("Cut off from Apple, a request that waits is told what another gateway has learnt meanwhile")
  func confirmedElsewhere() async throws {
    let snapshot = try due()
    let subject = snapshot.account.subject
    apple.answer(.notSent)
    _ = await checks.run(snapshot)
    let failing = try #require(store.state.withLock { $0.accounts[subject] })
    #expect(failing.failingSince(at: clock.now) != nil)
    let known = SessionSnapshot(session: snapshot.session, account: failing)
    let unconfirmed = await checks.run(known, waitingUntil: .now + .seconds(10))
    #expect(!unconfirmed.accountChanged && apple.calls == 1)
    let elsewhere = try await store.acquireLease(
      of: subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    guard case .granted(let lease) = elsewhere else {
      Issue.record("the lease was not released")
      return
    }
    _ = try await store.record(.good(claims: nil, token: nil), of: lease, at: clock.now)
    let confirmed = await checks.run(known, waitingUntil: .now + .seconds(10))
    #expect(confirmed.accountChanged && confirmed.account?.failingSince(at: clock.now) == nil)
    #expect(confirmed.account?.lastVerified == clock.now && apple.calls == 1)
    #expect(await !checks.run(known).accountChanged, "nobody waits, and the store is not asked each time")
  }

  @Test("While Apple refuses our credentials one account at a time is asked about, and others can be by other gateways")
  func refusedCredentialsUseUpNoLeases() async throws {
    let people = try (0..<4).map { try due("user.\($0)") }
    apple.answer(.ourMistake)
    for one in people { #expect(await checks.run(one).ended.isEmpty) }
    #expect(apple.calls == 1 && answers() == [.noGoodAnswer])
    #expect(store.state.withLock { $0.releasedLeases } == 3)
    clock.advance(2)
    for one in people.dropFirst() { _ = await checks.run(one) }
    #expect(apple.calls == 2 && answers() == [.noGoodAnswer, .noGoodAnswer])
    // A sign-in shows that they are taken again, so that nobody waits for the end of the pause.
    checks.note(.refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: provider)
    apple.answer(.good)
    for one in people.dropFirst(2) { _ = await checks.run(one) }
    #expect(apple.calls == 4 && answers().suffix(2) == [.good, .good])
  }

  @Test("When one user after the other is revoked, the others are kept until a check succeeds")
  func doubt() async throws {
    apple.answer(.revoked)
    var ended = 0
    for number in 0..<25 { ended += await checks.run(try due("user.\(number)")).ended.count }
    #expect(ended == 2, "from the third on all is doubted")
    #expect(health.report.checks.first { $0.name == "apple" }?.status == .failing)
    apple.answer(.good)
    _ = await checks.run(try due("good"))
    apple.answer(.revoked)
    #expect(await checks.run(try due("late")).ended.count == 1, "one success, and it is believed again")
  }

  @Test("A token whose secret is not listed here leaves the lease to a replica that has it, and is counted and logged")
  func unreadable() async throws {
    let other = try SessionKeyring.forTests("z")
    let (anna, ben) = (try due(sealedBy: other), try due("002.ben", sealedBy: other))
    #expect(await checks.run(anna).ended.isEmpty)
    #expect(await checks.run(ben).ended.isEmpty)
    #expect(apple.calls == 0 && answers().isEmpty && store.state.withLock { $0.releasedLeases } == 2)
    #expect(metrics.checks.total("no_key") == 2)
    #expect(lines.take().filter { $0.hasPrefix("refresh token cannot be decrypted") }.count == 1, "once for a key")
    checks.apply(
      Revalidator.Dependencies(
        apple: try apple.provider(clock), keyring: other, audit: AuditTrail(.silent, keyring: other),
        interval: .seconds(86_400)))
    _ = await checks.run(anna)
    #expect(apple.calls == 1 && answers() == [.good])
  }

  @Test("A token that is damaged is a failed attempt, not made again within the interval, and not a missing key")
  func damaged() async throws {
    let snapshot = try due(sealedBy: nil)
    let bytes = try #require(store.state.withLock { $0.tokens[snapshot.account.subject]?.token.bytes })
    var altered = bytes
    altered[bytes.count - 1] ^= 1
    for damaged in [altered, Array(bytes.prefix(20)), []] {
      store.state.withLock { state in
        state.tokens[snapshot.account.subject] = StoredToken(
          subject: snapshot.account.subject, clientID: "web", token: EncryptedToken(stored: damaged))
      }
      let outcome = await checks.run(snapshot)
      #expect(outcome.accountChanged && outcome.account?.failingSince(at: clock.now) != nil)
      _ = await checks.run(snapshot)
      clock.advance(86_400)
    }
    #expect(apple.calls == 0 && store.state.withLock { $0.releasedLeases } == 0)
    #expect(answers() == [.noGoodAnswer, .noGoodAnswer, .noGoodAnswer])
    #expect(metrics.checks.total("damaged") == 3 && metrics.checks.total("no_key") == 0)
    #expect(lines.take().allSatisfy { $0.hasPrefix("refresh token in the store is damaged") })
  }

  @Test("Refused credentials are logged with client and error, once an hour, and again after a reload")
  func refusedOnce() async throws {
    apple.answer(.ourMistake)
    func refusals() -> [String] { lines.take().filter { $0.hasPrefix("token revalidation failed: Apple rejects") } }
    for number in 0..<5 { _ = await checks.run(try due("user.\(number)")) }
    #expect(refusals() == ["token revalidation failed: Apple rejects our credentials web invalid_client -"])
    clock.advance(3_600)
    for number in 5..<8 { _ = await checks.run(try due("user.\(number)")) }
    #expect(refusals().count == 1)
    checks.apply(
      Revalidator.Dependencies(
        apple: try apple.provider(clock), keyring: keyring, audit: AuditTrail(.silent, keyring: keyring),
        interval: .seconds(86_400)))
    _ = await checks.run(try due("user.8"))
    #expect(refusals().count == 1)
  }

  @Test("An identity token that could not be judged without Apple's keys is not called invalid")
  func unjudgedToken() async throws {
    // {"alg":"RS256","kid":"x"}, {} and a signature. The answer to the request for the keys has none.
    apple.answer(.goodWithIdentityToken("eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA"))
    _ = await checks.run(try due())
    #expect(answers() == [.good])
    #expect(
      lines.take().map { $0.prefix { $0 != "," } } == [
        "identity token from revalidation not verified: Apple's keys are unavailable"
      ])
    // {"alg":"none"}
    apple.answer(.goodWithIdentityToken("eyJhbGciOiJub25lIn0.e30.AAAA"))
    _ = await checks.run(try due("002.ben"))
    #expect(lines.take().map { $0.prefix { $0 != "," } } == ["identity token from revalidation is invalid"])
  }

  @Test("While another process asks Apple its result is waited for; a lease that it releases is taken over")
  func otherProcess() async throws {
    let snapshot = try due()
    func lease() async throws -> RevalidationLease {
      let outcome = try await store.acquireLease(
        of: snapshot.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
      guard case .granted(let lease) = outcome else { throw RigError.noSubject }
      return lease
    }
    let later = ContinuousClock.now + .seconds(600)
    let first = try await lease()
    #expect(await checks.run(snapshot).account?.failingSince(at: clock.now) != nil, "nobody waits in the background")
    #expect(await checks.run(snapshot, waitingUntil: .now).account?.failingSince(at: clock.now) != nil)
    async let waited = checks.run(snapshot, waitingUntil: later)
    _ = try await store.record(.good(claims: nil, token: nil), of: first, at: clock.now)
    #expect(await waited.account?.failingSince(at: clock.now) == nil)
    #expect(apple.calls == 0)
    clock.advance(86_400)
    let second = try await lease()
    async let takenOver = checks.run(snapshot, waitingUntil: later)
    try await store.releaseLease(second)
    _ = await takenOver
    #expect(apple.calls == 1)
  }

  @Test("An attempt of another process that fails is waited for no longer, and Apple is not asked again")
  func otherProcessFails() async throws {
    let snapshot = try due()
    let outcome = try await store.acquireLease(
      of: snapshot.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    guard case .granted(let lease) = outcome else { throw RigError.noSubject }
    // Long enough for a busy machine; a wait until then would end the test as a failure.
    let later = ContinuousClock.now + .seconds(120)
    async let waited = checks.run(snapshot, waitingUntil: later)
    _ = try await store.record(.noGoodAnswer, of: lease, at: clock.now)
    #expect(await waited.account?.failingSince(at: clock.now) != nil)
    #expect(ContinuousClock.now < later, "it did not wait until the deadline")
    #expect(apple.calls == 0)
  }

  @Test("A lease that another process releases is not used while Apple cannot be reached from here either")
  func releasedWhileUnreachable() async throws {
    let (anna, ben) = (try due(), try due("002.ben"))
    let outcome = try await store.acquireLease(
      of: anna.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    guard case .granted(let lease) = outcome else { throw RigError.noSubject }
    #expect(checks.queue.begin(anna.account.subject))
    async let waited = checks.run(anna, waitingUntil: .now + .seconds(600))
    // It has found the lease of the other process.
    try await eventually("the refused lease") { store.state.withLock { $0.refusedLeases } > 0 }
    apple.answer(.notSent)
    _ = await checks.run(ben)
    try await store.releaseLease(lease)
    #expect(await waited.accountChanged)
    #expect(apple.calls == 1)
  }

  @Test("However many overdue accounts wait for other processes, others are revalidated in the background")
  func waitsElsewhere() async throws {
    let others = try (0..<64).map { try due("user.\($0)") }
    for snapshot in others {
      _ = try await store.acquireLease(
        of: snapshot.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
      #expect(checks.queue.begin(snapshot.account.subject))
    }
    let late = try #require(Subject("late"))
    #expect(!checks.queue.begin(late), "each of them may be about to ask Apple")
    let (checks, deadline) = (checks, ContinuousClock.now + .seconds(600))
    let waits = others.map { snapshot in Task { await checks.run(snapshot, waitingUntil: deadline) } }
    try await eventually("the slot") { checks.queue.begin(late) }
    clock.advance(12)
    for wait in waits { _ = await wait.value }
    #expect(apple.calls == 0)
  }

  @Test("A revalidation of this process that failed is not waited for, nor a lease that is older than Apple's time-out")
  func ownLease() async throws {
    let snapshot = try due()
    let later = ContinuousClock.now + .seconds(600)
    apple.answer(.trouble)
    _ = await checks.run(snapshot, waitingUntil: later)
    #expect(await checks.run(snapshot, waitingUntil: later).account?.failingSince(at: clock.now) != nil)
    let ben = try due("002.ben")
    _ = try await store.acquireLease(
      of: ben.account.subject, preferring: "web", interval: .seconds(86_400), now: clock.now)
    clock.advance(12)
    #expect(await checks.run(ben, waitingUntil: later).account?.failingSince(at: clock.now) != nil)
    #expect(apple.calls == 1)
  }

  @Test("A store that is away is counted and unhealthy, and nothing else happens")
  func storeAway() async throws {
    let snapshot = try due()
    store.state.withLock { $0.isAway = true }
    #expect(await checks.run(snapshot).ended.isEmpty)
    #expect(apple.calls == 0 && metrics.storeFailures.total("check") == 1)
    #expect(storeHealth.isUnavailable && !storeHealth.isHealthy)
  }

  @Test("An attempt that cannot reach Apple counts, also for accounts that were not asked about")
  func unreachableCounts() async throws {
    let (anna, ben) = (try due(), try due("002.ben"))
    apple.answer(.notSent)
    #expect(await checks.run(anna).accountChanged)
    #expect(await checks.run(ben).accountChanged)
    #expect(apple.calls == 1)
    for snapshot in [anna, ben] {
      let account = try #require(store.state.withLock { $0.accounts[snapshot.account.subject] })
      #expect(account.checkFailingSince == clock.now && account.lastAsked == snapshot.account.lastAsked)
    }
  }

  @Test("A refresh token that Apple sends in place of the old one is sealed, and asked with the next time")
  func replacedToken() async throws {
    let snapshot = try due()
    apple.answer(.goodWithToken("r.new"))
    _ = await checks.run(snapshot)
    let stored = try #require(store.state.withLock { $0.tokens[snapshot.account.subject] })
    #expect(try keyring.open(stored.token, of: snapshot.account.subject, clientID: "web") == RefreshToken("r.new"))
  }

  @Test("Health is told of refused credentials, by checks and by sign-ins, and when they are taken again")
  func tellsHealth() async throws {
    apple.answer(.ourMistake)
    _ = await checks.run(try due())
    func check() -> HealthCheck? { health.report.checks.first { $0.name == "apple" } }
    #expect(check()?.status == .failing && check()?.message?.contains("web (invalid_client)") == true)
    #expect(check()?.effect == .informs)
    // The pause after a refusal.
    clock.advance(2)
    apple.answer(.good)
    _ = await checks.run(try due("002.ben"))
    #expect(check()?.status == .ok)
    checks.note(
      .misconfigured(OAuthError(code: .unauthorizedClient, description: nil)), clientID: "web", by: provider)
    #expect(check()?.status == .failing)
    checks.note(.refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: provider)
    #expect(check()?.status == .ok)
  }

  private func appleCheck() -> HealthCheck? { health.report.checks.first { $0.name == "apple" } }

  private func clockAlarms() -> Int {
    lines.take().filter { $0.hasPrefix("the system's clock is behind Apple's") }.count
  }

  @Test("A sign-in's token from the future is critical once an hour, until a token is accepted")
  func clockBehindAtSignIn() {
    // Both tokens of such a sign-in are verified.
    let accepted = ExchangeOutcome.mismatch(.subject)
    checks.note(accepted, clientID: "web", by: provider)
    #expect(appleCheck()?.status == .ok)
    for _ in 0..<3 { checks.note(.unverified(.issuedInFuture), clientID: "web", by: provider) }
    #expect(appleCheck()?.status == .failing && appleCheck()?.message?.contains("clock is behind") == true)
    #expect(appleCheck()?.effect == .informs && clockAlarms() == 1)
    checks.note(.unverified(.signatureInvalid), clientID: "web", by: provider)
    checks.note(.refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: provider)
    #expect(appleCheck()?.status == .failing, "neither shows that the clock is right")
    clock.advance(3_600)
    checks.note(.unverified(.issuedInFuture), clientID: "web", by: provider)
    #expect(clockAlarms() == 1)
    checks.note(accepted, clientID: "web", by: provider)
    #expect(appleCheck()?.status == .ok)
  }

  @Test(
    "Sign-ins that fail for lack of Apple's keys are reported until a probe has them, whatever else Apple answers",
    arguments: [AppleKeySetError.status(500), .unusable("not JSON"), .unreachable(.unanswered(reason: "time-out"))])
  func keysMissingAtSignIn(problem: AppleKeySetError) async throws {
    for _ in 0..<3 { checks.note(.unverified(.keysUnavailable(problem)), clientID: "web", by: provider) }
    #expect(appleCheck()?.status == .failing && appleCheck()?.message?.hasPrefix(problem.message) == true)
    _ = await checks.run(try due())
    #expect(answers() == [.good] && appleCheck()?.status == .failing)
    apple.answer(.trouble)
    clock.advance(60)
    await checks.probe()
    #expect(appleCheck()?.message?.contains("Apple answered 503 when asked for its keys") == true)
    apple.answer(.good)
    clock.advance(60)
    await checks.probe()
    #expect(appleCheck()?.status == .ok)
  }

  @Test("Keys that cannot be fetched because Apple is unreachable are reported as that, with the first sign-in")
  func keysUnreachableAtSignIn() {
    let problem = AppleKeySetError.unreachable(.notSent(reason: "refused"))
    checks.note(.unverified(.keysUnavailable(problem)), clientID: "web", by: provider)
    #expect(appleCheck()?.status == .failing && appleCheck()?.message?.contains("cannot be reached") == true)
  }

  @Test("Tokens with keys that Apple does not have, which anybody can write, do not make Apple's keys missing")
  func forgedKeyIdentifiers() {
    for problem in [IdentityTokenError.unknownKey, .keysUnavailable(.coolingDown), .signatureInvalid] {
      for _ in 0..<5 { checks.note(.unverified(problem), clientID: "web", by: provider) }
    }
    #expect(appleCheck()?.status == .unknown)
  }

  @Test("A revalidation's token from the future is critical as well, and leaves the account valid")
  func clockBehindAtRevalidation() async throws {
    let snapshot = try due()
    apple.answer(.goodIssued(clock.now.addingTimeInterval(61), of: "001.anna"))
    _ = await checks.run(snapshot)
    #expect(answers() == [.good] && appleCheck()?.status == .failing && clockAlarms() == 1)
    clock.advance(86_400)
    apple.answer(.good)
    _ = await checks.run(snapshot)
    #expect(appleCheck()?.status == .failing, "without a token the clock is not known to be right")
    clock.advance(86_400)
    apple.answer(.goodIssued(clock.now.addingTimeInterval(59), of: "001.anna"))
    _ = await checks.run(snapshot)
    #expect(answers() == [.good, .good, .good] && appleCheck()?.status == .ok && clockAlarms() == 0)
  }

  @Test("A session that is refused as the grace is over is recorded once an hour, and all share one line in the log")
  func graceEnds() throws {
    let sessions = try (0..<3).map { try due("user.\($0)").session }
    func logged() -> Int { lines.take().filter { $0.hasPrefix("revalidation.grace is over") }.count }
    for _ in 0..<2 { for session in sessions { checks.noteGraceEnd(of: session) } }
    #expect(metrics.sessionsEnded.total("grace_over") == 3 && logged() == 1)
    clock.advance(3_600)
    checks.noteGraceEnd(of: sessions[0])
    #expect(metrics.sessionsEnded.total("grace_over") == 4 && logged() == 1)
  }

  @Test("Health learns within a minute that Apple can be reached again, also if nobody signs in")
  func probe() async throws {
    func status() -> HealthCheck.Status? { health.report.checks.first { $0.name == "apple" }?.status }
    await checks.probe()
    #expect(apple.calls == 0, "nothing failed")
    apple.answer(.notSent)
    _ = await checks.run(try due())
    #expect(status() == .failing && apple.calls == 1)
    clock.advance(59)
    await checks.probe()
    #expect(apple.calls == 1, "a call was made within the minute")
    clock.advance(1)
    await checks.probe()
    #expect(status() == .failing && apple.calls == 2)
    apple.answer(.good)
    await checks.probe()
    #expect(status() == .failing && apple.calls == 2)
    clock.advance(60)
    await checks.probe()
    #expect(status() == .ok && apple.calls == 3)
    clock.advance(60)
    await checks.probe()
    #expect(apple.calls == 3)
  }

  @Test("Once a probe has reached Apple, revalidations do not wait for the end of a long pause")
  func probeEndsBackoff() async throws {
    apple.answer(.notSent)
    for number in 0..<9 {
      clock.advance(300)
      _ = await checks.run(try due("user.\(number)"))
    }
    #expect(apple.calls == 9)
    clock.advance(60)
    _ = await checks.run(try due("early"))
    #expect(apple.calls == 9, "the pause is two minutes or more by now")
    apple.answer(.good)
    await checks.probe()
    _ = await checks.run(try due("late"))
    #expect(apple.calls == 11)
  }

  @Test("With other credentials after a reload revocations are applied, whatever Apple answered to those before")
  func otherCredentials() async throws {
    apple.answer(.revoked)
    for number in 0..<6 { _ = await checks.run(try due("user.\(number)")) }
    func status() -> HealthCheck.Status? { health.report.checks.first { $0.name == "apple" }?.status }
    #expect(status() == .failing)
    // Two results of the credentials before are to come: of a revalidation and of a sign-in.
    let (old, other) = (provider, FakeApple(.revoked))
    let late = try due("late")
    let (held, release) = AsyncStream<Never>.makeStream()
    let (arrivals, arrived) = AsyncStream<Never>.makeStream()
    apple.holdAnswer {
      arrived.finish()
      for await _ in held {}
    }
    async let result = checks.run(late)
    for await _ in arrivals {}
    checks.apply(
      Revalidator.Dependencies(
        apple: try other.provider(clock, keyID: "OTHERKEYID"), keyring: keyring,
        audit: AuditTrail(.silent, keyring: keyring), interval: .seconds(86_400)))
    #expect(status() == .unknown)
    release.finish()
    #expect(await result.ended.isEmpty, "it is held as it was")
    checks.note(.misconfigured(OAuthError(code: .invalidClient, description: nil)), clientID: "web", by: old)
    #expect(status() == .unknown)
    for number in 6..<8 { #expect(await checks.run(try due("user.\(number)")).ended.count == 1) }
    #expect(status() == .ok && other.calls == 2)
    #expect(await checks.run(try due("user.8")).ended.isEmpty, "the third in a row")
  }

  @Test("After a reload checks are made by the new means, and what was learnt of Apple stays")
  func apply() async throws {
    let snapshot = try due()
    let other = FakeApple(.revoked)
    let new = try SessionKeyring.forTests("ba")
    checks.apply(
      Revalidator.Dependencies(
        apple: try other.provider(clock), keyring: new, audit: AuditTrail(.silent, keyring: new),
        interval: .seconds(86_400)))
    #expect(await checks.run(snapshot).ended.count == 1)
    #expect(apple.calls == 0 && other.calls == 1)
  }
}
