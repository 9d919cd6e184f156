import AccessPolicy
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
    var native = NativeSettings()
    native.acceptsBearer = true
    return SignOutEndpoint(
      origin: rig.settings.publicAddress, pages: signIn.responses.pages,
      returnTargets: ReturnTargets(rig.settings.publicAddress),
      requestSessions: RequestSessions(
        keyring: rig.keyring, scope: .publicURL, native: native, sessions: rig.sessions),
      sessions: rig.sessions, reset: signIn.responses.reset, audit: AuditTrail(.silent, keyring: rig.keyring))
  }

  private func text(_ response: ControlResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test(
    "The page says that an account was deleted, also when it is opened again, but not when another site links to it",
    arguments: [
      (nil, true), ("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false),
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

  /// A `POST` from our own page.
  private func signOut(_ signIn: SignInRig, _ cookie: String, authorization: String) -> ControlRequest {
    var request = signIn.request([cookie])
    request.head.path = "/.auth/sign-out"
    request.head.headerFields[.secFetchSite] = "same-origin"
    request.head.headerFields[.authorization] = authorization
    return request
  }

  private func clearsCookie(_ response: ControlResponse) -> Bool {
    response.head.headerFields[values: .setCookie].contains { $0.hasPrefix("__Host-cordon=;") }
  }

  @Test("A bearer token ends its own session alone, and the cookie of another session is not cleared")
  func bearerToken() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let identifier = SessionIdentifier.random()
    let (ben, benCookie) = try rig.signIn("002.ben", identifier: identifier)
    let (anna, annaCookie) = try rig.signIn("001.anna")
    let bearer = "Bearer \(rig.keyring.signedCookie(for: identifier, on: .publicURL))"
    let response = await endpoint(signIn).signOut(self.signOut(signIn, annaCookie, authorization: bearer))
    #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [anna.session.handle])
    #expect(!clearsCookie(response) && response.head.headerFields[.clearSiteData] == nil)
    // With its own cookie, which then is worth nothing.
    let again = await endpoint(signIn).signOut(self.signOut(signIn, benCookie, authorization: bearer))
    #expect(clearsCookie(again) && again.head.headerFields[.clearSiteData] != nil)
    #expect(rig.store.state.withLock { $0.sessions[ben.session.handle] } == nil)
    try await rig.stop()
  }

  @Test("A form that a service worker passes on in Firefox clears nothing without the cookie of the session")
  func serviceWorker() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    func passedOn(_ cookies: [String]) throws -> ControlRequest {
      var request = signIn.request(cookies)
      request.head.path = "/.auth/sign-out"
      request.head.headerFields[.secFetchSite] = "same-origin"
      request.head.headerFields[.secFetchMode] = "same-origin"
      request.head.headerFields[try #require(HTTPField.Name("Sec-Fetch-Dest"))] = "empty"
      request.head.headerFields[try #require(HTTPField.Name("Upgrade-Insecure-Requests"))] = "1"
      return request
    }
    let (_, cookie) = try rig.signIn("001.anna")
    // Another site's: no cookie comes along, and the browser has it still.
    let foreign = await endpoint(signIn).signOut(try passedOn([]))
    #expect(!clearsCookie(foreign) && foreign.head.headerFields[.clearSiteData] == nil)
    #expect(rig.store.state.withLock { $0.sessions.count } == 1)
    let own = await endpoint(signIn).signOut(try passedOn([cookie]))
    #expect(clearsCookie(own) && rig.store.state.withLock { $0.sessions.isEmpty })
    // A cookie of ours comes along from our own pages only, though its secret may be gone.
    let damaged = await endpoint(signIn).signOut(try passedOn(["\(CookieNames.standard.session)=damaged"]))
    #expect(clearsCookie(damaged) && damaged.head.headerFields[.clearSiteData] != nil)
    // Where the browser says which site it is, the cookie of a session that is over is cleared as well.
    var stated = try passedOn([])
    stated.head.headerFields[.secFetchMode] = "navigate"
    let late = await endpoint(signIn).signOut(stated)
    #expect(clearsCookie(late))
    try await rig.stop()
  }

  @Test("A browser that sends a machine token by itself is asked, and then signed out of the session of its cookie")
  func machineToken() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let (_, cookie) = try rig.signIn("001.anna")
    let token = MachineTokenText.random(rig.store.key).text
    let request = signOut(
      signIn, cookie, authorization: "Basic \(Data("token:\(token)".utf8).base64EncodedString())")
    #expect(MachineTokenField.isCarried(by: request))
    var asking = request
    asking.head.method = .get
    #expect(text(await endpoint(signIn).page(asking)).contains("Sign out of"))
    let response = await endpoint(signIn).signOut(request)
    #expect(clearsCookie(response) && rig.store.state.withLock { $0.sessions.isEmpty })
    try await rig.stop()
  }
}
