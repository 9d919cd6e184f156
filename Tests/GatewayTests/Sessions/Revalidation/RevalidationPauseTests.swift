import AppleIdentity
import FoundationEssentials
import Operations
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

// Revalidations while Apple refuses the credentials of a client, or gives no answer of use: few leases are used up, so
// that other gateways can ask, and the pause ends with the first good answer.
@Suite("The pause of revalidations that would fail")
struct RevalidationPauseTests {
  private let rig: RevalidatorRig

  init() throws { rig = try RevalidatorRig() }

  @Test("While Apple refuses our credentials one account at a time is asked about, and others can be by other gateways")
  func refusedCredentialsUseUpNoLeases() async throws {
    let people = try (0..<4).map { try rig.due("user.\($0)") }
    rig.apple.answer(.ourMistake)
    for one in people { #expect(await rig.checks.run(one).ended.isEmpty) }
    #expect(rig.apple.calls == 1 && rig.answers() == [.noGoodAnswer])
    #expect(rig.store.state.withLock { $0.releasedLeases } == 3)
    rig.clock.advance(2)
    for one in people.dropFirst() { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 2 && rig.answers() == [.noGoodAnswer, .noGoodAnswer])
    // A sign-in shows that they are taken again, so that nobody waits for the end of the pause.
    rig.checks.apple.note(
      .refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: rig.provider)
    rig.apple.answer(.good)
    for one in people.dropFirst(2) { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 4 && rig.answers().suffix(2) == [.good, .good])
  }

  @Test("A refusal of one client's credentials does not keep an account with another client's token from a check")
  func refusedClientOfSession() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    rig.apple.answer(.ourMistake)
    _ = await rig.checks.run(anna)
    let app = try rig.keyring.seal(RefreshToken("r"), of: ben.account.subject, clientID: "app")
    rig.store.state.withLock { state in
      state.tokens[ben.account.subject] = StoredToken(subject: ben.account.subject, clientID: "app", token: app)
    }
    rig.apple.answer(.good)
    _ = await rig.checks.run(ben)
    #expect(rig.apple.calls == 2 && rig.answers() == [.noGoodAnswer, .good])
    _ = await rig.checks.run(try rig.due("003.cleo"))
    #expect(rig.apple.calls == 2, "the client of her token is refused as before")
  }

