import AppleIdentity
import FoundationEssentials
import Operations
import Secrets
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import Gateway

// Waiting for the revalidations of other processes, which hold the lease of an account.
@Suite("The revalidation of an account by another process")
struct LeasedRevalidationTests {
  private let rig: RevalidatorRig

  init() throws { rig = try RevalidatorRig() }

  @Test("Cut off from Apple, a request that waits is told what another gateway has learnt meanwhile")
  func confirmedElsewhere() async throws {
    let snapshot = try rig.due()
    let subject = snapshot.account.subject
    rig.apple.answer(.notSent)
    _ = await rig.checks.run(snapshot)
    let failing = try #require(rig.store.state.withLock { $0.accounts[subject] })
    #expect(failing.failingSince(at: rig.clock.now) != nil)
    let known = SessionSnapshot(session: snapshot.session, account: failing)
    let unconfirmed = await rig.checks.run(known, waitingUntil: .now + unreachable)
    #expect(!unconfirmed.accountChanged && rig.apple.calls == 1)
    let lease = try await rig.lease(of: snapshot)
    _ = try await rig.store.record(.good(claims: nil, token: nil), of: lease, at: rig.clock.now)
    let confirmed = await rig.checks.run(known, waitingUntil: .now + unreachable)
    #expect(confirmed.accountChanged && confirmed.account?.failingSince(at: rig.clock.now) == nil)
    #expect(confirmed.account?.lastVerified == rig.clock.now && rig.apple.calls == 1)
    #expect(await !rig.checks.run(known).accountChanged, "nobody waits, and the store is not asked each time")
  }

  @Test("While another process asks Apple its result is waited for; a lease that it releases is taken over")
  func otherProcess() async throws {
    let snapshot = try rig.due()
    let later = ContinuousClock.now + unreachable
    let first = try await rig.lease(of: snapshot)
    #expect(
      await rig.checks.run(snapshot).account?.failingSince(at: rig.clock.now) != nil, "nobody waits in the background")
    #expect(await rig.checks.run(snapshot, waitingUntil: .now).account?.failingSince(at: rig.clock.now) != nil)
    async let waited = rig.checks.run(snapshot, waitingUntil: later)
    _ = try await rig.store.record(.good(claims: nil, token: nil), of: first, at: rig.clock.now)
    #expect(await waited.account?.failingSince(at: rig.clock.now) == nil)
    #expect(rig.apple.calls == 0)
    rig.clock.advance(86_400)
    let second = try await rig.lease(of: snapshot)
    async let takenOver = rig.checks.run(snapshot, waitingUntil: later)
    try await rig.store.releaseLease(second)
    _ = await takenOver
    #expect(rig.apple.calls == 1)
  }

  @Test("An attempt of another process that fails is waited for no longer, and Apple is not asked again")
  func otherProcessFails() async throws {
    let snapshot = try rig.due()
    let lease = try await rig.lease(of: snapshot)
    async let waited = rig.checks.run(snapshot, waitingUntil: .now + unreachable)
    _ = try await rig.store.record(.noGoodAnswer, of: lease, at: rig.clock.now)
    let lookUps = rig.store.state.withLock { $0.refusedLeases }
    #expect(await waited.account?.failingSince(at: rig.clock.now) != nil)
    #expect(rig.store.state.withLock { $0.refusedLeases } <= lookUps + 1, "the first look at the result ends the wait")
    #expect(rig.apple.calls == 0)
  }

  @Test("A lease that another process releases is not used while Apple cannot be reached from here either")
  func releasedWhileUnreachable() async throws {
    let (anna, ben) = (try rig.due(), try rig.due("002.ben"))
    let lease = try await rig.lease(of: anna)
    #expect(rig.checks.queue.begin(anna.account.subject))
    async let waited = rig.checks.run(anna, waitingUntil: .now + unreachable)
    // It has found the lease of the other process.
    try await eventually("the refused lease") { rig.store.state.withLock { $0.refusedLeases } > 0 }
    rig.apple.answer(.notSent)
    _ = await rig.checks.run(ben)
    try await rig.store.releaseLease(lease)
    #expect(await waited.accountChanged)
    #expect(rig.apple.calls == 1)
  }

  @Test("However many overdue accounts wait for other processes, others are revalidated in the background")
  func waitsElsewhere() async throws {
    let others = try (0..<64).map { try rig.due("user.\($0)") }
    for snapshot in others {
      _ = try await rig.lease(of: snapshot)
      #expect(rig.checks.queue.begin(snapshot.account.subject))
    }
    let late = try #require(Subject("late"))
    #expect(!rig.checks.queue.begin(late), "each of them may be about to ask Apple")
    let (checks, deadline) = (rig.checks, ContinuousClock.now + unreachable)
    let waits = others.map { snapshot in Task { await checks.run(snapshot, waitingUntil: deadline) } }
    try await eventually("the slot") { rig.checks.queue.begin(late) }
    rig.clock.advance(12)
    for wait in waits { _ = await wait.value }
    #expect(rig.apple.calls == 0)
  }

  @Test("A revalidation of this process that failed is not waited for, nor a lease that is older than Apple's time-out")
  func ownLease() async throws {
    let snapshot = try rig.due()
    let later = ContinuousClock.now + unreachable
    rig.apple.answer(.trouble)
    _ = await rig.checks.run(snapshot, waitingUntil: later)
    #expect(await rig.checks.run(snapshot, waitingUntil: later).account?.failingSince(at: rig.clock.now) != nil)
    let ben = try rig.due("002.ben")
    _ = try await rig.lease(of: ben)
    rig.clock.advance(12)
    #expect(await rig.checks.run(ben, waitingUntil: later).account?.failingSince(at: rig.clock.now) != nil)
    #expect(rig.apple.calls == 1)
  }
}
