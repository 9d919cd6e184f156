import FoundationEssentials
import Operations
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

// One process, and two replicas: while one asks Apple, the other waits for the result.
@Suite("Requests of users whose revalidation is due")
struct RevalidatedRequestTests {
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
    // The store still has the session: the endpoint would find it, and delete the account.
    let stop = Asked(target: "/.auth/account/stop", method: "POST", fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(stop).status == 401)
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

  @Test("A user whom another gateway has confirmed goes on, if Apple does not answer this one while a request waits")
  func confirmedElsewhere() async throws {
    let rig = try await GateRig(longestWait: .zero)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let (subject, request) = (snapshot.account.subject, Asked(fields: ["Cookie: \(cookie)"]))
    func advance() {
      rig.clock.advance(26 * 3_600)
      rig.storeHealth.answered(at: rig.clock.milliseconds)
    }
    _ = try await rig.decide(request)
    advance()
    rig.apple.answer(.trouble)
    #expect(try await rig.decide(request).identity != nil)
    try await eventually("the failed attempt") { rig.store.state.withLock { $0.answers } == [.noGoodAnswer] }
    #expect(await rig.revalidator.queue.waitForEnd(of: subject, by: .now + .seconds(120)))
    advance()
    let outcome = try await rig.store.acquireLease(
      of: subject, preferring: "web", interval: .seconds(86_400), now: rig.clock.now)
    guard case .granted(let lease) = outcome else { throw RigError.noSubject }
    _ = try await rig.store.record(.good(claims: nil, token: nil), of: lease, at: rig.clock.now)
    advance()
    let (answers, release) = AsyncStream<Never>.makeStream()
    rig.apple.answer(.silence)
    rig.apple.holdAnswer { for await _ in answers {} }
    // By what this gateway knows, the grace is over.
    #expect(try await rig.decide(request).identity != nil)
    release.finish()
    #expect(await rig.revalidator.queue.waitForEnd(of: subject, by: .now + .seconds(120)))
    try await rig.stop()
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

  /// Two replicas with the same store; the first one asks Apple about a user and has no answer yet.
  private func replicas(
    after seconds: Double, _ answer: FakeApple.Answer, failingFirst: Bool
  ) async throws -> (first: GateRig, second: GateRig, request: Asked, asking: Task<Decided, any Error>, () -> Void) {
    let first = try await GateRig()
    let second = try await GateRig(store: first.store)
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
}
