import AccessPolicy
import DataPlane
import HTTPTypes
import Logging
import Operations
import Pages
import Secrets
import Sessions
import Synchronization
import Testing

@testable import Gateway

@Suite("The account page")
struct AccountEndpointTests {
  private let signIn: SignInRig
  private var rig: GateRig { signIn.rig }

  init() async throws { signIn = try await SignInRig() }

  /// - Parameter lines: receives the messages, with `reason` and `remedy`.
  private func endpoint(
    acceptsBearer: Bool = false, logging lines: RecordedLines = RecordedLines()
  ) -> AccountEndpoint {
    var native = NativeSettings()
    native.acceptsBearer = acceptsBearer
    let audit = AuditTrail(.silent, keyring: rig.keyring)
    return AccountEndpoint(
      origin: rig.settings.publicAddress, pages: signIn.responses.pages,
      requestSessions: RequestSessions(
        keyring: rig.keyring, scope: .publicURL, native: native, sessions: rig.sessions),
      sessions: rig.sessions,
      removal: AccountRemoval(
        sessions: rig.sessions, store: rig.store, apple: signIn.verification.codeExchange.apple, keyring: rig.keyring,
        denyGroups: [], metrics: rig.metrics, audit: audit),
      storeHealth: rig.storeHealth, policy: signIn.verification.creation.policy, reset: signIn.responses.reset,
      audit: audit, logger: Logger(label: "test") { _ in RecordingLogHandler(lines, ["reason", "remedy"]) })
  }

  /// A `POST` from our own page.
  private func post(_ body: String, cookie: String, bearer: SessionIdentifier? = nil) -> ControlRequest {
    var request = signIn.request([cookie])
    request.head.headerFields[.secFetchSite] = "same-origin"
    if let bearer {
      request.head.headerFields[.authorization] = "Bearer \(rig.keyring.signedCookie(for: bearer, on: .publicURL))"
    }
    request.body = Array(body.utf8)
    return request
  }

  /// The `POST` that ends a session.
  private func end(
    _ session: SessionSnapshot, cookie: String, bearer: SessionIdentifier? = nil
  ) -> ControlRequest {
    post("session=\(session.session.handle.text)", cookie: cookie, bearer: bearer)
  }

  /// Whether a response removes the session's cookie and the data of an account, or neither; nil for one of them.
  private func resets(_ response: ControlResponse) -> Bool? {
    let clearsCookie = response.head.headerFields[values: .setCookie].contains { $0.hasPrefix("__Host-cordon=;") }
    return clearsCookie == (response.head.headerFields[.clearSiteData] != nil) ? clearsCookie : nil
  }

  /// The sessions that the store has.
  private var sessions: [PublicSessionID] { rig.store.state.withLock { Array($0.sessions.keys) } }

  /// Removes all refresh tokens from the store, so that nothing has to be revoked at Apple.
  private func removeTokens() { rig.store.state.withLock { $0.tokens = [:] } }

  /// Has an operation of the store fail.
  private func interrupt(_ operation: String) {
    rig.store.state.withLock { $0.failures[operation] = StoreError(code: .interrupted, message: "gone") }
  }

  @Test("A question that cannot be asked, because the store does not answer, is counted and answered 503")
  func stopQuestion() async throws {
    let endpoint = endpoint()
    let request = signIn.request([try rig.signIn("001.anna").cookie])
    #expect(await endpoint.stopPage(request).head.status == .ok)
    interrupt("tokens")
    #expect(await endpoint.stopPage(request).head.status == .serviceUnavailable)
    #expect(rig.metrics.storeFailures.total("account_removal") == 1)
    try await rig.stop()
  }

  @Test("A removal whose sessions cannot be ended is one failed operation of the store")
  func notEnded() async throws {
    let request = post("stop=yes", cookie: try rig.signIn("001.anna").cookie)
    interrupt("end")
    #expect(await endpoint().stop(request).head.status == .serviceUnavailable)
    let failures = rig.metrics.storeFailures
    #expect(failures.total("end") == 1 && failures.total("account_removal") == 0)
    try await rig.stop()
  }

  @Test("A token that Apple does not revoke is logged with Apple's reason and a remedy, once a minute for each kind")
  func notRevoked() async throws {
    let lines = RecordedLines()
    let endpoint = endpoint(logging: lines)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    for (answer, reason) in [(FakeApple.Answer.trouble, "Apple answered 503"), (FakeApple.Answer.notSent, "refused")] {
      rig.apple.answer(answer)
      for _ in 0..<2 {
        #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .badGateway)
      }
      let logged = lines.take()
      #expect(logged.count == 1, "\(logged)")
      #expect(logged.first?.contains("refresh token not revoked") == true, "\(logged)")
      #expect(logged.first?.contains(reason) == true, "\(logged)")
      #expect(logged.first?.contains("`cordon accounts disconnect --force SUB`") == true, "\(logged)")
    }
    #expect(sessions == [snapshot.session.handle])
    rig.apple.answer(.good)
    #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .seeOther)
    #expect(sessions.isEmpty && lines.take().isEmpty)
    try await rig.stop()
  }

  @Test("While Apple does not revoke a user's token, it is asked five times a minute, and as often for another user")
  func revocationAttempts() async throws {
    let endpoint = endpoint()
    rig.apple.answer(.trouble)
    for (user, calls) in [("001.anna", 5), ("002.ben", 10)] {
      let cookie = try rig.signIn(user).cookie
      for _ in 0..<8 {
        #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .badGateway)
      }
      #expect(rig.apple.calls == calls)
    }
    try await rig.stop()
  }