  @Test("A refused client is tried after its pause; the account is asked about with another's token if it is refused")
  func refusedClientIsTriedAgain() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    let subject = ben.account.subject
    let app = try rig.keyring.seal(RefreshToken("r"), of: subject, clientID: "app")
    rig.store.state.withLock { state in
      state.otherTokens[subject] = StoredToken(subject: subject, clientID: "app", token: app)
    }
    rig.apple.answer(.ourMistake)
    _ = await rig.checks.run(anna)
    rig.clock.advance(2)
    let apple = rig.apple
    apple.holdAnswer { apple.answer(.good) }
    _ = await rig.checks.run(ben)
    #expect(apple.calls == 3 && rig.answers() == [.noGoodAnswer, .good], "the second was refused, not the third")
    #expect(rig.appleCheck?.status == .failing)
    rig.clock.advance(86_400)
    _ = await rig.checks.run(ben)
    #expect(apple.calls == 4 && rig.answers().last == .good && rig.appleCheck?.status == .ok)
  }

  @Test(
    "Without a client secret for the refused client the other token is tried at once, and no other account waits",
    arguments: [true, false])
  func noSecretForFirstToken(isMadeForSecond: Bool) async throws {
    let (anna, ben, cleo) = (try rig.due(), try rig.due("002.ben"), try rig.due("003.cleo"))
    let (store, clock, secrets, subject) = (rig.store, rig.clock, TestClock(), anna.account.subject)
    try rig.apply(rig.apple.provider(clock, ownClock: secrets), keyring: rig.keyring)
    let app = try rig.keyring.seal(RefreshToken("r"), of: subject, clientID: "app")
    store.state.withLock { $0.otherTokens[subject] = StoredToken(subject: subject, clientID: "app", token: app) }
    // Back-off of the client of the session, then of all calls.
    rig.apple.answer(.ourMistake)
    _ = await rig.checks.run(ben)
    rig.apple.answer(.notSent)
    _ = await rig.checks.run(anna)
    #expect(rig.apple.calls == 2)
    clock.advance(2)
    rig.apple.answer(.good)
    // With an impossible time no secret can be made: for the first token, or for both.
    let endsTrouble: @Sendable () -> Void = { if isMadeForSecond { secrets.advance(-1e300) } }
    store.state.withLock { state in
      state.afterLease = {
        clock.advance(0.5)
        secrets.advance(1e300)
        store.state.withLock { $0.afterLease = endsTrouble }
      }
    }
    _ = await rig.checks.run(anna)
    #expect(rig.answers() == [.noGoodAnswer, isMadeForSecond ? .good : .noGoodAnswer])
    if isMadeForSecond {
      #expect(rig.apple.calls == 3)
    } else {
      #expect(rig.apple.calls == 2)
      secrets.advance(-1e300)
      // The longest second pause of the client.
      clock.advance(2)
      _ = await rig.checks.run(cleo)
      #expect(rig.apple.calls == 3 && rig.answers().last == .good)
    }
  }

  @Test("A token whose client Apple refuses is not used for a session of another client, and its lease is released")
  func refusedClientOfToken() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    rig.apple.answer(.ourMistake)
    _ = await rig.checks.run(anna)
    let session = Session(
      .random(), of: ben.account.subject, clientID: "app", now: rig.clock.now, lifetime: .seconds(86_400))
    let snapshot = SessionSnapshot(session: session, account: ben.account)
    _ = await rig.checks.run(snapshot)
    #expect(
      rig.apple.calls == 1 && rig.answers() == [.noGoodAnswer] && rig.store.state.withLock { $0.releasedLeases } == 1)
    let failing = try #require(rig.store.state.withLock { $0.accounts[ben.account.subject] })
    _ = await rig.checks.run(SessionSnapshot(session: session, account: failing))
    #expect(rig.store.state.withLock { $0.leases } == 2, "it is recorded once that the attempt failed")
  }

  @Test(
    "A gateway whose calls get no answer of use uses up three leases, then one at a time, until Apple gives one",
    arguments: [FakeApple.Answer.silence, .trouble, .page, .throttled(retryAfter: "")])
  func troubleUsesUpFewLeases(trouble: FakeApple.Answer) async throws {
    let people = try (0..<12).map { try rig.due("user.\($0)") }
    rig.apple.answer(trouble)
    for one in people { #expect(await rig.checks.run(one).ended.isEmpty) }
    #expect(rig.apple.calls == 3 && rig.answers() == [.noGoodAnswer, .noGoodAnswer, .noGoodAnswer])
    #expect(rig.store.state.withLock { $0.releasedLeases } == 9, "another gateway can ask about these")
    // The longest first pause, and the longest second one.
    rig.clock.advance(1)
    for one in people.dropFirst(3) { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 4)
    rig.clock.advance(2)
    rig.apple.answer(.good)
    for one in people.dropFirst(4) { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 12 && rig.answers().count == 12 && rig.answers().suffix(8).allSatisfy { $0 == .good })
  }

  @Test(
    "Calls without an answer of use between others that get one pause nothing",
    arguments: [FakeApple.Answer.silence, .trouble], [FakeApple.Answer.good, .revoked, .throttled(retryAfter: "60")])
  func slowAnswers(trouble: FakeApple.Answer, other: FakeApple.Answer) async throws {
    for number in 0..<5 {
      for (place, answer) in [trouble, trouble, other].enumerated() {
        rig.apple.answer(answer)
        _ = await rig.checks.run(try rig.due("user.\(number).\(place)"))
        rig.clock.advance(12)
      }
    }
    #expect(rig.apple.calls == 15 && rig.store.state.withLock { $0.releasedLeases } == 0)
  }

  @Test("A sign-in that Apple answers ends the pause after calls without an answer, one without an answer begins none")
  func signInAfterSilence() async throws {
    for _ in 0..<5 {
      rig.checks.apple.note(
        .appleTrouble(.unanswered(reason: "no whole response in time")), clientID: "web", by: rig.provider)
    }
    let people = try (0..<6).map { try rig.due("user.\($0)") }
    rig.apple.answer(.silence)
    for one in people { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 3)
    rig.checks.apple.note(
      .refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: rig.provider)
    rig.apple.answer(.good)
    for one in people.dropFirst(3) { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 6)
  }

  @Test("A sign-in that Apple answers with an error neither begins the pause of revalidations nor ends it")
  func signInInTrouble() async throws {
    func signIn() { rig.checks.apple.note(.appleTrouble(.status(503)), clientID: "web", by: rig.provider) }
    for _ in 0..<5 { signIn() }
    let people = try (0..<6).map { try rig.due("user.\($0)") }
    _ = await rig.checks.run(people[0])
    #expect(rig.apple.calls == 1)
    rig.apple.answer(.trouble)
    for one in people[1..<4] { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 4)
    signIn()
    for one in people[4...] { _ = await rig.checks.run(one) }
    #expect(rig.apple.calls == 4)
  }
}
