import FoundationEssentials
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Sessions that change elsewhere")
struct FollowedChangeTests {
  @Test("Sessions that end or change elsewhere are followed, from the last change that was read")
  func follow() async throws {
    let rig = try await GateRig()
    let (anna, annasCookie) = try rig.signIn("001.anna")
    let (ben, bensCookie) = try rig.signIn("002.ben")
    let requests = [annasCookie, bensCookie].map { Asked(fields: ["Cookie: \($0)"]) }
    for request in requests { _ = try await rig.decide(request) }
    var cursor = await rig.follow()
    // Another replica ends one session, and changes the other's account.
    rig.store.state.withLock { state in
      state.sessions[anna.session.handle] = nil
      state.accounts[ben.account.subject]?.claims.email = "new@example.com"
      state.changes = [.ended(anna.session.handle, .byOperator), .accountChanged(ben.account.subject)]
    }
    cursor = await rig.changes.follow(cursor)
    #expect(cursor?.text == "2")
    #expect(try await rig.decide(requests[0]).identity == nil)
    #expect(try await rig.decideOnce(requests[1]).isWaiting, "looked up again")
    rig.store.state.withLock { $0.isAway = true }
    #expect(await rig.changes.follow(cursor) == cursor, "the store is away: from here another time")
    try await rig.stop()
  }

  @Test("Sessions that were cached before the feed was first read are looked up again: they may have ended before")
  func beforeFirstCursor() async throws {
    let rig = try await GateRig()
    let (anna, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    #expect(try await rig.decide(request).identity != nil)
    // Another replica ends the session, and no change tells of it to a gateway that begins to read only now.
    rig.store.state.withLock { state in
      state.sessions[anna.session.handle] = nil
      state.changes = [.ended(anna.session.handle, .byOperator)]
    }
    let cursor = await rig.changes.follow(nil)
    #expect(cursor?.text == "1")
    #expect(try await rig.decide(request).identity == nil)
    try await rig.stop()
  }

  @Test("Every session is looked up again if changes may be missing")
  func incomplete() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
    #expect(await rig.loops.count() == 2)
    rig.store.state.withLock { $0.gap = .forgotten }
    await rig.follow()
    #expect(await rig.loops.count() == 0)
    #expect(try await rig.decideOnce(request).isWaiting)
    try await rig.stop()
  }

  @Test("Results that were read before everything was looked up again are not believed")
  func readBefore() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { state in
      state.gap = .forgotten
      // Between the look-up and its answer the session ends elsewhere, and the news of it are lost.
      state.beforeAnswer = {
        rig.store.state.withLock { $0.sessions[snapshot.session.handle] = nil }
        await rig.follow()
      }
    }
    #expect(try await rig.decide(Asked(fields: ["Cookie: \(cookie)"])).identity == nil)
    #expect(rig.store.state.withLock { $0.lookUps } == 2)
    try await rig.stop()
  }

  @Test("While an invalidation has not reached every loop, no loop's cache is taken for the present state")
  func invalidating() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    let invalidations: [@Sendable () async -> Void] = [
      { await rig.sessions.markStale(snapshot.account.subject) }, { await rig.loops.removeAll() },
    ]
    for invalidate in invalidations {
      #expect(try await rig.decide(request, loop: 1).identity != nil)
      // The first loop is busy: the invalidation has begun and waits for it, and so has not reached the second loop.
      let release = rig.hold(loop: 0)
      let invalidation = Task.immediate { await invalidate() }
      let cached = Task.immediate { await rig.loops.cached(snapshot.session.handle) }
      // By now the second loop has answered.
      #expect(try await rig.decideOnce(request, loop: 1).identity != nil)
      release()
      #expect(await cached.value?.isCurrent == false)
      await invalidation.value
      #expect(try await rig.decideOnce(request, loop: 1).isWaiting)
    }
    try await rig.stop()
  }

  @Test("A session that one loop knows is known to the others without a question to the store")
  func loopsFirst() async throws {
    let rig = try await GateRig()
    let (_, cookie) = try rig.signIn("001.anna")
    let request = Asked(fields: ["Cookie: \(cookie)"])
    for loop in 0..<2 { #expect(try await rig.decide(request, loop: loop).identity != nil) }
    #expect(rig.store.state.withLock { $0.lookUps } == 1)
    try await rig.stop()
  }
}