  @Test("Attempts that fail at the store, when Apple was not asked, do not count", arguments: ["tokens", "end"])
  func uncountedAttempts(step: String) async throws {
    let endpoint = endpoint()
    let cookie = try rig.signIn("001.anna").cookie
    if step == "end" { removeTokens() }
    interrupt(step)
    for _ in 0...RevocationAttempts.most {
      #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .serviceUnavailable)
    }
    rig.store.state.withLock { $0.failures = [:] }
    #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .seeOther)
    #expect(sessions.isEmpty && rig.apple.calls == (step == "end" ? 0 : 1))
    try await rig.stop()
  }

  @Test("A user whose token cannot be decrypted can stop using the application after another sign-in")
  func undecryptableToken() async throws {
    let lines = RecordedLines()
    let endpoint = endpoint(logging: lines)
    let (snapshot, cookie) = try rig.signIn("001.anna")
    let subject = snapshot.account.subject
    let foreign = try SessionKeyring.forTests("b").seal(RefreshToken("r"), of: subject, clientID: "web")
    rig.store.state.withLock { $0.tokens[subject] = StoredToken(subject: subject, clientID: "web", token: foreign) }
    #expect(await endpoint.stop(post("stop=yes", cookie: cookie)).head.status == .badGateway)
    let logged = lines.take()
    #expect(logged.count == 1 && logged.first?.contains("no secret has key") == true, "\(logged)")
    #expect(sessions == [snapshot.session.handle] && rig.apple.calls == 0)
    let (_, newCookie) = try rig.signIn("001.anna")
    #expect(await endpoint.stop(post("stop=yes", cookie: newCookie)).head.status == .seeOther)
    #expect(sessions.isEmpty)
    try await rig.stop()
  }

  @Test("A session that a bearer token ends takes its own cookie along, and leaves that of another session")
  func endOne() async throws {
    let endpoint = endpoint(acceptsBearer: true)
    let (anna, annasCookie) = try rig.signIn("001.anna")
    for isOther in [true, false] {
      let identifier = SessionIdentifier.random()
      let (ben, bensCookie) = try rig.signIn("002.ben", identifier: identifier)
      let response = await endpoint.end(end(ben, cookie: isOther ? annasCookie : bensCookie, bearer: identifier))
      #expect(response.head.status == .seeOther && resets(response) == !isOther)
      #expect(sessions == [anna.session.handle])
    }
    let response = await endpoint.end(end(anna, cookie: annasCookie))
    #expect(response.head.status == .seeOther && resets(response) == true)
    #expect(sessions.isEmpty)
    try await rig.stop()
  }

  @Test("A user who ends another session of theirs stays signed in")
  func endOther() async throws {
    let (this, cookie) = try rig.signIn("001.anna")
    let (other, _) = try rig.signIn("001.anna")
    let response = await endpoint().end(end(other, cookie: cookie))
    #expect(response.head.status == .seeOther && resets(response) == false)
    #expect(sessions == [this.session.handle])
    try await rig.stop()
  }

  @Test("A user who stops using the application by a bearer token leaves the cookie of another user")
  func stopByBearerToken() async throws {
    let endpoint = endpoint(acceptsBearer: true)
    let (anna, annasCookie) = try rig.signIn("001.anna")
    for isOther in [true, false] {
      let identifier = SessionIdentifier.random()
      _ = try rig.signIn("002.ben", identifier: identifier)
      // Another session of the same user ends as well.
      let (_, bensCookie) = try rig.signIn("002.ben")
      removeTokens()
      let response = await endpoint.stop(
        post("stop=yes", cookie: isOther ? annasCookie : bensCookie, bearer: identifier))
      #expect(response.head.status == .seeOther && resets(response) == !isOther)
      #expect(sessions == [anna.session.handle])
    }
    try await rig.stop()
  }

  @Test("A second click on the button that deletes an account confirms the deletion again, without a session")
  func stopTwice() async throws {
    let endpoint = endpoint()
    let (_, cookie) = try rig.signIn("001.anna")
    removeTokens()
    // The second may arrive before the first has ended the session, or after.
    let clicks: [EndpointHandler] = [endpoint.stop, endpoint.stop, endpoint.stopAgain]
    for stop in clicks {
      let response = await stop(post("stop=yes", cookie: cookie))
      #expect(response.head.status == .seeOther && resets(response) == true)
      #expect(response.head.headerFields[.location] == "/.auth/sign-out?deleted=here")
      #expect(sessions.isEmpty)
    }
    // Any other session that is gone was not the one.
    for cookie in [rig.cookie(of: SessionIdentifier.random(), on: .publicURL), ""] {
      for stop in clicks {
        let response = await stop(post("stop=yes", cookie: cookie))
        #expect(response.head.status == .unauthorized && resets(response) == false)
      }
    }
    try await rig.stop()
  }

  @Test("Without a session that the gate accepts nothing is deleted, though the store has it")
  func refusedSession() async throws {
    let endpoint = endpoint()
    let (snapshot, cookie) = try rig.signIn("001.anna")
    removeTokens()
    var request = post("stop=yes", cookie: cookie)
    #expect(await endpoint.stopAgain(request).head.status == .unauthorized)
    request.head.headerFields[.secFetchSite] = "cross-site"
    #expect(await endpoint.stopAgain(request).head.status == .forbidden)
    #expect(sessions == [snapshot.session.handle])
    try await rig.stop()
  }
}
