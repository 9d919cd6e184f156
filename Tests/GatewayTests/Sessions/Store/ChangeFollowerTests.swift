import FoundationEssentials
import Logging
import Operations
import Sessions
import Synchronization
import Testing
import WaitingTesting

@testable import DataPlane
@testable import Gateway

// The change feed after an outage and under load: when cached sessions are trusted, and what is missed by then.
@Suite("The change feed")
struct ChangeFollowerTests {
  /// A rig whose store is away for longer than the outage grace, and the cursor from before.
  private func afterOutage() async throws -> (rig: GateRig, cursor: ChangeCursor?) {
    let rig = try await GateRig()
    let cursor = await rig.follow()
    rig.store.state.withLock { $0.isAway = true }
    _ = await rig.changes.follow(cursor)
    rig.clock.advance(Double(rig.settings.store.outageGrace.components.seconds) + 1)
    #expect(rig.storeHealth.refusesSessions(at: rig.clock.milliseconds))
    return (rig, cursor)
  }

  /// Sessions of nobody that have ended.
  private func ends(_ count: Int) -> [StoreChange] {
    Array(repeating: .ended(SessionIdentifier.random().handle, .byOperator), count: count)
  }

  @Test("After an outage cached sessions are not trusted before the changes that were missed are applied")
  func appliedFirst() async throws {
    let (rig, cursor) = try await afterOutage()
    let subject = try #require(Subject("001.anna"))
    rig.store.state.withLock { state in
      state.isAway = false
      state.changes = [.accountChanged(subject)]
    }
    let before = rig.loops.version
    // The change has been read and waits for the loop.
    let release = rig.hold(loop: 0)
    let following = Task { await rig.changes.follow(cursor) }
    try await eventually("the change to be read") { rig.loops.version != before }
    #expect(rig.storeHealth.refusesSessions(at: rig.clock.milliseconds))
    release()
    #expect(await following.value?.text == "1")
    #expect(rig.storeHealth.isTrusted(at: rig.clock.milliseconds) && !rig.storeHealth.isUnavailable)
    try await rig.stop()
  }

  @Test("After an outage cached sessions are not trusted before the last batch of changes is applied")
  func everyBatch() async throws {
    let (rig, cursor) = try await afterOutage()
    let isRefused = Mutex<[Bool]>([])
    let changes = ends(2_500)
    rig.store.state.withLock { state in
      state.isAway = false
      state.changes = changes
      state.beforeChanges = {
        let refuses = rig.storeHealth.refusesSessions(at: rig.clock.milliseconds)
        isRefused.withLock { $0.append(refuses) }
      }
    }
    #expect(await rig.changes.follow(cursor)?.text == "2500")
    #expect(isRefused.withLock { $0 } == [true, true, true])
    #expect(rig.storeHealth.isTrusted(at: rig.clock.milliseconds))
    try await rig.stop()
  }

  @Test("A backlog is followed no further after it was cancelled: the store is about to be closed")
  func cancelled() async throws {
    let rig = try await GateRig()
    let cursor = await rig.follow()
    let changes = ends(2_500)
    rig.store.state.withLock { state in
      state.changes = changes
      state.beforeChanges = { withUnsafeCurrentTask { if let task = $0 { task.cancel() } } }
    }
    let following = Task { await rig.changes.follow(cursor) }
    #expect(await following.value?.text == "1000")
    #expect(!rig.storeHealth.isUnavailable)
    try await rig.stop()
  }

  @Test("A feed that is always busy keeps cached sessions trusted, from the moment at which each batch was asked for")
  func busy() async throws {
    var settings = try GatewaySettings.forTests()
    settings.store.outageGrace = .seconds(10)
    let rig = try await GateRig(settings)
    let cursor = await rig.follow()
    let isTrusted = Mutex<[Bool]>([])
    let changes = ends(5_500)
    rig.store.state.withLock { state in
      state.changes = changes
      state.beforeChanges = {
        let trusts = rig.storeHealth.isTrusted(at: rig.clock.milliseconds)
        isTrusted.withLock { $0.append(trusts) }
        rig.clock.advance(4)
      }
    }
    #expect(await rig.changes.follow(cursor)?.text == "5500")
    #expect(isTrusted.withLock { $0 } == Array(repeating: true, count: 6))
    rig.clock.advance(5)
    #expect(rig.storeHealth.isTrusted(at: rig.clock.milliseconds), "nine seconds after the last question")
    rig.clock.advance(2)
    #expect(!rig.storeHealth.isTrusted(at: rig.clock.milliseconds))
    try await rig.stop()
  }

  @Test("A store that has lost confirmed changes is counted each time and told once a minute, a forgetful one is not")
  func rollback() async throws {
    let lines = RecordedLines()
    let logger = Logger(label: "test") { _ in RecordingLogHandler(lines, ["reason"]) }
    let rig = try await GateRig(logger: logger)
    for gap in [StoreChanges.Gap.forgotten, .damaged, .none] {
      rig.store.state.withLock { $0.gap = gap }
      await rig.follow()
    }
    #expect(rig.metrics.storeRollbacks.total() == 0 && lines.take().isEmpty)
    for gap in [StoreChanges.Gap.otherHistory, .otherStore] {
      rig.store.state.withLock { $0.gap = gap }
      await rig.follow()
    }
    #expect(rig.metrics.storeRollbacks.total() == 2)
    #expect(
      lines.take() == [
        "session store has lost confirmed changes, sign-outs and bans may be undone the store is in an earlier state"
      ])
    try await rig.stop()
  }

  @Test("After half of the time for which changes are kept without an answer, everything is read again")
  func longAbsence() async throws {
    let rig = try await GateRig()
    let start = ContinuousClock.now
    let away = Mutex(Duration.zero)
    let changes = ChangeFollower(
      store: rig.store, sessions: rig.sessions, loops: rig.loops, storeHealth: rig.storeHealth,
      continuity: FeedContinuity { start + away.withLock { $0 } })
    var cursor = await changes.follow(ChangeCursor(text: "0"))
    let (_, cookie) = try rig.signIn("001.anna")
    _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]))
    for (gap, cached) in [(1_799, 1), (1_799, 1), (1_800, 0)] {
      away.withLock { $0 += .seconds(gap) }
      cursor = await changes.follow(cursor)
      #expect(await rig.loops.count() == cached)
    }
    #expect(rig.metrics.storeRollbacks.total() == 0)
    try await rig.stop()
  }

  @Test("When everything is read again, the damaged record of one session ends its exchanges and no others")
  func damagedRecord() async throws {
    let rig = try await GateRig()
    let key = ConnectionKey(SessionIdentifier.random().handle)
    #expect(try await rig.changes.endings(of: [key]) == [.signInRequired: [key]])
    rig.store.state.withLock { $0.failures["find"] = StoreError(code: .damagedRow, message: "by order of the test") }
    #expect(try await rig.changes.endings(of: [key]) == [.unverifiable: [key]])
    #expect(rig.metrics.storeFailures.total("find") == 1 && !rig.storeHealth.isUnavailable)
    rig.store.state.withLock { $0.failures["find"] = StoreError(code: .unavailable, message: "by order of the test") }
    await #expect(throws: StoreError.self) { try await rig.changes.endings(of: [key]) }
    try await rig.stop()
  }
}
