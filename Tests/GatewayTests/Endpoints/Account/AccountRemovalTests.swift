import AppleIdentity
import DataPlane
import HTTPTypes
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

// The end of the sessions and the removal of the account are two steps: the store may fail at either of them.
@Suite("The removal of an account")
struct AccountRemovalTests {
  private static let request = ControlRequest(
    head: HTTPRequest(method: .post, scheme: "https", authority: "app.example.com", path: "/"),
    client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")

  @Test(
    "A removal that the store interrupts keeps account and token, so that it can be repeated, and is audited once",
    arguments: ["end", "forget"])
  func interrupted(step: String) async throws {
    let rig = try await GateRig()
    let recorded = try RecordedAudit(rig.keyring)
    let removal = AccountRemoval(
      sessions: rig.sessions, store: rig.store, apple: try rig.apple.provider(rig.clock), keyring: rig.keyring,
      denyGroups: [], metrics: rig.metrics, audit: recorded.trail)
    let subject = try rig.signIn("001.a").snapshot.account.subject
    rig.store.state.withLock { $0.failures[step] = StoreError(code: .interrupted, message: "gone") }
    let tokens = try await rig.store.tokens(of: subject)
    await #expect(throws: StoreError.self) {
      _ = try await removal.remove(subject, revoking: tokens, Self.request)
    }
    #expect(rig.store.state.withLock { $0.accounts[subject] != nil && $0.tokens[subject] != nil })
    #expect(rig.store.state.withLock { $0.sessions.count } == (step == "end" ? 1 : 0))
    rig.store.state.withLock { $0.failures = [:] }
    let report = try await removal.remove(subject, revoking: tokens, Self.request)
    #expect(report.forgotten && report.ended == (step == "end" ? 1 : 0))
    #expect(
      rig.store.state.withLock { $0.accounts.isEmpty && $0.tokens.isEmpty && $0.sessions.isEmpty })
    // Revoking a token that is revoked already is harmless.
    #expect(rig.apple.calls == 2)
    #expect(rig.metrics.sessionsEnded.total("account_removed") == 1)
    let events = try recorded.lines()
    #expect(events.count { $0.contains("\"event\":\"revocation\"") } == 2, "\(events)")
    #expect(events.count { $0.contains("\"event\":\"session_ended\"") } == 1, "\(events)")
    try await rig.stop()
  }
}
