import AccessPolicy
import DataPlane
import HTTPTypes
import Operations
import Pages
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The account page")
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

  /// A `POST` from our own page.
  private func post(
    _ signIn: SignInRig, _ body: String, cookie: String, bearer: SessionIdentifier? = nil
  ) -> ControlRequest {
    var request = signIn.request([cookie])
    request.head.headerFields[.secFetchSite] = "same-origin"
    if let bearer {
      request.head.headerFields[.authorization] =
        "Bearer \(signIn.rig.keyring.signedCookie(for: bearer, on: .publicURL))"
    }
    request.body = Array(body.utf8)
    return request
  }

  /// Whether a response removes the session's cookie and the data of an account, or neither; nil for one of them.
  private func resets(_ response: ControlResponse) -> Bool? {
    let clearsCookie = response.head.headerFields[values: .setCookie].contains { $0.hasPrefix("__Host-cordon=;") }
    return clearsCookie == (response.head.headerFields[.clearSiteData] != nil) ? clearsCookie : nil
  }

  @Test("A session that a bearer token ends takes its own cookie along, and leaves that of another session")
  func endOne() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = endpoint(signIn, acceptsBearer: true)
    let (anna, annasCookie) = try rig.signIn("001.anna")
    for isOther in [true, false] {
      let identifier = SessionIdentifier.random()
      let (ben, bensCookie) = try rig.signIn("002.ben", identifier: identifier)
      let response = await endpoint.end(
        post(
          signIn, "session=\(ben.session.handle.text)", cookie: isOther ? annasCookie : bensCookie, bearer: identifier))
      #expect(response.head.status == .seeOther && resets(response) == !isOther)
      #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [anna.session.handle])
    }
    let response = await endpoint.end(
      post(signIn, "session=\(anna.session.handle.text)", cookie: annasCookie))
    #expect(response.head.status == .seeOther && resets(response) == true)
    #expect(rig.store.state.withLock { $0.sessions.isEmpty })
    try await rig.stop()
  }

  @Test("A user who ends another session of theirs stays signed in")
  func endOther() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let (this, cookie) = try rig.signIn("001.anna")
    let (other, _) = try rig.signIn("001.anna")
    let response = await endpoint(signIn).end(
      post(signIn, "session=\(other.session.handle.text)", cookie: cookie))
    #expect(response.head.status == .seeOther && resets(response) == false)
    #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [this.session.handle])
    try await rig.stop()
  }

  @Test("A user who stops using the application by a bearer token leaves the cookie of another user")
  func stopByBearerToken() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = endpoint(signIn, acceptsBearer: true)
    let (anna, annasCookie) = try rig.signIn("001.anna")
    for isOther in [true, false] {
      let identifier = SessionIdentifier.random()
      _ = try rig.signIn("002.ben", identifier: identifier)
      // Another session of the same user ends as well.
      let (_, bensCookie) = try rig.signIn("002.ben")
      rig.store.state.withLock { $0.tokens = [:] }
      let response = await endpoint.stop(
        post(signIn, "stop=yes", cookie: isOther ? annasCookie : bensCookie, bearer: identifier))
      #expect(response.head.status == .seeOther && resets(response) == !isOther)
      #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [anna.session.handle])
    }
    try await rig.stop()
  }

  @Test("A second click on the button that deletes an account confirms the deletion again, without a session")
  func stopTwice() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = endpoint(signIn)
    let (_, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { $0.tokens = [:] }
    // The second may arrive before the first has ended the session, or after.
    let clicks: [EndpointHandler] = [endpoint.stop, endpoint.stop, endpoint.stopAgain]
    for stop in clicks {
      let response = await stop(post(signIn, "stop=yes", cookie: cookie))
      #expect(response.head.status == .seeOther && resets(response) == true)
      #expect(response.head.headerFields[.location] == "/.auth/sign-out?deleted=here")
      #expect(rig.store.state.withLock { $0.sessions.isEmpty })
    }
    // Any other session that is gone was not the one.
    for cookie in [rig.cookie(of: SessionIdentifier.random(), on: .publicURL), ""] {
      for stop in clicks {
        let response = await stop(post(signIn, "stop=yes", cookie: cookie))
        #expect(response.head.status == .unauthorized && resets(response) == false)
      }
    }
    try await rig.stop()
  }

  @Test("Without a session that the gate accepts nothing is deleted, though the store has it")
  func refusedSession() async throws {
    let signIn = try await SignInRig()
    let rig = signIn.rig
    let endpoint = endpoint(signIn)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    rig.store.state.withLock { $0.tokens = [:] }
    var request = post(signIn, "stop=yes", cookie: cookie)
    #expect(await endpoint.stopAgain(request).head.status == .unauthorized)
    request.head.headerFields[.secFetchSite] = "cross-site"
    #expect(await endpoint.stopAgain(request).head.status == .forbidden)
    #expect(rig.store.state.withLock { Array($0.sessions.keys) } == [snapshot.session.handle])
    try await rig.stop()
  }

  @Test("The deletion of an account is confirmed again for a minute")
  func recentRemovals() {
    let removals = RecentRemovals()
    let (session, other) = (SessionIdentifier.random().handle, SessionIdentifier.random().handle)
    let now = ContinuousClock.now
    removals.insert(session, .withConnection, at: now)
    #expect(removals.deletion(in: session, at: now + .seconds(59)) == .withConnection)
    #expect(removals.deletion(in: session, at: now + .seconds(60)) == nil)
    #expect(removals.deletion(in: other, at: now) == nil)
  }

  private func endpoint(_ signIn: SignInRig, acceptsBearer: Bool = false) -> AccountEndpoint {
    let rig = signIn.rig
    var native = NativeSettings()
    native.acceptsBearer = acceptsBearer
    let audit = AuditTrail(.silent, keyring: rig.keyring)
    return AccountEndpoint(
      origin: rig.settings.originSettings, pages: signIn.responses.pages,
      requestSessions: RequestSessions(
        keyring: rig.keyring, scope: .publicURL, native: native, sessions: rig.sessions),
      sessions: rig.sessions,
      removal: AccountRemoval(
        sessions: rig.sessions, store: rig.store, apple: signIn.verification.codeExchange.apple, keyring: rig.keyring,
        denyGroups: [], metrics: rig.metrics, audit: audit),
      storeHealth: rig.storeHealth, policy: signIn.verification.creation.policy, reset: signIn.responses.reset,
      audit: audit)
  }
}
