import DataPlane
import FoundationEssentials
import Sessions
import Synchronization
import Testing

@testable import Gateway

// After a revalidation cached sessions are renewed, so that no request waits for the store; never against a change.
@Suite("Sessions that a revalidation renews")
struct RenewedSessionTests {
  /// A session that both loops have cached, at the moment when its account is due.
  private struct Due {
    let rig: GateRig
    let snapshot: SessionSnapshot
    let request: Asked

    var subject: Subject { snapshot.account.subject }

    init(after seconds: Double = 26 * 3_600) async throws {
      rig = try await GateRig()
      let (snapshot, cookie) = try rig.signIn("001.anna")
      self.snapshot = snapshot
      request = Asked(fields: ["Cookie: \(cookie)"])
      for loop in 0..<2 { _ = try await rig.decide(request, loop: loop) }
      pass(seconds)
    }

    func pass(_ seconds: Double) {
      rig.clock.advance(seconds)
      rig.storeHealth.answered(at: rig.clock.milliseconds)
    }

    /// Sends a request on each loop, which must not wait, and waits for the end of the revalidation that it begins.
    func expectForwarded(_ what: Comment) async throws {
      for loop in 0..<2 { #expect(try await rig.decideOnce(request, loop: loop).identity != nil, what) }
      #expect(await rig.revalidator.queue.waitForEnd(of: subject, by: .now + .seconds(120)))
    }

    var lookUps: Int { rig.store.state.withLock { $0.lookUps } }
  }

  @Test("Requests go on with the cached session during a revalidation and after it, on every loop, without a look-up")
  func noLookUp() async throws {
    let due = try await Due()
    let before = due.lookUps
    try await due.expectForwarded("before")
    try await due.expectForwarded("after")
    #expect(due.rig.apple.calls == 1)
    // What was learnt counts: nobody asks again before the next is due, and then somebody does.
    due.pass(23 * 3_600)
    try await due.expectForwarded("within the interval")
    #expect(due.rig.apple.calls == 1)
    due.pass(3 * 3_600)
    try await due.expectForwarded("a day later")
    try await due.expectForwarded("and after that")
    #expect(due.rig.apple.calls == 2 && due.lookUps == before)
    try await due.rig.stop()
  }

