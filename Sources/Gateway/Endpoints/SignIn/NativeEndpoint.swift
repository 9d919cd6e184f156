internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Secrets
internal import Sessions
internal import WebFormats

/// `native` and `native/exchange`: the sign-in of native apps.
///
/// `native` accepts Apple's token and code from the app's system sheet, without a browser. The order is that of the
/// callback: the app's token is verified, the name saved and the code consumed, the code exchanged, both tokens
/// compared; only then is a session created.
struct NativeEndpoint: Sendable {
  let origin: OriginSettings
  let native: NativeSettings
  let keyring: SessionKeyring
  let pages: EndpointPages
  let requestSessions: RequestSessions
  let codeExchange: CodeExchange
  let creation: SessionCreation
  let reset: BrowserReset

  /// `POST native`.
  func signIn(_ request: ControlRequest) async -> ControlResponse {
    let apple = codeExchange.apple
    guard !apple.settings.nativeClientIDs.isEmpty else { return pages.failureJSON(.notFound, request) }
    do throws(SignInError) {
      let body = try appJSON(request)
      let app: NativeSignInRequest
      do throws(NativeSignInError) {
        app = try NativeSignInRequest(json: body)
      } catch {
        throw SignInError(.badRequest, "native_request")
      }
      creation.metrics.signInAttempts.count("native")
      let name = PersonName(app.user)
      var clientID = apple.settings.clientID
      let outcome = try await apple.completeNativeSignIn(app) { (token) async throws(SignInError) in
        clientID = token.audience
        try await creation.refuseBanned(token)
        if let name { try await creation.saveName(name, of: token) }
        try await creation.consume(
          .nativeCode(app.code.exposedBytes), until: .now + Self.codeGuardLifetime, otherwise: "code_used")
      }
      let tokens = try codeExchange.tokens(of: outcome, clientID: clientID, request)
      let made = try await creation.create(of: tokens, name: name, replacing: replaced(by: request), request)
      return response(made, request)
    } catch {
      creation.noteFailure(error, request)
      return pages.failureJSON(error.page, request)
    }
  }

  /// The lifetime of a code's replay guard, in seconds: longer than Apple accepts it (five minutes).
  private static let codeGuardLifetime: TimeInterval = 600

  // MARK: Requests and responses of apps

  /// Whether a request is not from a page of another site: browsers send `Sec-Fetch-Site` and `Origin`, and do not send
  /// cross-site JSON without our permission (CORS); apps send neither field.
  func isFromApp(_ request: ControlRequest) -> Bool {
    let fields = request.head.headerFields
    return fields[.secFetchSite].map { $0 == "same-origin" } ?? true
      && fields[.origin].map { $0.utf8.elementsEqual(origin.origin.description.utf8) } ?? true
  }

  /// The body of an app's request.
  private func appJSON(_ request: ControlRequest) throws(SignInError) -> [UInt8] {
    guard isFromApp(request) else { throw SignInError(.crossSite, "cross_site") }
    guard MediaType.matches(request.head.headerFields[.contentType], "application/json") else {
      throw SignInError(.unsupportedMediaType, "content_type")
    }
    return request.body
  }

  /// The session that the app has had so far: that of the token or of the cookie in its request.
  private func replaced(by request: ControlRequest) -> [PublicSessionID] {
    requestSessions.identifiers(request).prefix(1).map(\.handle)
  }

  /// The response to an app whose session was just created: its JSON, the cookie, and by configuration the bearer
  /// token. The app may show pages of the application in a web view with the same cookies.
  private func response(_ made: IdentifiedSession, _ request: ControlRequest) -> ControlResponse {
    let token = native.acceptsBearer ? keyring.signedCookie(for: made.identifier, on: .publicURL) : nil
    var response = SessionDescription.response(
      made.snapshot, groups: creation.policy.groupNames(of: made.snapshot.account), token: token)
    response.setCookie(creation.sessionCookie(made.identifier))
    reset.noteSignIn(of: made.snapshot.account.subject, request, in: &response)
    return response
  }

  // MARK: The exchange of a one-time code

  /// `POST native/exchange`: exchanges the one-time code and its verifier for the session. Ends the session that the
  /// app has had so far, which the browser does not know.
  func exchange(_ request: ControlRequest) async -> ControlResponse {
    guard !native.returnSchemes.isEmpty else { return pages.failureJSON(.notFound, request) }
    do throws(SignInError) {
      let (code, verifier) = try Self.exchangeFields(try appJSON(request))
      let appReturn: AppReturn
      do throws(SealError) {
        appReturn = try keyring.openAppReturn(code, now: .now)
      } catch .expired {
        throw SignInError(.attemptExpired, "hand_back_expired")
      } catch {
        throw SignInError(.attemptUnknown, "hand_back_forged")
      }
      // A wrong verifier does not consume the code, so that an app that intercepted it cannot invalidate it.
      guard appReturn.isProved(by: verifier) else { throw SignInError(.attemptUnknown, "hand_back_verifier") }
      // Nothing can fail after the code is consumed, so that an app that got 503 may try again with the same code.
      let snapshot = try await creation.session(appReturn.identifier, otherwise: "hand_back_ended")
      try await creation.consume(
        .appReturn(code), until: .now + 2 * AppReturn.lifetime.timeInterval, otherwise: "hand_back_used")
      await creation.endReplaced(replaced(by: request).filter { $0 != snapshot.session.handle }, request)
      return response(IdentifiedSession(identifier: appReturn.identifier, snapshot: snapshot), request)
    } catch {
      creation.noteFailure(error, request)
      return pages.failureJSON(error.page, request)
    }
  }

  /// `code` and `code_verifier`, each a text.
  private static func exchangeFields(
    _ body: [UInt8]
  ) throws(SignInError) -> (code: [UInt8], verifier: [UInt8]) {
    guard let members = try? StrictJSON.object(body, maximumBytes: 4096, maximumDepth: 2),
      let code = members["code"]?.text, let verifier = members["code_verifier"]?.text
    else { throw SignInError(.badRequest, "exchange_request") }
    return (Array(code.utf8), Array(verifier.utf8))
  }
}
