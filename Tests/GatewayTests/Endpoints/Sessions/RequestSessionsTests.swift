import AccessPolicy
import DataPlane
import HTTPTypes
import Sessions
import Synchronization
import Testing
import WebFormats

@testable import Gateway

@Suite("The sessions of a request to an endpoint")
struct RequestSessionsTests {
  private func request(_ cookies: [String]) -> ControlRequest {
    let fields: HTTPFields = [.cookie: cookies.joined(separator: "; ")]
    return ControlRequest(
      head: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/", headerFields: fields),
      client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
  }

  @Test("A cookie that is repeated counts once and costs one look-up, and of many different ones 32 count")
  func repeated() async throws {
    let rig = try await GateRig()
    let found = RequestSessions(
      keyring: rig.keyring, scope: .publicURL, native: NativeSettings(), sessions: rig.sessions)
    let identifiers = (0..<40).map { _ in SessionIdentifier.random() }
    let cookies = identifiers.map { rig.cookie(of: $0, on: .publicURL) }
    let many = request(Array(repeating: cookies[0], count: 250) + [cookies[1]])
    #expect(found.identifiers(many).map(\.handle) == identifiers.prefix(2).map(\.handle))
    // Neither session exists: each is looked for once.
    #expect(try await found.peekSession(many) == nil)
    #expect(rig.store.state.withLock { $0.lookUps } <= 2)
    // Cookies that we have not signed take no place of one that we have.
    let forged = Array(repeating: "__Host-cordon=" + String(repeating: "A", count: 71), count: 50)
    #expect(found.identifiers(request(forged + cookies)).map(\.handle) == identifiers.prefix(32).map(\.handle))
    try await rig.stop()
  }

  @Test("A request with a machine token has no session beside it, but signing out ends that of its cookie")
  func machineToken() async throws {
    let rig = try await GateRig()
    let found = RequestSessions(
      keyring: rig.keyring, scope: .publicURL, native: NativeSettings(), sessions: rig.sessions)
    let identifier = SessionIdentifier.random()
    var request = request([rig.cookie(of: identifier, on: .publicURL)])
    #expect(found.identifiers(request).map(\.handle) == [identifier.handle])
    request.head.headerFields[.authorization] = "Bearer \(MachineTokenText.random(rig.store.key).text)"
    #expect(found.identifiers(request).isEmpty)
    #expect(found.endedBySigningOut(request).map(\.handle) == [identifier.handle])
    try await rig.stop()
  }
}
