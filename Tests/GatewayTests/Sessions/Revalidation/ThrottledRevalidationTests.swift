import FoundationEssentials
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

// Apple answers 429 with Retry-After: nobody else is asked about meanwhile, unless somebody waits for the answer.
@Suite("Revalidations while Apple asks for a pause")
struct ThrottledRevalidationTests {
  /// A user who is signed in and whom a loop knows.
  private func user(_ name: String, _ rig: GateRig) async throws -> (Subject, Asked) {
    let (snapshot, cookie) = try rig.signIn(name)
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(request).identity != nil)
    return (snapshot.account.subject, request)
  }

  private func advance(_ rig: GateRig, hours: Double) {
    rig.clock.advance(hours * 3_600)
    rig.storeHealth.answered(at: rig.clock.milliseconds)
  }

  @Test("The next account is asked about when the pause is over, and its grace period has not begun")
  func putOff() async throws {
    let rig = try await GateRig(apple: FakeApple(.throttled(retryAfter: "1800")))
    let (anna, annasRequest) = try await user("001.anna", rig)
    let (ben, bensRequest) = try await user("002.ben", rig)
    advance(rig, hours: 26)
    #expect(try await rig.decideOnce(annasRequest).identity != nil)
    try await eventually("the answer about the first") { rig.revalidator.apple.isPaused }
    await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120))
    rig.apple.answer(.good)
    #expect(try await rig.decideOnce(bensRequest).identity != nil)
    await rig.revalidator.queue.waitForEnd(of: ben, by: .now + .seconds(120))
    #expect(rig.apple.calls == 1 && rig.store.state.withLock { $0.leases } == 1)
    let account = try #require(rig.store.state.withLock { $0.accounts[ben] })
    #expect(account.failingSince(at: rig.clock.now) == nil)
    advance(rig, hours: 0.5)
    #expect(try await rig.decideOnce(bensRequest).identity != nil)
    try await eventually("the answer about the second") { rig.apple.calls == 2 }
    await rig.revalidator.queue.waitForEnd(of: ben, by: .now + .seconds(120))
    try await rig.stop()
  }

  @Test("An overdue account is asked about all the same, because its request waits for the answer")
  func overdue() async throws {
    let rig = try await GateRig(apple: FakeApple(.throttled(retryAfter: "3600")))
    let (_, cleosRequest) = try await user("003.cleo", rig)
    advance(rig, hours: 54)
    let (anna, annasRequest) = try await user("001.anna", rig)
    advance(rig, hours: 26)
    #expect(try await rig.decideOnce(annasRequest).identity != nil)
    try await eventually("the answer about the first") { rig.revalidator.apple.isPaused }
    await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120))
    rig.apple.answer(.revoked)
    #expect(try await rig.decide(cleosRequest).status == 302)
    #expect(rig.apple.calls == 2)
    try await rig.stop()
  }

  @Test("Other credentials are not paused by an answer to the ones before")
  func otherCredentials() async throws {
    let rig = try await GateRig(apple: FakeApple(.throttled(retryAfter: "3600")))
    let (anna, request) = try await user("001.anna", rig)
    advance(rig, hours: 26)
    #expect(try await rig.decideOnce(request).identity != nil)
    try await eventually("the answer") { rig.revalidator.apple.isPaused }
    await rig.revalidator.queue.waitForEnd(of: anna, by: .now + .seconds(120))
    rig.revalidator.apply(
      Revalidator.Dependencies(
        apple: try rig.apple.provider(rig.clock, keyID: "XYZ123DEFG"), keyring: rig.keyring,
        audit: AuditTrail(.silent, keyring: rig.keyring), interval: rig.settings.revalidation.interval))
    #expect(!rig.revalidator.apple.isPaused)
    try await rig.stop()
  }
}
