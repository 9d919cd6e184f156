internal import AccessPolicy
internal import AppleIdentity
internal import DataPlane
internal import FoundationEssentials
internal import HTTPTypes
internal import Operations
internal import Pages
internal import Sessions
internal import WebFormats

/// `POST native`: the sign-in of a native app, which has Apple's token and code from its system and no browser.
///
/// The order is that of the callback: the app's token is verified, the name kept and the code used up, the code
/// exchanged, both tokens compared; only then there is a session.
extension SignInService {
  func nativeSignIn(_ request: ControlRequest) async -> ControlResponse {
    guard !settings.apple.nativeClientIDs.isEmpty else { return refusedJSON(.notFound, request) }
    do throws(SignInFailure) {
      let body = try appJSON(request)
      let app: NativeSignInRequest
      do throws(NativeSignInProblem) {
        app = try NativeSignInRequest(json: body)
      } catch {
        throw SignInFailure(.badRequest, "native_request")
      }
      metrics.signInAttempts.count("native")
      let name = app.user.flatMap { PersonName(given: $0.givenName, family: $0.familyName) }
      var clientID = settings.apple.clientID
      let outcome = try await apple.completeNativeSignIn(app) { (token) async throws(SignInFailure) in
        clientID = token.audience
        if let name { try await keep(name, of: token) }
        try await consume(
          .nativeCode(Array(app.code.exposed.utf8)), until: .now + Self.codeMemory, otherwise: "code_used")
      }
      let tokens = try tokens(of: outcome, clientID: clientID)
      let replaced = identifier(request).map { [$0.handle] } ?? []
      return began(try await establish(tokens, name: name, replacing: replaced, request))
    } catch {
      note(error.reason, request)
      return refusedJSON(error.page, request)
    }
  }

  /// How long a code is remembered, in seconds: longer than Apple takes it (five minutes).
  private static let codeMemory: TimeInterval = 600

  // MARK: What apps send and get

  /// The body of an app's request. Never from a page of another site: browsers tell (`Sec-Fetch-Site`, `Origin`), and
  /// without our leave none posts JSON across sites; apps send neither field.
  func appJSON(_ request: ControlRequest) throws(SignInFailure) -> [UInt8] {
    let fields = request.head.headerFields
    let site = HTTPField.Name("Sec-Fetch-Site").flatMap { fields[$0] }
    let origin = HTTPField.Name("Origin").flatMap { fields[$0] }
    guard site.map({ $0 == "same-origin" }) ?? true,
      origin.map({ $0.utf8.elementsEqual(settings.origin.description.utf8) }) ?? true
    else { throw SignInFailure(.crossSite, "cross_site") }
    guard MediaType.matches(fields[.contentType], "application/json") else {
      throw SignInFailure(.unsupportedMediaType, "content_type")
    }
    return request.body
  }

  /// The answer to an app whose session has just begun: its JSON, the cookie, and by configuration the bearer token.
  func began(_ made: NewSession) -> ControlResponse {
    let token = settings.native.acceptsBearer ? keyring.signedCookie(for: made.identifier) : nil
    var response = SessionDescription.response(made.snapshot, token: token)
    response.setCookie(sessionCookie(made.identifier))
    return response
  }

  /// A failure for a program, whatever it accepts.
  func refusedJSON(_ failure: PageFailure, _ request: ControlRequest) -> ControlResponse {
    ControlResponse(pages(request).failureJSON(failure, requestID: request.requestID))
  }
}
