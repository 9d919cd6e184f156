import FoundationEssentials
import Sessions
import Synchronization
import Testing

@testable import DataPlane
@testable import Gateway

// When a session ends, told without using it.
@Suite("GET session?peek=1")
struct SessionPeekTests {
  @Test("peek=1 is one of the parameters of the query, exactly")
  func query() {
    for (query, isAsked) in [
      ("?peek=1", true), ("?a=b&peek=1", true), ("?peek=1&a", true), ("", false), ("?", false), ("?peek", false),
      ("?peek=10", false), ("?xpeek=1", false), ("?peek=0", false), ("?&&peek=1&", true),
    ] {
      let bytes = Array(query.utf8)
      #expect(SessionPeek.isAsked(bytes.span.bytes, 0..<bytes.count) == isAsked, "\(query)")
    }
  }

  @Test("A peek goes to the endpoint, and neither it nor the look-up counts as a use")
  func unused() async throws {
    let rig = try await GateRig()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let request = Asked(target: "/.auth/session?peek=1", fields: ["Cookie: \(cookie)"])
    guard case .handle = try await rig.decide(request) else {
      Issue.record("answered by the gate")
      return
    }
    let value = Array(cookie.split(separator: "=")[1].utf8)
    let identifier = try #require(rig.keyring.verifyCookie(value, on: .publicURL)?.identifier)
    rig.clock.advance(30)
    #expect(try await rig.sessions.peek(identifier)?.session.lastSeen == snapshot.session.lastSeen)
    _ = try await rig.decide(Asked(fields: ["Cookie: \(cookie)"]), loop: 1)
    rig.clock.advance(30)
    let seen = try await rig.sessions.peek(identifier)?.session.lastSeen
    #expect(seen?.wallClock == rig.clock.milliseconds - 30_000, "another loop's use is known before it is written")
    await rig.lastSeen.write()
    #expect(rig.store.state.withLock { $0.lastSeenUpdates.count } == 1)
    try await rig.stop()
  }
}
