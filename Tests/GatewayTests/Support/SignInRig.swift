import AccessPolicy
import AppleIdentity
import DataPlane
import HTTPTypes
import Logging
import Sessions
import WebFormats

@testable import Gateway

/// The parts of the gateway that complete a sign-in in the browser, without a server.
struct SignInRig {
  let rig: GateRig
  let verification: SignInVerification
  let responses: SignInResponses

  /// - Parameters:
  ///   - logger: gets the messages of the code's exchange and of the creation of sessions.
  ///   - audit: gets the events of the creation of sessions, and of failed sign-ins; nil for none.
  ///   - failures: limits the lines about failed sign-ins.
  init(
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, audit: AuditTrail? = nil,
    failures: SignInFailureLog = SignInFailureLog()
  ) async throws {
    rig = try await GateRig()
    let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let gate = try GateConfiguration(rig.settings, keyring: rig.keyring)
    let requestSessions = RequestSessions(
      keyring: rig.keyring, scope: .publicURL, native: rig.settings.native, sessions: rig.sessions)
    let creation = SessionCreation(
      store: rig.store, storeHealth: rig.storeHealth, sessions: rig.sessions, policy: gate.sessions.policy,
      prefix: rig.settings.publicAddress.prefix, keyring: rig.keyring, settings: rig.settings.session,
      metrics: rig.metrics,
      audit: audit ?? AuditTrail(.silent, keyring: rig.keyring), failures: failures, logger: logger)
    verification = SignInVerification(
      redirectURI: "https://app.example.com/.auth/callback", requestSessions: requestSessions,
      codeExchange: CodeExchange(
        apple: try rig.apple.provider(rig.clock), monitor: rig.revalidator.apple, failures: failures, logger: logger),
      creation: creation)
    responses = SignInResponses(
      keyring: rig.keyring, pages: EndpointPages(gate.sites.publicSite.pages),
      appReturns: AppReturns(native: rig.settings.native, keyring: rig.keyring, logger: silent),
      handOver: HandOver(
        hosts: [], prefix: rig.settings.publicAddress.prefix, keyring: rig.keyring, requestSessions: requestSessions,
        policy: gate.sessions.policy, schedule: gate.sessions.schedule, logger: silent),
      creation: creation, reset: BrowserReset([], clearedData: [.cache], isSecure: true, rig.keyring))
  }

  /// A request to `callback` with these cookies.
  func request(_ cookies: [String] = []) -> ControlRequest {
    let fields: HTTPFields = [.cookie: (["theme=dark"] + cookies).joined(separator: "; "), .accept: "text/html"]
    return ControlRequest(
      head: HTTPRequest(
        method: .post, scheme: "https", authority: "app.example.com", path: "/.auth/callback", headerFields: fields),
      client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
  }

  /// A sign-in that begins now.
  func begin(_ destination: SignInState.Destination = .page("/pears"), replacing: PublicSessionID? = nil)
    -> SignInState
  {
    SignInState(to: destination, replacing: replacing, now: WallClock.now())
  }

  /// The destination of a native app's sign-in.
  static func app() throws -> SignInState.Destination {
    guard let target = AppReturnTarget(parsing: Array("com.example.app:/in".utf8), schemes: ["com.example.app"]) else {
      throw RigError.noSubject
    }
    return .app(target, challenge: Array(repeating: 9, count: 32))
  }

  /// Apple's success response to a sign-in.
  /// - Parameters:
  ///   - user: the user of the browser's identity token; nil for no token.
  ///   - nonce: the nonce in it, if it is not that of the sign-in.
  ///   - givenName: sent with the first authorization.
  func grant(
    of signIn: SignInState, user: String?, nonce: String? = nil, givenName: String? = nil
  ) throws -> AuthorizationResponse.Success {
    var form = "code=c&state=\(signIn.state)"
    if let user {
      form += "&id_token=\(rig.apple.identityToken(of: user, issued: rig.clock.now, nonce: nonce ?? signIn.nonce))"
    }
    if let givenName { form += "&user=%7B%22name%22%3A%7B%22firstName%22%3A%22\(givenName)%22%7D%7D" }
    guard case .success(let grant) = try AuthorizationResponse.parse(FormFields(parsing: Array(form.utf8))) else {
      throw RigError.notAnswered
    }
    return grant
  }
}
