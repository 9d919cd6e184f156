import AccessPolicy
import DataPlane
import HTTPTypes
import Sessions
import Testing

@testable import Gateway

// The cookies of one browser's sign-ins, without a server: which of them a response is for, which give way to a new
// one, and which are told of the session that another one has begun.
@Suite("The pending sign-ins of a browser")
struct PendingSignInsTests {
  private let now: Int64 = 1_700_000_000_000
  private let keyring: SessionKeyring

  init() throws { keyring = try .forTests() }

  private func begin(_ path: String = "/", age: Int64 = 0, isCrossSite: Bool = false) -> SignInState {
    SignInState(to: .page(path), replacing: nil, isCrossSite: isCrossSite, now: now - age)
  }

  private func beginInApp() throws -> SignInState {
    let target = try #require(AppReturnTarget(parsing: Array("com.example.app:/in".utf8), schemes: ["com.example.app"]))
    return SignInState(to: .app(target, challenge: Array(repeating: 9, count: 32)), replacing: nil, now: now)
  }

  /// The pending sign-ins of a browser that sends these cookies.
  private func pending(_ cookies: [String], at now: Int64) -> PendingSignIns {
    let fields: HTTPFields = [.cookie: (["theme=dark"] + cookies).joined(separator: "; ")]
    let request = ControlRequest(
      head: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/", headerFields: fields),
      client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
    return PendingSignIns(of: request, keyring, now: now)
  }

  private func pending(_ signIns: [SignInState]) throws -> PendingSignIns {
    pending(try signIns.map(cookie), at: now)
  }

  private func cookie(_ signIn: SignInState) throws -> String { Self.pair(of: try signIn.setCookie(keyring)) }

  private static func pair(of setCookie: String) -> String { String(setCookie.prefix { $0 != ";" }) }

  /// The cookie of one sign-in under the name of another one.
  private func cookie(_ signIn: SignInState, under other: SignInState) throws -> String {
    try cookie(signIn).replacing(signIn.identifier, with: other.identifier, maxReplacements: 1)
  }

  /// The sign-ins that these `Set-Cookie` values set.
  private func set(by cookies: [String]) -> [SignInState] { pending(cookies.map(Self.pair), at: now).all() }

  private func clearing(_ signIns: [SignInState]) -> [String] {
    signIns.map { SignInState.clearCookie($0.identifier, .standard) }
  }

  // MARK: Finding

  @Test("A response is matched by the cookie that its state names, and by the secret in that cookie")
  func match() throws {
    let (mine, other, elsewhere) = (begin(), begin(), begin())
    let pending = try pending([other, mine])
    #expect(pending.match(mine.state) == .verified(mine))
    #expect(pending.match(other.state) == .verified(other))
    #expect(pending.match(elsewhere.state) == .missing)
    #expect(pending.match(mine.identifier + elsewhere.secret) == .refused(reason: "state_mismatch"))
    #expect(pending.match(mine.identifier + other.secret) == .refused(reason: "state_mismatch"))
    for state in [nil, "", "x", mine.state + "0"] {
      #expect(pending.match(state) == .refused(reason: "state_missing"))
    }
  }

  @Test("A cookie that was changed, or renamed to another sign-in, matches no response")
  func forged() throws {
    let (mine, other) = (begin(), begin())
    for sent in [try cookie(other, under: mine), "\(CookieNames.standard.attempts)\(mine.identifier)=AAAA"] {
      #expect(pending([sent], at: now).match(mine.state) == .refused(reason: "attempt_forged"))
    }
  }

  @Test("A late response is matched as an expired one, which shows where it was going to nobody without its secret")
  func expired() throws {
    let mine = begin("/mine")
    let cookies = [try cookie(mine)]
    #expect(pending(cookies, at: now + SignInState.lifetime - 1).match(mine.state) == .verified(mine))
    let late = pending(cookies, at: now + SignInState.lifetime)
    #expect(late.match(mine.state) == .expired(mine))
    #expect(late.match(mine.identifier + begin().secret) == .expired(nil))
    #expect(pending(cookies, at: now + 3_600_000).match(mine.state) == .expired(nil))
  }

  @Test("The newest sign-in is one that was begun here rather than by another site, and never that of an app")
  func newest() throws {
    let (old, new) = (begin(age: 900_000), begin(age: 60_000))
    let (foreign, ofApp) = (begin(isCrossSite: true), try beginInApp())
    let cookies = try [ofApp, old, foreign, new].map(cookie) + [try cookie(old, under: begin())]
    let found = pending(cookies, at: now).all()
    // Also the expired one, but not the forged one.
    #expect(found == [ofApp, old, foreign, new])
    #expect(PendingSignIns.newest(of: found) == new)
    #expect(PendingSignIns.newest(of: [ofApp, foreign]) == foreign)
    #expect(PendingSignIns.newest(of: [ofApp]) == nil)
  }

  // MARK: Limits

  @Test("A sign-in that begins displaces the oldest of five, and of those that other sites began the oldest of two")
  func displacement() throws {
    let own = (1...6).map { begin(age: Int64($0) * 1_000) }
    let foreign = (1...3).map { begin(age: Int64($0) * 1_000, isCrossSite: true) }
    let pending = try pending(foreign.reversed() + own.reversed())
    #expect(pending.makingRoom(for: begin()) == clearing([own[4], own[5]]))
    #expect(pending.makingRoom(for: begin(isCrossSite: true)) == clearing([foreign[1], foreign[2]]))
    #expect(try self.pending(Array(own.prefix(4))).makingRoom(for: begin()).isEmpty)
  }

  @Test("A sign-in that begins removes the cookies of those that have expired or were forged")
  func invalid() throws {
    let (expired, forged, good) = (begin(age: SignInState.lifetime), begin(), begin())
    let cookies = [try cookie(expired), try cookie(good, under: forged), try cookie(good)]
    #expect(pending(cookies, at: now).makingRoom(for: begin()) == clearing([expired, forged]))
  }

  @Test("The oldest of several sign-ins with long paths lose them, and keep everything else")
  func longPaths() throws {
    let path = "/" + String(repeating: "a", count: 999)
    let others = (1...4).map { begin(path, age: Int64($0) * 1_000) }
    let updates = try pending(others.reversed()).makingRoom(for: begin(path))
    // Three of 1,000 bytes fit into 3 KiB, with the one that begins.
    #expect(set(by: updates) == [others[2].toFrontPage, others[3].toFrontPage])
    #expect(updates.first?.hasSuffix("; Max-Age=3597") == true)
    // Nothing is left to be taken from them.
    let short = [others[0], others[1], others[2].toFrontPage, others[3].toFrontPage]
    #expect(try pending(short).makingRoom(for: begin(path)).isEmpty)
  }

  @Test("A session that begins is replaced by the browser's other sign-ins in turn, but by no app's and no expired one")
  func replacing() throws {
    let (done, old, new) = (begin(), begin("/old", age: 60_000), begin("/new"))
    let cookies = try [old, done, beginInApp(), begin(age: SignInState.lifetime), new].map(cookie)
    let session = SessionIdentifier.random().handle
    let updates = pending(cookies, at: now).replacing(session, except: done)
    #expect(
      set(by: updates) == [new.replacing(session, keepsPath: true), old.replacing(session, keepsPath: true)])
    #expect(updates.last?.hasSuffix("; Max-Age=3540") == true)
  }

