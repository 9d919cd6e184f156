import DataPlane
import HTTPTypes
import Operations
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The account page while the store fails")
struct AccountEndpointTests {
  @Test("A question that cannot be asked, because the store does not answer, is counted and answered 503")
  func stopQuestion() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let audit = AuditTrail(.silent, keyring: rig.keyring)
    let endpoint = AccountEndpoint(
      origin: rig.settings.originSettings, pages: signIn.responses.pages,
      requestSessions: signIn.verification.requestSessions, sessions: rig.sessions,
      removal: AccountRemoval(
        sessions: rig.sessions, store: rig.store, apple: signIn.verification.creation.apple, keyring: rig.keyring,
        denyGroups: [], metrics: rig.metrics, audit: audit),
      storeHealth: rig.storeHealth, policy: signIn.verification.creation.policy, reset: signIn.responses.reset,
      audit: audit)
    let request = signIn.request([try rig.signIn("001.anna").cookie])
    #expect(await endpoint.stopPage(request).head.status == .ok)
    rig.store.state.withLock { $0.failures["tokens"] = StoreError(code: .interrupted, message: "gone") }
    #expect(await endpoint.stopPage(request).head.status == .serviceUnavailable)
    #expect(rig.metrics.storeFailures.total("account_removal") == 1)
    try await rig.stop()
  }
}