  @Test("A failed attempt that was renewed from counts: with the end of the grace period the user must sign in")
  func failing() async throws {
    let due = try await Due()
    due.rig.apple.answer(.trouble)
    try await due.expectForwarded("due")
    due.pass(24 * 3_600)
    try await due.expectForwarded("failing for a day")
    due.pass(23 * 3_600)
    try await due.expectForwarded("within the grace")
    due.pass(2 * 3_600)
    for loop in 0..<2 { #expect(try await due.rig.decide(due.request, loop: loop).status == 302) }
    try await due.rig.stop()
  }

  @Test("The result of another replica's revalidation is taken over without a look-up")
  func learntElsewhere() async throws {
    let due = try await Due()
    let before = due.lookUps
    due.rig.store.state.withLock { state in
      state.accounts[due.subject]?.lastAsked = due.rig.clock.now
      state.accounts[due.subject]?.lastVerified = due.rig.clock.now
    }
    try await due.expectForwarded("asked elsewhere")
    due.pass(23 * 3_600)
    try await due.expectForwarded("not due")
    #expect(due.rig.apple.calls == 0 && due.lookUps == before)
    try await due.rig.stop()
  }

  @Test("If the store has another account than the cache, whatever differs, the session is looked up again")
  func changed() async throws {
    for change: @Sendable (inout Account) -> Void in [
      { $0.claims.email = "new@example.com" }, { $0.name = PersonName(given: "Anna", family: nil, display: nil) },
      { $0.access.groups = [GroupName("staff")].compactMap(\.self) }, { $0.access.isTokenDiscarded = true },
      { $0.access.ban = Ban(until: nil, reason: nil, since: .now, by: "cli") },
      { $0.latestAuthorization += 1 }, { $0.appleAuthorized = .now },
    ] {
      var memory = try Memory()
      var account = memory.revalidated
      change(&account)
      memory.renew(account, asked: 0, number: 1)
      #expect(memory.entry.validity == .stale(serves: .none))
      #expect(memory.entry.snapshot.account == memory.account, "and serves as it was while the store is away")
    }
  }

  @Test("The times of the new identity token, which each token has of its own, are renewed, in headers too")
  func tokenClaims() async throws {
    var settings = try GatewaySettings.forTests()
    settings.identity.headers = [IdentityHeaderSettings.Header(name: "X-Expires", claim: "exp")]
    var claims = AccountClaims()
    claims.other = ["exp": .integer(1), "iat": .integer(2), "auth_time": .integer(3)]
    var memory = try Memory(settings, claims: claims)
    #expect(String(decoding: memory.entry.identity.headers.lines, as: UTF8.self).contains("X-Expires: 1\r\n"))
    var account = memory.revalidated
    account.claims.other = ["exp": .integer(11), "iat": .integer(12), "auth_time": .integer(3)]
    memory.renew(account, asked: 0, number: 1)
    #expect(memory.entry.validity == .current && memory.entry.snapshot.account == account)
    #expect(String(decoding: memory.entry.identity.headers.lines, as: UTF8.self).contains("X-Expires: 11\r\n"))
    account.claims.other["auth_time"] = .integer(13)
    memory.renew(account, asked: 1, number: 2)
    #expect(memory.entry.validity == .stale(serves: .none), "the user has signed in")
  }

  @Test("Times are never set back by an answer that was overtaken")
  func overtaken() async throws {
    for change: @Sendable (inout Account) -> Void in [{ $0.lastVerified -= 1 }, { $0.lastAsked = nil }] {
      var memory = try Memory()
      var account = memory.account
      change(&account)
      memory.renew(account, asked: 0, number: 1)
      #expect(memory.entry.validity == .stale(serves: .none) && memory.entry.snapshot.account == memory.account)
    }
  }

  @Test("A change of the account since the store was asked is newer than its answer: the session is looked up again")
  func changedMeanwhile() async throws {
    for (changed, validity) in [(3, SessionCacheEntry.Validity.current), (4, .stale(serves: .none))] {
      var memory = try Memory()
      memory.cache.markStale(memory.account.subject, number: changed, now: 0)
      // Looked up since, as it was after the change.
      let entry = memory.insert(asked: changed)
      memory.renew(memory.revalidated, asked: 3, number: 5)
      #expect(entry.validity == validity)
    }
  }

  @Test("A renewal brings back nothing that is stale or has ended, nor a look-up from before it")
  func notRevived() async throws {
    var memory = try Memory()
    memory.cache.markStale(memory.account.subject, number: 1, now: 0)
    memory.renew(memory.revalidated, asked: 1, number: 2)
    #expect(memory.entry.validity == .stale(serves: .none))
    let late = memory.insert(asked: 1)
    #expect(late.validity == .stale(serves: .none), "it may not have the revalidation")
    let current = memory.insert(asked: 2)
    memory.renew(memory.revalidated, asked: 2, number: 3)
    #expect(current.validity == .current && current.snapshot.account == memory.revalidated)
    memory.cache.end([current.snapshot.session.handle], now: 0)
    memory.renew(memory.revalidated, asked: 3, number: 4)
    #expect(current.validity == .ended && memory.cache.count == 0)
  }

  @Test("A renewal from before all caches were emptied has the sessions looked up again")
  func emptied() async throws {
    let due = try await Due()
    let version = due.rig.sessions.version
    due.rig.store.state.withLock { $0.gap = .forgotten }
    await due.rig.follow()
    _ = try await due.rig.decide(due.request)
    await due.rig.sessions.renew(due.snapshot.account, readAfter: version)
    #expect(try await due.rig.decideOnce(due.request).isWaiting)
    try await due.rig.stop()
  }

  @Test("A ban that is made while Apple is asked is in force on every loop when it is answered, and stays so")
  func bannedMeanwhile() async throws {
    let due = try await Due()
    let (subject, rig) = (due.subject, due.rig)
    let (asked, signal) = AsyncStream<Never>.makeStream()
    let (banned, go) = AsyncStream<Never>.makeStream()
    rig.apple.holdAnswer {
      signal.finish()
      for await _ in banned {}
    }
    #expect(try await rig.decideOnce(due.request).identity != nil)
    for await _ in asked {}
    rig.store.state.withLock { $0.bans[subject] = Ban(until: nil, reason: nil, since: rig.clock.now, by: "cli") }
    await rig.sessions.markStale(subject)
    for loop in 0..<2 { #expect(try await rig.decide(due.request, loop: loop).identity == nil) }
    go.finish()
    #expect(await rig.revalidator.queue.waitForEnd(of: subject, by: .now + .seconds(120)))
    #expect(rig.store.state.withLock { $0.answers } == [.good])
    for loop in 0..<2 { #expect(try await rig.decide(due.request, loop: loop).identity == nil) }
    try await rig.stop()
  }
}

/// The cache of one loop with one session, and its account before and after a revalidation.
private struct Memory {
  var cache = SessionCache(budget: 1 << 20)
  let entry: SessionCacheEntry
  let account: Account
  private let session: Session
  private let credential: SessionCredential
  let configuration: SessionConfiguration

  /// - Parameter claims: those of the account before.
  init(_ settings: GatewaySettings? = nil, claims: AccountClaims = AccountClaims()) throws {
    configuration = try GateConfiguration.forTests(settings).sessions
    let (identifier, now) = (SessionIdentifier.random(), Date(timeIntervalSince1970: 1_000_000))
    let subject = try #require(Subject("001.anna"))
    account = Account(
      subject: subject, name: nil, claims: claims, latestAuthorization: now, lastVerified: now, lastAsked: now)
    session = Session(identifier, of: subject, clientID: "web", now: now, lifetime: .seconds(60))
    credential = SessionCredential(
      handle: identifier.handle, scope: .publicURL,
      fingerprint: withUnsafeBytes(of: 1) { CookieFingerprinter().fingerprint($0) }, isSignedByCurrentKey: true,
      key: KeyIdentifier(number: 0), generation: 1)
    entry = SessionCacheEntry(SessionSnapshot(session: session, account: account), credential, configuration)
    cache.insert(.session(entry), for: credential.fingerprint, asked: 0, now: 0)
  }

  /// The account after a revalidation a day later.
  var revalidated: Account {
    let later = account.lastVerified.addingTimeInterval(86_400)
    return account.afterAcquiringLease(at: later).after(.good(claims: nil, token: nil), at: later)
  }

  mutating func renew(_ account: Account, asked: Int, number: Int) {
    cache.renew(account, asked: asked, number: number, now: 0, configuration)
  }

  /// Inserts the session again, with the account as it was.
  mutating func insert(asked: Int) -> SessionCacheEntry {
    let entry = SessionCacheEntry(SessionSnapshot(session: session, account: account), credential, configuration)
    cache.insert(.session(entry), for: credential.fingerprint, asked: asked, now: 0)
    return entry
  }
}
