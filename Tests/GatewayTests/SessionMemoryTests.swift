import FoundationEssentials
import Sessions
import Testing

@testable import Gateway

// What one event loop remembers of sessions: what has ended never comes back, and memory is bounded.
@Suite("A loop's memory of sessions")
struct SessionMemoryTests {
  private let fingerprinter = CookieFingerprinter()

  private func fingerprint(_ number: Int) -> CookieFingerprint {
    withUnsafeBytes(of: number) { fingerprinter.fingerprint($0) }
  }

  private func entry(_ identifier: SessionIdentifier, of name: String) throws -> SessionEntry {
    let subject = try #require(Subject(name))
    let now = Date(timeIntervalSince1970: 1_000_000)
    let account = Account(
      subject: subject, name: nil, claims: AccountClaims(), latestAuthorization: now, lastVerified: now, lastAsked: now)
    let session = Session(identifier, of: subject, clientID: "web", now: now, lifetime: .seconds(60))
    let proof = SessionProof(
      handle: identifier.handle, fingerprint: fingerprint(0), isSignedByFirstKey: true, generation: 1)
    return SessionEntry(SessionSnapshot(session: session, account: account), proof, try .forTests())
  }

  private func found(_ memory: inout SessionMemory, _ number: Int) -> SessionEntry? {
    guard case .session(let entry)? = memory.find(fingerprint(number)), !entry.isEnded else { return nil }
    return entry
  }

  @Test("A session that ended is dead, and an answer of the store that was under way does not bring it back")
  func ended() throws {
    var memory = SessionMemory(limit: 10)
    let identifier = SessionIdentifier.random()
    memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(1))
    #expect(found(&memory, 1) != nil)
    memory.end([identifier.handle], now: 0)
    #expect(found(&memory, 1) == nil && memory.count == 0)
    memory.insert(.session(try entry(identifier, of: "anna")), for: fingerprint(1))
    #expect(found(&memory, 1) == nil && memory.count == 0)
  }

  @Test("The newer of two answers about one session is the one that counts")
  func newer() throws {
    var memory = SessionMemory(limit: 10)
    let identifier = SessionIdentifier.random()
    let old = try entry(identifier, of: "anna")
    let new = try entry(identifier, of: "anna")
    memory.insert(.session(old), for: fingerprint(1))
    memory.insert(.session(new), for: fingerprint(1))
    #expect(old.isEnded && found(&memory, 1) === new && memory.count == 1)
  }

  @Test("What has changed of an account is looked up again, other accounts' sessions stay")
  func account() throws {
    var memory = SessionMemory(limit: 10)
    memory.insert(.session(try entry(.random(), of: "anna")), for: fingerprint(1))
    memory.insert(.session(try entry(.random(), of: "ben")), for: fingerprint(2))
    memory.forget(try #require(Subject("anna")))
    #expect(found(&memory, 1) == nil && found(&memory, 2) != nil)
  }

  @Test("Memory is bounded: what is used stays, what is not goes")
  func bounded() throws {
    var memory = SessionMemory(limit: 20)
    for number in 0..<200 {
      memory.insert(.session(try entry(.random(), of: "user\(number)")), for: fingerprint(number))
      #expect(found(&memory, 0) != nil, "the first is used all the time")
      #expect(memory.count <= 21)
    }
    #expect(found(&memory, 1) == nil && found(&memory, 199) != nil)
  }
}
