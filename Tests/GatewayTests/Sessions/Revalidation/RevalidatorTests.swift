import AppleIdentity
import FoundationEssentials
import Operations
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Asking Apple about an account, and what follows from each answer.
@Suite("The revalidation of an account")
struct RevalidatorTests {
  private let rig: RevalidatorRig

  init() throws { rig = try RevalidatorRig() }

  @Test("A good answer is recorded, and Apple is not asked again within the interval")
  func good() async throws {
    let snapshot = try rig.due()
    let outcome = await rig.checks.run(snapshot)
    #expect(outcome.ended.isEmpty && outcome.accountChanged)
    #expect(rig.answers() == [.good] && rig.apple.calls == 1 && rig.metrics.checks.total("good") == 1)
    let again = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 1 && again.accountChanged, "what another learnt is taken over")
    rig.clock.advance(86_399)
    _ = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 1)
    rig.clock.advance(1)
    _ = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 2)
  }

  @Test("A revoked token ends the sessions that rest on it")
  func revoked() async throws {
    let snapshot = try rig.due()
    rig.apple.answer(.revoked)
    let outcome = await rig.checks.run(snapshot)
    #expect(outcome.ended == [snapshot.session.handle] && rig.answers() == [.revoked])
    #expect(rig.metrics.sessionsEnded.total("revoked") == 1)
  }

  @Test(
    "Trouble at Apple, and a mistake of ours, end nothing and are not repeated within the interval",
    arguments: [(FakeApple.Answer.trouble, "unavailable"), (.ourMistake, "misconfigured")])
  func kept(answer: FakeApple.Answer, verdict: String) async throws {
    let snapshot = try rig.due()
    rig.apple.answer(answer)
    for _ in 0..<3 { #expect(await rig.checks.run(snapshot).ended.isEmpty) }
    #expect(rig.apple.calls == 1 && rig.answers() == [.noGoodAnswer] && rig.metrics.checks.total(verdict) == 1)
    #expect(rig.store.state.withLock { $0.sessions.count } == 1)
  }

  @Test("A lease that the store grants late is acquired again: the interval counts from the request to Apple")
  func lateLease() async throws {
    let snapshot = try rig.due()
    rig.apple.answer(.trouble)
    rig.store.state.withLock { [clock = rig.clock] state in state.afterLease = { clock.advance(5) } }
    _ = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 1)
    rig.clock.advance(86_399)
    _ = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 1, "it is a day since the first lease, and less since the request")
    rig.clock.advance(1)
    _ = await rig.checks.run(snapshot)
    #expect(rig.apple.calls == 2)
  }

  @Test("A revalidation that cannot reach Apple releases its lease, and is tried again after a pause")
  func notSent() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    rig.apple.answer(.notSent)
    _ = await rig.checks.run(anna)
    #expect(rig.store.state.withLock { $0.releasedLeases } == 1 && rig.answers().isEmpty)
    _ = await rig.checks.run(ben)
    #expect(rig.apple.calls == 1, "within the pause nobody tries")
    rig.clock.advance(2)
    rig.apple.answer(.good)
    _ = await rig.checks.run(anna)
    _ = await rig.checks.run(ben)
    #expect(rig.apple.calls == 3 && rig.answers() == [.good, .good])
  }

  @Test("When one user after the other is revoked, the others are kept until a check succeeds")
  func doubt() async throws {
    rig.apple.answer(.revoked)
    var ended = 0
    for number in 0..<25 { ended += await rig.checks.run(try rig.due("user.\(number)")).ended.count }
    #expect(ended == 2, "from the third on all is doubted")
    #expect(rig.appleCheck?.status == .failing)
    rig.apple.answer(.good)
    _ = await rig.checks.run(try rig.due("good"))
    rig.apple.answer(.revoked)
    #expect(await rig.checks.run(try rig.due("late")).ended.count == 1, "one success, and it is believed again")
  }

  @Test("A token whose secret is not listed here leaves the lease to a replica that has it, and is counted and logged")
  func unreadable() async throws {
    let other = try SessionKeyring.forTests("z")
    let (anna, ben) = (try rig.due(sealedBy: other), try rig.due("002.ben", sealedBy: other))
    #expect(await rig.checks.run(anna).ended.isEmpty)
    #expect(await rig.checks.run(ben).ended.isEmpty)
    #expect(rig.apple.calls == 0 && rig.answers().isEmpty && rig.store.state.withLock { $0.releasedLeases } == 2)
    #expect(rig.metrics.checks.total("no_key") == 2)
    #expect(rig.lines.take().filter { $0.hasPrefix("refresh token cannot be decrypted") }.count == 1, "once for a key")
    try rig.apply(rig.apple.provider(rig.clock), keyring: other)
    _ = await rig.checks.run(anna)
    #expect(rig.apple.calls == 1 && rig.answers() == [.good])
  }

  @Test("A token that is damaged is a failed attempt, not made again within the interval, and not a missing key")
  func damaged() async throws {
    let snapshot = try rig.due(sealedBy: nil)
    let bytes = try #require(rig.store.state.withLock { $0.tokens[snapshot.account.subject]?.token.bytes })
    var altered = bytes
    altered[bytes.count - 1] ^= 1
    for damaged in [altered, Array(bytes.prefix(20)), []] {
      rig.store.state.withLock { state in
        state.tokens[snapshot.account.subject] = StoredToken(
          subject: snapshot.account.subject, clientID: "web", token: EncryptedToken(stored: damaged))
      }
      let outcome = await rig.checks.run(snapshot)
      #expect(outcome.accountChanged && outcome.account?.failingSince(at: rig.clock.now) != nil)
      _ = await rig.checks.run(snapshot)
      rig.clock.advance(86_400)
    }
    #expect(rig.apple.calls == 0 && rig.store.state.withLock { $0.releasedLeases } == 0)
    #expect(rig.answers() == [.noGoodAnswer, .noGoodAnswer, .noGoodAnswer])
    #expect(rig.metrics.checks.total("damaged") == 3 && rig.metrics.checks.total("no_key") == 0)
    #expect(rig.lines.take().allSatisfy { $0.hasPrefix("refresh token in the store is damaged") })
  }

  @Test("Refused credentials are logged with client and error, once an hour, and again after a reload")
  func refusedOnce() async throws {
    rig.apple.answer(.ourMistake)
    func refusals() -> [String] { rig.lines.take().filter { $0.hasPrefix("token revalidation failed: Apple rejects") } }
    for number in 0..<5 { _ = await rig.checks.run(try rig.due("user.\(number)")) }
    #expect(refusals() == ["token revalidation failed: Apple rejects our credentials web invalid_client -"])
    rig.clock.advance(3_600)
    for number in 5..<8 { _ = await rig.checks.run(try rig.due("user.\(number)")) }
    #expect(refusals().count == 1)
    try rig.apply(rig.apple.provider(rig.clock), keyring: rig.keyring)
    _ = await rig.checks.run(try rig.due("user.8"))
    #expect(refusals().count == 1)
  }

  @Test("An identity token that could not be judged without Apple's keys is not called invalid")
  func unjudgedToken() async throws {
    // {"alg":"RS256","kid":"x"}, {} and a signature. The answer to the request for the keys has none.
    rig.apple.answer(.goodWithIdentityToken("eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.AAAA"))
    _ = await rig.checks.run(try rig.due())
    #expect(rig.answers() == [.good])
    #expect(
      rig.lines.take().map { $0.prefix { $0 != "," } } == [
        "identity token from revalidation not verified: Apple's keys are unavailable"
      ])
    // {"alg":"none"}
    rig.apple.answer(.goodWithIdentityToken("eyJhbGciOiJub25lIn0.e30.AAAA"))
    _ = await rig.checks.run(try rig.due("002.ben"))
    #expect(rig.lines.take().map { $0.prefix { $0 != "," } } == ["identity token from revalidation is invalid"])
  }

  @Test("A store that is away is counted and unhealthy, and nothing else happens")
  func storeAway() async throws {
    let snapshot = try rig.due()
    rig.store.state.withLock { $0.isAway = true }
    #expect(await rig.checks.run(snapshot).ended.isEmpty)
    #expect(rig.apple.calls == 0 && rig.metrics.storeFailures.total("check") == 1)
    #expect(rig.storeHealth.isUnavailable && !rig.storeHealth.isHealthy)
  }

  @Test("An attempt that cannot reach Apple counts, also for accounts that were not asked about")
  func unreachableCounts() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    rig.apple.answer(.notSent)
    #expect(await rig.checks.run(anna).accountChanged)
    #expect(await rig.checks.run(ben).accountChanged)
    #expect(rig.apple.calls == 1)
    for snapshot in [anna, ben] {
      let account = try #require(rig.store.state.withLock { $0.accounts[snapshot.account.subject] })
      #expect(account.checkFailingSince == rig.clock.now && account.lastAsked == snapshot.account.lastAsked)
    }
  }

  @Test("A refresh token that Apple sends in place of the old one is sealed, and asked with the next time")
  func replacedToken() async throws {
    let snapshot = try rig.due()
    rig.apple.answer(.goodWithToken("r.new"))
    _ = await rig.checks.run(snapshot)
    let stored = try #require(rig.store.state.withLock { $0.tokens[snapshot.account.subject] })
    #expect(try rig.keyring.open(stored.token, of: snapshot.account.subject, clientID: "web") == RefreshToken("r.new"))
  }

  @Test("A session that is refused as the grace is over is recorded once an hour, and all share one line in the log")
  func graceEnds() throws {
    let sessions = try (0..<3).map { try rig.due("user.\($0)").session }
    func logged() -> Int { rig.lines.take().filter { $0.hasPrefix("revalidation.grace is over") }.count }
    for _ in 0..<2 { for session in sessions { rig.checks.noteGraceEnd(of: session) } }
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 3 && logged() == 1)
    rig.clock.advance(3_600)
    rig.checks.noteGraceEnd(of: sessions[0])
    #expect(rig.metrics.sessionsEnded.total("grace_over") == 4 && logged() == 1)
  }

  @Test("With other credentials after a reload revocations are applied, whatever Apple answered to those before")
  func otherCredentials() async throws {
    rig.apple.answer(.revoked)
    for number in 0..<6 { _ = await rig.checks.run(try rig.due("user.\(number)")) }
    #expect(rig.appleCheck?.status == .failing)
    // Two results of the credentials before are to come: of a revalidation and of a sign-in.
    let (old, other) = (rig.provider, FakeApple(.revoked))
    let late = try rig.due("late")
    let (held, release) = AsyncStream<Never>.makeStream()
    let (arrivals, arrived) = AsyncStream<Never>.makeStream()
    rig.apple.holdAnswer {
      arrived.finish()
      for await _ in held {}
    }
    async let result = rig.checks.run(late)
    for await _ in arrivals {}
    try rig.apply(other.provider(rig.clock, keyID: "OTHERKEYID"), keyring: rig.keyring)
    #expect(rig.appleCheck?.status == .unknown)
    release.finish()
    #expect(await result.ended.isEmpty, "it is held as it was")
    rig.checks.apple.note(.misconfigured(OAuthError(code: .invalidClient, description: nil)), clientID: "web", by: old)
    #expect(rig.appleCheck?.status == .unknown)
    for number in 6..<8 { #expect(await rig.checks.run(try rig.due("user.\(number)")).ended.count == 1) }
    #expect(rig.appleCheck?.status == .ok && other.calls == 2)
    #expect(await rig.checks.run(try rig.due("user.8")).ended.isEmpty, "the third in a row")
  }

  @Test("After a reload checks are made by the new means, and what was learnt of Apple stays")
  func apply() async throws {
    let snapshot = try rig.due()
    let other = FakeApple(.revoked)
    let new = try SessionKeyring.forTests("ba")
    try rig.apply(other.provider(rig.clock), keyring: new)
    #expect(await rig.checks.run(snapshot).ended.count == 1)
    #expect(rig.apple.calls == 0 && other.calls == 1)
  }
}
