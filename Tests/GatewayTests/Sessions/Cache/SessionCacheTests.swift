import FoundationEssentials
import Sessions
import Testing

@testable import Gateway

// What one event loop remembers of sessions: what has ended never comes back, and memory is bounded.
@Suite("A loop's memory of sessions")
struct SessionCacheTests {
  private let fingerprinter = CookieFingerprinter()

  private func fingerprint(_ number: Int) -> CookieFingerprint {
    withUnsafeBytes(of: number) { fingerprinter.fingerprint($0) }
  }

  private func entry(
    _ identifier: SessionIdentifier, of name: String, email: String? = nil, on scope: CookieScope = .publicURL
  ) throws -> SessionCacheEntry {
    let subject = try #require(Subject(name))
    let now = Date(timeIntervalSince1970: 1_000_000)
    var claims = AccountClaims()
    claims.email = email
    let account = Account(
      subject: subject, name: nil, claims: claims, latestAuthorization: now, lastVerified: now, lastAsked: now)
    let session = Session(identifier, of: subject, clientID: "web", now: now, lifetime: .seconds(60))
    let proof = SessionCredential(
      handle: identifier.handle, scope: scope, fingerprint: fingerprint(0), isSignedByCurrentKey: true,
      key: KeyIdentifier(number: 0),
      generation: 1)
    return SessionCacheEntry(
      SessionSnapshot(session: session, account: account), proof, try GateConfiguration.forTests().sessions)
  }

  private func found(_ memory: inout SessionCache, _ number: Int) -> SessionCacheEntry? {
    guard case .session(let entry)? = memory.find(fingerprint(number)), entry.validity == .current else { return nil }
    return entry
  }

