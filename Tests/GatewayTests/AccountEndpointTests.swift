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
    let endpoint = endpoint(signIn)
    let request = signIn.request([try rig.signIn("001.anna").cookie])
    #expect(await endpoint.stopPage(request).head.status == .ok)
    rig.store.state.withLock { $0.failures["tokens"] = StoreError(code: .interrupted, message: "gone") }
    #expect(await endpoint.stopPage(request).head.status == .serviceUnavailable)
    #expect(rig.metrics.storeFailures.total("account_removal") == 1)
    try await rig.stop()
  }

  @Test("A removal whose sessions cannot be ended is one failed operation of the store")
  func notEnded() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = endpoint(signIn)
    var request = signIn.request([try rig.signIn("001.anna").cookie])
    request.head.headerFields[.secFetchSite] = "same-origin"
    request.body = Array("stop=yes".utf8)
    rig.store.state.withLock { $0.failures["end"] = StoreError(code: .interrupted, message: "gone") }
    #expect(await endpoint.stop(request).head.status == .serviceUnavailable)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("end") == 1 && failures.total("account_removal") == 0)
    try await rig.stop()
  }

  private func endpoint(_ signIn: SignInRig) -> AccountEndpoint {
    let rig = signIn.rig
    let audit = AuditTrail(.silent, keyring: rig.keyring)
    return AccountEndpoint(
      origin: rig.settings.originSettings, pages: signIn.responses.pages,
      requestSessions: signIn.verification.requestSessions, sessions: rig.sessions,
      removal: AccountRemoval(
        sessions: rig.sessions, store: rig.store, apple: signIn.verification.creation.apple, keyring: rig.keyring,
        denyGroups: [], metrics: rig.metrics, audit: audit),
      storeHealth: rig.storeHealth, policy: signIn.verification.creation.policy, reset: signIn.responses.reset,
      audit: audit)
  }
}
