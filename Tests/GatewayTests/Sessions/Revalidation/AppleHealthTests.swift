import AppleIdentity
import FoundationEssentials
import Operations
import Secrets
import Sessions
import Testing

@testable import Gateway

// The health check of Apple: the results of revalidations, sign-ins and probes that it reports.
@Suite("The health check of Apple")
struct AppleHealthTests {
  private let rig: RevalidatorRig

  init() throws { rig = try RevalidatorRig() }

  private func clockAlarms() -> Int {
    rig.lines.take().filter { $0.hasPrefix("the system's clock is behind Apple's") }.count
  }

  @Test("Health is told of refused credentials, by checks and by sign-ins, and when they are taken again")
  func tellsHealth() async throws {
    rig.apple.answer(.ourMistake)
    _ = await rig.checks.run(try rig.due())
    #expect(rig.appleCheck?.status == .failing && rig.appleCheck?.message?.contains("web (invalid_client)") == true)
    #expect(rig.appleCheck?.effect == .informs)
    // The pause after a refusal.
    rig.clock.advance(2)
    rig.apple.answer(.good)
    _ = await rig.checks.run(try rig.due("002.ben"))
    #expect(rig.appleCheck?.status == .ok)
    rig.checks.apple.note(
      .misconfigured(OAuthError(code: .unauthorizedClient, description: nil)), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .failing)
    // Found before the code is sent.
    rig.checks.apple.note(.unverified(.codeMismatch), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .failing)
    rig.checks.apple.note(
      .refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .ok)
    rig.checks.apple.note(.unverified(.codeMismatch), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .ok)
  }

  @Test("A sign-in's token from the future is critical once an hour, until a token is accepted")
  func clockBehindAtSignIn() {
    // Both tokens of such a sign-in are verified.
    let accepted = ExchangeOutcome.mismatch(.subject)
    rig.checks.apple.note(accepted, clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .ok)
    for _ in 0..<3 { rig.checks.apple.note(.unverified(.issuedInFuture), clientID: "web", by: rig.provider) }
    #expect(rig.appleCheck?.status == .failing && rig.appleCheck?.message?.contains("clock is behind") == true)
    #expect(rig.appleCheck?.effect == .informs && clockAlarms() == 1)
    rig.checks.apple.note(.unverified(.signatureInvalid), clientID: "web", by: rig.provider)
    rig.checks.apple.note(
      .refused(OAuthError(code: .invalidGrant, description: nil)), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .failing, "neither shows that the clock is right")
    rig.clock.advance(3_600)
    rig.checks.apple.note(.unverified(.issuedInFuture), clientID: "web", by: rig.provider)
    #expect(clockAlarms() == 1)
    rig.checks.apple.note(accepted, clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .ok)
  }

  @Test(
    "Sign-ins that fail for lack of Apple's keys are reported until a probe has them, whatever else Apple answers",
    arguments: [AppleKeySetError.status(500), .unusable("not JSON"), .unreachable(.unanswered(reason: "time-out"))])
  func keysMissingAtSignIn(problem: AppleKeySetError) async throws {
    for _ in 0..<3 { rig.checks.apple.note(.unverified(.keysUnavailable(problem)), clientID: "web", by: rig.provider) }
    #expect(rig.appleCheck?.status == .failing && rig.appleCheck?.message?.hasPrefix(problem.message) == true)
    _ = await rig.checks.run(try rig.due())
    #expect(rig.answers() == [.good] && rig.appleCheck?.status == .failing)
    rig.apple.answer(.trouble)
    rig.clock.advance(60)
    await rig.checks.apple.probe()
    #expect(rig.appleCheck?.message?.contains("Apple answered 503 when asked for its keys") == true)
    rig.apple.answer(.good)
    rig.clock.advance(60)
    await rig.checks.apple.probe()
    #expect(rig.appleCheck?.status == .ok)
  }