  @Test("A session that ended is dead, and an answer of the store that was under way does not bring it back")
  func ended() throws {
    var memory = SessionCache(budget: 1 << 20)
    let identifier = SessionIdentifier.random()
    memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(1), now: 0)
    #expect(found(&memory, 1) != nil)
    memory.end([identifier.handle], now: 0)
    #expect(found(&memory, 1) == nil && memory.count == 0)
    memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(1), now: 59_999)
    #expect(found(&memory, 1) == nil && memory.count == 0)
    // It is not asked for again at once: the store may have lost the end.
    if case .absent(let period)? = memory.find(fingerprint(1)) {
      #expect(period.contains(59_999) && !period.contains(70_000))
    } else {
      Issue.record("it is asked for again")
    }
    // What the store says a minute later counts, as after a restart.
    memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(1), now: 60_000)
    #expect(found(&memory, 1) != nil)
  }

  @Test("The newer of two answers about one session is the one that counts")
  func newer() throws {
    var memory = SessionCache(budget: 1 << 20)
    let identifier = SessionIdentifier.random()
    let old = try entry(identifier, of: "anna")
    let new = try entry(identifier, of: "anna")
    memory.insert(.session(old), for: fingerprint(1), now: 0)
    memory.insert(.session(new), for: fingerprint(1), now: 0)
    #expect(old.validity == .ended && found(&memory, 1) === new && memory.count == 1)
  }

  @Test("Requests that have waited for a revalidation do not wait again when another one loads the session")
  func keepsWait() throws {
    var memory = SessionCache(budget: 1 << 20)
    let identifier = SessionIdentifier.random()
    let entries = try (0..<3).map { _ in try entry(identifier, of: "anna") }
    memory.insert(.session(entries[0]), for: fingerprint(1), now: 0)
    entries[0].revalidation.noteWait(Period(from: 0, for: 30_000))
    memory.insert(.session(entries[1]), for: fingerprint(1), now: 1_000)
    #expect(found(&memory, 1)?.revalidation.waited == Period(from: 0, for: 30_000))
    memory.markStale(entries[1].snapshot.account.subject, number: 1, now: 2_000)
    memory.insert(.session(entries[2]), for: fingerprint(1), now: 3_000)
    #expect(found(&memory, 1)?.revalidation.waited == Period.none, "the account has changed since")
  }

  @Test("The cookies of a session's hosts have entries of their own, which end, change and leave together")
  func hosts() throws {
    var memory = SessionCache(budget: 1 << 20)
    let identifier = SessionIdentifier.random()
    func visit() throws -> [SessionCacheEntry] {
      let entries = try [CookieScope.publicURL, .host("wiki.example.com"), .host("app.example.com")].map {
        try entry(identifier, of: "anna", on: $0)
      }
      for (number, entry) in entries.enumerated() { memory.insert(.session(entry), for: fingerprint(number), now: 0) }
      return entries
    }
    let entries = try visit()
    #expect((0..<3).allSatisfy { found(&memory, $0) === entries[$0] } && memory.count == 1)
    let again = try entry(identifier, of: "anna", on: .host("wiki.example.com"))
    memory.insert(.session(again), for: fingerprint(1), now: 0)
    #expect(entries.map { $0.validity == .ended } == [false, true, false], "the newer of two for one host")
    entries[2].lastSeen.time += 5_000
    #expect(memory.cached(identifier.handle)?.snapshot.session.lastSeen.wallClock == entries[2].lastSeen.time)
    memory.remove(fingerprint(0))
    #expect(memory.entry(of: identifier.handle) != nil && memory.count == 1)
    memory.markStale(try #require(Subject("anna")), number: 1, now: 0)
    #expect(memory.entry(of: identifier.handle) == nil && again.validity == .stale(serves: .none))
    let late = try visit()
    memory.end([identifier.handle], now: 0)
    #expect(late.allSatisfy { $0.validity == .ended } && memory.count == 0)
  }

  @Test("A session that one loop has cached can be passed to another; one that has ended cannot")
  func told() throws {
    var memory = SessionCache(budget: 1 << 20)
    let known = try entry(.random(), of: "anna")
    let handle = known.snapshot.session.handle
    memory.insert(.session(known), for: fingerprint(1), now: 0)
    known.lastSeen.time = known.snapshot.session.lastSeen.wallClock + 5_000
    let told = try #require(memory.cached(handle))
    #expect(told.isCurrent && told.snapshot.account == known.snapshot.account)
    #expect(told.snapshot.session.handle == handle)
    #expect(told.snapshot.session.lastSeen == known.snapshot.session.lastSeen.addingTimeInterval(5))
    memory.end([handle], now: 0)
    #expect(memory.cached(handle) == nil)
  }

  @Test("Of what two loops remember, the account of the current one counts and the last use that either saw")
  func merged() throws {
    let identifier = SessionIdentifier.random()
    let (old, new) = (try entry(identifier, of: "anna"), try entry(identifier, of: "anna", email: "a@example.com"))
    let later = old.snapshot.session.lastSeen.addingTimeInterval(9)
    let stale = CachedSnapshot(snapshot: old.snapshot.seen(at: later), isCurrent: false, isOnSchedule: false)
    let current = CachedSnapshot(snapshot: new.snapshot, isCurrent: true, isOnSchedule: true)
    for merged in [stale.merged(with: current), current.merged(with: stale)] {
      #expect(merged.isCurrent && merged.isOnSchedule && merged.snapshot.account == new.snapshot.account)
      #expect(merged.snapshot.session.lastSeen == later)
    }
  }

  @Test("An answer about an account that was asked for before the account changed is stale when it comes")
  func changedMeanwhile() throws {
    var memory = SessionCache(budget: 1 << 20)
    let (early, late) = (try entry(.random(), of: "anna"), try entry(.random(), of: "anna"))
    memory.markStale(try #require(Subject("anna")), number: 7, now: 0)
    memory.insert(.session(early), for: fingerprint(1), asked: 6, now: 0)
    memory.insert(.session(late), for: fingerprint(2), asked: 7, now: 0)
    #expect(early.validity == .stale(serves: .none) && late.validity == .current)
  }

  @Test("Of two changes of an account that reach a loop in the other order, the later one counts for answers under way")
  func changedTwice() throws {
    var memory = SessionCache(budget: 1 << 20)
    let (anna, answer) = (try #require(Subject("anna")), try entry(.random(), of: "anna"))
    memory.markStale(anna, number: 7, now: 0)
    memory.markStale(anna, number: 6, now: 0)
    memory.insert(.session(answer), for: fingerprint(1), asked: 6, now: 0)
    #expect(answer.validity == .stale(serves: .none))
  }

  @Test("The sessions of a changed account are looked up again, and those of other accounts stay")
  func account() throws {
    var memory = SessionCache(budget: 1 << 20)
    memory.insert(.session(try entry(.random(), of: "anna")), for: fingerprint(1), now: 0)
    memory.insert(.session(try entry(.random(), of: "ben")), for: fingerprint(2), now: 0)
    memory.markStale(try #require(Subject("anna")), number: 1, now: 0)
    #expect(found(&memory, 1) == nil && found(&memory, 2) != nil)
    // Kept, for as long as the store cannot be asked.
    guard case .session(let kept)? = memory.find(fingerprint(1)) else { throw Lost() }
    #expect(!kept.serves(at: 0) && memory.cached(kept.snapshot.session.handle)?.isCurrent == false)
    kept.validity = .stale(serves: Period(from: 0, for: 1_000))
    #expect(kept.serves(at: 999) && !kept.serves(at: 1_000))
    // Until it is known that there is no such session.
    memory.insert(.absent(during: .none), for: fingerprint(1), now: 0)
    #expect(memory.count == 1 && memory.cached(kept.snapshot.session.handle) == nil)
  }

  @Test("The sessions of an account are found for it when others of it have ended, changed hands or made room")
  func sessionsOfAnAccount() throws {
    var memory = SessionCache(budget: 64 << 10)
    let (anna, bert) = (try #require(Subject("anna")), try #require(Subject("bert")))
    let (first, second, moved) = (SessionIdentifier.random(), SessionIdentifier.random(), SessionIdentifier.random())
    for (number, identifier) in [first, second, moved].enumerated() {
      memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(number), now: 0)
    }
    memory.end([first.handle], now: 0)
    // As when an application went to another team: the same session, and the user goes by another name.
    memory.insert(.session(try entry(moved, of: "bert")), for: fingerprint(2), now: 0)
    memory.markStale(anna, number: 1, now: 0)
    #expect(found(&memory, 1) == nil && found(&memory, 2) != nil && memory.count == 2)
    memory.markStale(bert, number: 2, now: 0)
    #expect(found(&memory, 2) == nil)
    // Those that made room for others, and came again.
    for round in 0..<3 {
      memory.insert(.session(try entry(moved, of: "bert")), for: fingerprint(10), now: 0)
      memory.insert(.session(try entry(second, of: "bert")), for: fingerprint(11), now: 0)
      for number in 0..<200 {
        memory.insert(
          .session(try entry(.random(), of: "user\(number)")), for: fingerprint(100 + round * 200 + number), now: 0)
      }
    }
    memory.insert(.session(try entry(second, of: "bert")), for: fingerprint(11), now: 0)
    #expect(found(&memory, 11) != nil)
    memory.markStale(bert, number: 2, now: 0)
    #expect(found(&memory, 11) == nil)
  }

  @Test("Of a flood of sessions that end each stays dead for a minute, and what is longer ago is forgotten")
  func flood() throws {
    var memory = SessionCache(budget: 1 << 20)
    let early = SessionIdentifier.random()
    memory.end([early.handle], now: 0)
    for _ in 0..<40 { memory.end((0..<500).map { _ in SessionIdentifier.random().handle }, now: 30_000) }
    memory.insert(.session(try entry(early, of: "anna")), for: fingerprint(1), now: 0)
    #expect(found(&memory, 1) == nil)
    for _ in 0..<60 { memory.end((0..<500).map { _ in SessionIdentifier.random().handle }, now: 70_000) }
    memory.insert(.session(try entry(early, of: "anna")), for: fingerprint(1), now: 0)
    #expect(found(&memory, 1) != nil)
  }

  @Test("Memory keeps to its budget of bytes: what is used stays, what is not goes")
  func bounded() throws {
    var memory = SessionCache(budget: 64 << 10)
    for number in 0..<400 {
      memory.insert(.session(try entry(.random(), of: "user\(number)")), for: fingerprint(number), now: 0)
      #expect(found(&memory, 0) != nil, "the first is used all the time")
      #expect(memory.bytes <= 64 << 10)
    }
    #expect(memory.count > 10)
    #expect(found(&memory, 1) == nil && found(&memory, 399) != nil)
    // Cookies without a session take room as well.
    for number in 400..<10_000 {
      memory.insert(.absent(during: .none), for: fingerprint(number), now: 0)
      #expect(memory.bytes <= 64 << 10)
    }
    #expect(found(&memory, 399) == nil)
    memory.removeAll()
    #expect(memory.bytes == 0)
  }

  @Test("A cache that is emptied keeps the last uses that are to be written, and none of its sessions")
  func emptied() throws {
    var memory = SessionCache(budget: 1 << 20)
    weak var gone: SessionCacheEntry?
    let (used, written) = (SessionIdentifier.random(), SessionIdentifier.random())
    do {
      let (first, second) = (try entry(used, of: "anna"), try entry(written, of: "ben"))
      memory.insert(.session(first), for: fingerprint(1), now: 0)
      memory.insert(.session(second), for: fingerprint(2), now: 0)
      first.lastSeen.time += 5_000
      first.lastSeen.isQueued = true
      gone = first
    }
    let (drops, seen) = (memory.drops, Date(timeIntervalSince1970: 1_000_005))
    #expect(gone != nil && memory.takeDroppedUpdates() == [])
    memory.removeAll()
    // The loop then looks through its list of used sessions.
    #expect(gone == nil && memory.drops != drops)
    #expect(memory.takeDroppedUpdates() == [LastSeenUpdate(handle: used.handle, seen: seen)])
    #expect(memory.takeDroppedUpdates() == [])
  }

  @Test("A long name and many claims take more of the cache's budget")
  func counted() throws {
    func count(_ name: String) throws -> Int {
      var memory = SessionCache(budget: 256 << 10)
      for number in 0..<400 {
        memory.insert(
          .session(try entry(.random(), of: "user\(number)", email: name)), for: fingerprint(number), now: 0)
      }
      return memory.count
    }
    #expect(try count("a@example.com") > 2 * count(String(repeating: "a", count: 4_000)))
  }

  private struct Lost: Error {}
}
