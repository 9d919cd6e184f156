import DataPlane
import FoundationEssentials
import HTTPTypes
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("Signing out")
struct SignOutEndpointTests {
  private func endpoint(_ signIn: SignInRig) -> SignOutEndpoint {
    let rig = signIn.rig
    return SignOutEndpoint(
      origin: rig.settings.originSettings, pages: signIn.responses.pages,
      returnTargets: ReturnTargets(rig.settings.originSettings),
      requestSessions: signIn.verification.requestSessions, sessions: rig.sessions, reset: signIn.responses.reset,
      audit: AuditTrail(.silent, keyring: rig.keyring))
  }

  private func text(_ response: ControlResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test(
    "The page says that an account was deleted only after our own redirect, not when a link says so",
    arguments: [
      (nil, true), ("same-origin", true), ("none", false), ("same-site", false), ("cross-site", false),
    ] as [(String?, Bool)])
  func deletion(site: String?, isShown: Bool) async throws {
    let signIn = try await SignInRig()
    var request = signIn.request()
    request.head.method = .get
    request.head.path = "/.auth/sign-out?deleted=here"
    request.head.headerFields[.secFetchSite] = site
    let page = text(await endpoint(signIn).page(request))
    #expect(page.contains("You have stopped using") == isShown)
    try await signIn.rig.stop()
  }
}