  @Test("Of more sign-ins than a browser may have, as of many tabs at once, five are set again and others removed")
  func crowded() throws {
    let others = (1...12).map { begin("/\($0)", age: Int64($0) * 1_000) }
    let session = SessionIdentifier.random().handle
    let updates = try pending(others.reversed()).replacing(session, except: begin())
    #expect(set(by: updates) == others[..<5].map { $0.replacing(session, keepsPath: true) })
    #expect(Array(updates.dropFirst(5)) == clearing(Array(others[5...])))
    // No more than fit into a small proxy's buffer.
    for (length, removed) in [(1, 12), (200, 1)] {
      let path = "/" + String(repeating: "a", count: length - 1)
      let many = (1...31).map { begin(path, age: Int64($0) * 1_000) }
      let bounded = try pending(many).replacing(session, except: begin())
      #expect(set(by: bounded).count == 5 && bounded.count >= 5 + removed, "\(length)")
      let lines = bounded.map { "Set-Cookie: \($0)\r\n" }
      #expect(lines.reduce(0) { $0 + $1.utf8.count } <= 3_000, "\(length)")
    }
    // Those that another site began at once displace none of the user's own.
    let own = (1...4).map { begin("/\($0)", age: Int64($0) * 1_000) }
    let foreign = (1...6).map { begin("/x\($0)", age: Int64($0), isCrossSite: true) }
    let mixed = try pending(foreign + own).replacing(session, except: begin())
    #expect(set(by: mixed) == (own + foreign[..<1]).map { $0.replacing(session, keepsPath: true) })
    #expect(Array(mixed.dropFirst(5)) == clearing(Array(foreign[1...])))
    // As many as it may have are all set again.
    #expect(set(by: try pending(Array(others[..<7])).replacing(session, except: begin())).count == 7)
  }

  @Test("The newest of the sign-ins that are set again keep their paths, up to 1 KiB together")
  func pathsSetAgain() throws {
    let path = "/" + String(repeating: "a", count: 499)
    let others = (1...3).map { begin(path, age: Int64($0) * 1_000) }
    let session = SessionIdentifier.random().handle
    let updates = try pending(others).replacing(session, except: begin())
    #expect(set(by: updates).map(\.returnTo) == [path, path, "/"])
  }
}