  @Test("Keys that cannot be fetched because Apple is unreachable are reported as that, with the first sign-in")
  func keysUnreachableAtSignIn() {
    let problem = AppleKeySetError.unreachable(.notSent(reason: "refused"))
    rig.checks.apple.note(.unverified(.keysUnavailable(problem)), clientID: "web", by: rig.provider)
    #expect(rig.appleCheck?.status == .failing && rig.appleCheck?.message?.contains("cannot be reached") == true)
  }

  @Test("Tokens with keys that Apple does not have, which anybody can write, do not make Apple's keys missing")
  func forgedKeyIdentifiers() {
    for problem in [IdentityTokenError.unknownKey, .keysUnavailable(.coolingDown), .signatureInvalid] {
      for _ in 0..<5 { rig.checks.apple.note(.unverified(problem), clientID: "web", by: rig.provider) }
    }
    #expect(rig.appleCheck?.status == .unknown)
  }

  @Test("A revalidation's token from the future is critical as well, and leaves the account valid")
  func clockBehindAtRevalidation() async throws {
    let snapshot = try rig.due()
    rig.apple.answer(.goodIssued(rig.clock.now.addingTimeInterval(61), of: "001.anna"))
    _ = await rig.checks.run(snapshot)
    #expect(rig.answers() == [.good] && rig.appleCheck?.status == .failing && clockAlarms() == 1)
    rig.clock.advance(86_400)
    rig.apple.answer(.good)
    _ = await rig.checks.run(snapshot)
    #expect(rig.appleCheck?.status == .failing, "without a token the clock is not known to be right")
    rig.clock.advance(86_400)
    rig.apple.answer(.goodIssued(rig.clock.now.addingTimeInterval(59), of: "001.anna"))
    _ = await rig.checks.run(snapshot)
    #expect(rig.answers() == [.good, .good, .good] && rig.appleCheck?.status == .ok && clockAlarms() == 0)
  }

  @Test("Health learns within a minute that Apple can be reached again, also if nobody signs in")
  func probe() async throws {
    await rig.checks.apple.probe()
    #expect(rig.apple.calls == 0, "nothing failed")
    rig.apple.answer(.notSent)
    _ = await rig.checks.run(try rig.due())
    #expect(rig.appleCheck?.status == .failing && rig.apple.calls == 1)
    rig.clock.advance(59)
    #expect(!rig.checks.apple.isProbeDue)
    await rig.checks.apple.probe()
    #expect(rig.apple.calls == 1, "a call was made within the minute")
    rig.clock.advance(1)
    #expect(rig.checks.apple.isProbeDue && rig.checks.apple.isProbeDue, "asking begins no probe")
    await rig.checks.apple.probe()
    #expect(rig.appleCheck?.status == .failing && rig.apple.calls == 2)
    rig.apple.answer(.good)
    await rig.checks.apple.probe()
    #expect(rig.appleCheck?.status == .failing && rig.apple.calls == 2)
    rig.clock.advance(60)
    await rig.checks.apple.probe()
    #expect(rig.appleCheck?.status == .ok && rig.apple.calls == 3)
    rig.clock.advance(60)
    await rig.checks.apple.probe()
    #expect(rig.apple.calls == 3)
  }

  @Test("Once a probe has reached Apple, revalidations do not wait for the end of a long pause")
  func probeEndsBackoff() async throws {
    rig.apple.answer(.notSent)
    for number in 0..<9 {
      rig.clock.advance(300)
      _ = await rig.checks.run(try rig.due("user.\(number)"))
    }
    #expect(rig.apple.calls == 9)
    rig.clock.advance(60)
    _ = await rig.checks.run(try rig.due("early"))
    #expect(rig.apple.calls == 9, "the pause is two minutes or more by now")
    rig.apple.answer(.good)
    await rig.checks.apple.probe()
    _ = await rig.checks.run(try rig.due("late"))
    #expect(rig.apple.calls == 11)
  }
}
